import { expect, test } from "vitest";

import { errorShare, groupRows, groupSeries, type Point, periodBefore, type Series } from "./rows";

const NOTHING = { p50: null, p95: null, p99: null };

function point(requests: number, errors = 0): Point {
  return {
    requests,
    errors,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cost: 0,
    unpricedRequests: 0,
    unpricedTokens: 0,
    latencyMs: NOTHING,
    ttftMs: NOTHING,
  };
}

const SERIES: Series = {
  interval: "hour",
  timestamps: ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"],
  until: "2026-03-01T12:00:00Z",
  total: point(6, 3),
  points: [point(2), point(4, 3)],
  groups: [{ group: { model: "a" }, name: "a", total: point(5), points: [point(1), point(4)] }],
  other: { group: {}, name: "Others", total: point(1), points: [point(1), point(0)] },
};

test("each row has a member for each group and one for the rest", () => {
  const rows = groupRows(SERIES, (each) => each.requests);

  expect(rows.map(({ g0, other }) => [g0, other])).toEqual([
    [1, 1],
    [4, 0],
  ]);
  expect(groupSeries(SERIES, "Rest").map(({ name, label }) => [name, label])).toEqual([
    ["g0", "a"],
    ["other", "Rest"],
  ]);
});

test("the period before is as long and ends where the other begins", () => {
  expect(periodBefore(SERIES)).toEqual({
    startDate: "2026-03-01T08:00:00.000Z",
    endDate: "2026-03-01T09:59:59.999Z",
    interval: "hour",
  });
});

test("without calls there is no share of errors", () => {
  expect(errorShare(point(0))).toBeNull();
  expect(errorShare(point(4, 1))).toBe(0.25);
});
