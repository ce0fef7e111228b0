import { expect, test } from "vitest";

import type { Shape } from "~/api/client";
import { limitsOf, nearest, shareOf } from "./state";

const NONE = { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, cost: 0, unpricedRequests: 0, unpricedTokens: 0 };
const MONTH = { field: "monthlyBudget", label: "Budget", money: true, always: false, used: 1, limit: 4, resetAt: "2030-01-01T00:00:00Z" };
const SPENDING: Shape<"KeySpending"> = {
  rpm: { used: 3, limit: 6 },
  tpm: { used: 9, limit: null },
  limits: [MONTH, { ...MONTH, field: "maxCostUsd", limit: null }],
  today: NONE,
  month: NONE,
};

test("limits by the minute count among the others, and those that are not set do not", () => {
  expect(limitsOf(SPENDING).map(({ field }) => field)).toEqual(["rpmLimit", "monthlyBudget"]);
  expect(limitsOf(undefined)).toEqual([]);
});

test("the limit of which most is used is the nearest", () => {
  expect(nearest(limitsOf(SPENDING))?.field).toBe("rpmLimit");
  expect(nearest([])).toBeNull();
  expect(shareOf({ ...MONTH, limit: 0 })).toBe(1);
});
