import { expect, test } from "vitest";

import { bodyOf, draftOf, type KeyRow, NEW, sentences } from "./draft";

const ROW = {
  id: "k",
  name: "laptop",
  groups: [],
  isActive: true,
  inferenceOnly: false,
  allowedCombos: [],
  providerConnectionIds: [],
  dailyLimitTokens: null,
  expiresAt: null,
  policy: {},
} as unknown as KeyRow;

test("a key without any restriction may do everything, and that is said", () => {
  const told = sentences(draftOf(ROW));

  expect(told[0]).toBe("It may call every model and every combo.");
  expect(told.at(-1)).toContain("change the gateway's configuration");
});

test("limits and restrictions are said in words", () => {
  const told = sentences({
    ...NEW,
    mode: "allow",
    patterns: ["acme/*"],
    combos: ["fast"],
    limits: { rpmLimit: 20, monthlyBudget: 5 },
    expires: "2030-01-02",
  });

  expect(told).toEqual([
    "It may call only acme/* and of the combos only fast.",
    "At most 20 requests a minute and $5.00 a month.",
    "It is valid until 2030-01-02.",
    "It cannot use the management API.",
  ]);
});

test("zero is a limit of the lifetime only", () => {
  const { limits } = draftOf({ ...ROW, policy: { maxTokens: 0, rpmLimit: 0, tpmLimit: "30" } } as unknown as KeyRow);

  expect(limits).toEqual({ maxTokens: 0, tpmLimit: 30 });
});

test("a key that is not changed is sent as it was", () => {
  const policy = { modelAccess: { mode: "deny", patterns: ["acme/large"] }, rpmLimit: 3 };

  const body = bodyOf(draftOf({ ...ROW, policy } as unknown as KeyRow));

  expect(body).toMatchObject({ name: "laptop", rpmLimit: 3, tpmLimit: null, modelAccess: policy.modelAccess });
});

test("a limit that is taken away is sent as null", () => {
  const draft = draftOf({ ...ROW, policy: { rpmLimit: 3 } } as unknown as KeyRow);

  expect(bodyOf({ ...draft, limits: {} }).rpmLimit).toBeNull();
});
