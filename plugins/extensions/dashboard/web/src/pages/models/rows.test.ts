import { expect, test } from "vitest";

import { join } from "./rows";

const row = { provider: "acme", model: "large", fullModel: "ac/large", name: "Large", alias: null, kind: "llm" };
const none = { rows: [], listed: [], disabled: {}, custom: [], prices: {} };

test("what several lists know of a model is in one row", () => {
  const [facts] = join({
    ...none,
    rows: [row],
    listed: [{ id: "ac/large", context_length: 1000, capabilities: { vision: true, tools: false } }],
    prices: { acme: { large: { input: 3, source: {} } as never } },
  });

  expect(facts).toMatchObject({ full: "ac/large", prefix: "ac", context: 1000, abilities: ["vision"], price: { input: 3 }, isDisabled: false });
});

test("a model that is disabled is listed though nothing else names it", () => {
  const facts = join({ ...none, rows: [row], disabled: { ac: ["large", "gone"] } });

  expect(facts.map((each) => [each.full, each.isDisabled])).toEqual([
    ["ac/large", true],
    ["ac/gone", true],
  ]);
});

test("a model with slashes in its id belongs to the first word", () => {
  const [facts] = join({ ...none, rows: [{ ...row, model: "a/b", fullModel: "ac/a/b" }] });

  expect(facts).toMatchObject({ prefix: "ac", id: "a/b" });
});
