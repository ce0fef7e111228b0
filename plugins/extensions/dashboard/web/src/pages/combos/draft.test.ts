import { expect, test } from "vitest";

import { type Ability, moved, warningsOf } from "./draft";

const known = new Map<string, Ability>([
  ["a/large", { kind: "llm", context: 200_000, vision: true }],
  ["a/small", { kind: "llm", context: 8_000, vision: false }],
  ["a/vectors", { kind: "embedding", context: null, vision: null }],
]);
const members = (...models: string[]) => models.map((model) => ({ model, weight: 1 }));

test("members move up, down and no further than the ends", () => {
  expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
  expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
  expect(moved(["a", "b", "c"], 0, -1)).toEqual(["a", "b", "c"]);
  expect(moved(["a", "b", "c"], 2, 9)).toEqual(["a", "b", "c"]);
});

test("members that can do less are warned of", () => {
  const told = warningsOf(members("a/large", "a/small"), known).join(" ");

  expect(told).toContain("Long conversations fail at a/small");
  expect(told).toContain("Pictures are not understood by a/small");
});

test("members of two kinds, unknown and single ones are warned of", () => {
  expect(warningsOf(members("a/large", "a/vectors"), known).join()).toContain("different kinds");
  expect(warningsOf(members("a/gone", "a/large"), known).join()).toContain("No provider has a/gone");
  expect(warningsOf(members("a/large"), known)).toHaveLength(1);
});

test("members that are alike are not warned of", () => {
  expect(warningsOf(members("a/large", "a/large"), known)).toEqual([]);
});
