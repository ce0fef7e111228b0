import { expect, test } from "vitest";

import { readState, writeState } from "./state";

const DEFAULTS = { period: "24h", model: "" };

test("what the address lacks has its default", () => {
  expect(readState(new URLSearchParams("model=a/b"), DEFAULTS)).toEqual({
    period: "24h",
    model: "a/b",
  });
});

test("a default is left out of the address, and other parameters stay", () => {
  const before = new URLSearchParams("period=7d&request=r1");

  const after = writeState(before, DEFAULTS, { period: "24h", model: "x" });

  expect(after.toString()).toBe("request=r1&model=x");
});

test("null removes a parameter", () => {
  const before = new URLSearchParams("model=x");

  expect(writeState(before, DEFAULTS, { model: null }).toString()).toBe("");
});
