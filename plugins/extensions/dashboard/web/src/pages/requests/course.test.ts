import { expect, test } from "vitest";

import { type Call, linesOf } from "./course";

const failure = { provider: "acme", model: "large", connectionId: "c", accountName: "main", status: 429, errorCode: "rate_limit", error: "slow down", endedMs: 200 };
const call: Call = { latencyMs: 1000, ttftMs: 600, status: "ok", attempts: 1, failures: [], provider: "open", model: "m-1", accountName: "spare" };
const nameOf = (id: string) => id.toUpperCase();

test("one attempt is shown by its parts", () =>
  expect(linesOf(call, nameOf).map(({ bars }) => bars)).toEqual([
    [{ from: 0, to: 600, tone: "wait" }],
    [{ from: 600, to: 1000, tone: "answer" }],
  ]));

test("each attempt begins where the one before has failed", () => {
  const other = { ...failure, accountName: null, endedMs: 350, status: 504, errorCode: null, error: null };
  const lines = linesOf({ ...call, attempts: 3, failures: [failure, other] }, nameOf);

  expect(lines.map(({ label, detail }) => [label, detail])).toEqual([["main", "large"], ["ACME", "large"], ["spare", "m-1"]]);
  expect(lines.map(({ reason }) => reason)).toEqual(["429 · slow down", "504", undefined]);
  expect(lines.flatMap(({ bars }) => bars)).toEqual([
    { from: 0, to: 200, tone: "bad" },
    { from: 200, to: 350, tone: "bad" },
    { from: 350, to: 600, tone: "wait" },
    { from: 600, to: 1000, tone: "answer" },
  ]);
});

test("where every attempt failed there is no other line", () =>
  expect(linesOf({ ...call, status: "error", ttftMs: null, attempts: 1, failures: [failure] }, nameOf)).toHaveLength(1));
