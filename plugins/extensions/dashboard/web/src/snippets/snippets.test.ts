import { expect, test } from "vitest";

import { SNIPPETS } from "./snippets";

const CALL = { origin: "http://127.0.0.1:1", key: "sk-1", model: "echo/echo" };

test.each(SNIPPETS.map((snippet) => [snippet.id, snippet] as const))("%s names the gateway and the key", (_, snippet) => {
  const code = snippet.code(CALL);

  expect(code).toContain(CALL.origin);
  expect(code).toContain(CALL.key);
});

test("ids occur once", () => {
  expect(new Set(SNIPPETS.map(({ id }) => id)).size).toBe(SNIPPETS.length);
});
