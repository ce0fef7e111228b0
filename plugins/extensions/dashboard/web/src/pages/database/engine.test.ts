import { expect, test } from "vitest";

import { stepOf } from "./engine";

test("nothing under way has no step", () => expect(stepOf(null)).toBeNull());

test("a copy says which table it is at, and goes on with each", () => {
  const at = (tablesDone: number) => stepOf({ step: "copy", table: "usage", rows: 5, tablesDone, tables: 10 })!;

  expect(at(4).label).toBe("Copying usage, 4 of 10 tables");
  expect(at(5).value).toBeGreaterThan(at(4).value);
});

test("the steps follow one another", () => {
  const values = ["probe", "migrations", "snapshot", "copy", "switch"].map((step) => stepOf({ step })!.value);

  expect(values).toEqual([...values].sort((one, other) => one - other));
});

test("a step of a newer gateway is shown by its name", () => expect(stepOf({ step: "verify" })?.label).toBe("verify"));
