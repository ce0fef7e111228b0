import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";

import { watchEvents } from "./events";

class Source extends EventTarget {
  static readonly CLOSED = 2;
  static made: Source[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  close = vi.fn();

  constructor(readonly url: string) {
    super();
    Source.made.push(this);
  }

  fail(readyState: number): void {
    this.readyState = readyState;
    this.onerror?.();
  }
}

beforeAll(() => {
  vi.stubGlobal("EventSource", Source);
  vi.useFakeTimers();
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

afterEach(() => {
  Source.made = [];
});

function watch() {
  const seen: string[] = [];
  const leave = watchEvents("/stream", {
    open: () => seen.push("open"),
    lost: () => seen.push("lost"),
    events: { message: (data) => seen.push(data), missed: () => seen.push("missed") },
  });
  return { seen, leave };
}

test("events come under their names", () => {
  const { seen } = watch();
  Source.made[0]!.onopen?.();
  Source.made[0]!.dispatchEvent(new MessageEvent("message", { data: "1" }));
  Source.made[0]!.dispatchEvent(new MessageEvent("missed"));
  expect(seen).toEqual(["open", "1", "missed"]);
});

test("a stream that was refused is opened again", () => {
  const { seen } = watch();
  Source.made[0]!.fail(Source.CLOSED);
  expect(Source.made).toHaveLength(1);
  vi.runAllTimers();
  expect(Source.made.map(({ url }) => url)).toEqual(["/stream", "/stream"]);
  expect(seen).toEqual(["lost"]);
});

test("one that the browser opens again is left alone, and so is one that nobody watches", () => {
  const { leave } = watch();
  Source.made[0]!.fail(0);
  vi.runAllTimers();
  expect(Source.made).toHaveLength(1);
  Source.made[0]!.fail(Source.CLOSED);
  leave();
  vi.runAllTimers();
  expect(Source.made).toHaveLength(1);
  expect(Source.made[0]!.close).toHaveBeenCalled();
});
