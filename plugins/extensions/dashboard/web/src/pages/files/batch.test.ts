import { expect, test } from "vitest";

import { canCancel, isOpen, progressOf } from "./batch";

test("a batch whose rows are not counted yet is at its start", () =>
  expect(progressOf({ total: null, completed: 0, failed: 0 })).toEqual({ completed: 0, failed: 0, done: 0 }));

test("answered and failed rows share the bar", () =>
  expect(progressOf({ total: 8, completed: 4, failed: 2 })).toEqual({ completed: 50, failed: 25, done: 6 }));

test("results are written although nothing can be cancelled any more", () => {
  expect(isOpen({ status: "finalizing" })).toBe(true);
  expect(canCancel({ status: "finalizing" })).toBe(false);
});
