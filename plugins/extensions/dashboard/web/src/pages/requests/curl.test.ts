import { expect, test } from "vitest";

import { curlOf, quoted } from "./curl";

test("a quote in the text does not end the shell's word", () => {
  expect(quoted("it's")).toBe("'it'\\''s'");
});

test("a kept request becomes a command that reads its key from the environment", () => {
  const command = curlOf(
    "/v1/chat/completions",
    {
      request: { headers: { host: "h", "content-type": "application/json" }, body: { model: "a/b" } },
      providerRequest: null,
      providerResponse: null,
      response: null,
    },
    "http://gateway",
  );

  expect(command).toBe(
    [
      "curl 'http://gateway/v1/chat/completions'",
      '  -H "authorization: Bearer $GATEWAY_KEY"',
      "  -H 'content-type: application/json'",
      `  -d '{"model":"a/b"}'`,
    ].join(" \\\n"),
  );
});
