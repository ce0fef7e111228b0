import { expect, test } from "vitest";

import { labelledOf, levelsFor } from "./scale";

test.each([
  [[7, 30], [0, 10, 20, 30]],
  [[1], [0, 1]],
  [[4], [0, 2, 4]],
  [[0, 0], [0, 1]],
  [[], [0, 1]],
  [[1000], [0, 500, 1000]],
])("levels over %j are %j", (values, levels) => {
  expect(levelsFor(values)).toEqual(levels);
});

test("levels of small sums are small", () => {
  const levels = levelsFor([0.000_54]);
  expect(levels).toHaveLength(4);
  expect(levels.at(-1)).toBeCloseTo(0.0006);
});

test("labels are evenly spaced and end with the newest point", () => {
  expect(labelledOf(24)).toEqual([3, 7, 11, 15, 19, 23]);
  expect(labelledOf(3)).toEqual([0, 1, 2]);
  expect(labelledOf(0)).toEqual([]);
});
