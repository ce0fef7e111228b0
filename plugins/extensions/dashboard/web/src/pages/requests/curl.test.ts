import { expect, test } from "vitest";

import { curlOf, type KeptPart, quoted } from "./curl";

const CHAT = { endpoint: "/v1/chat/completions", requestedModel: "a/b" };

function commandOf(request: KeptPart, called = CHAT): string | null {
  return curlOf(called, { request, providerRequest: null, providerResponse: null, response: null }, "http://gateway");
}

test("a quote in the text does not end the shell's word", () => {
  expect(quoted("it's")).toBe("'it'\\''s'");
});

test("a kept request becomes a command that reads its key from the environment", () => {
  const headers = { host: "h", "content-type": "application/json" };

  expect(commandOf({ headers, body: { model: "a/b" } })).toBe(
    [
      "curl 'http://gateway/v1/chat/completions'",
      '  -H "authorization: Bearer $GATEWAY_KEY"',
      "  -H 'content-type: application/json'",
      `  -d '{"model":"a/b"}'`,
    ].join(" \\\n"),
  );
});

test("headers of the connection, of a browser and of a packed body are left out", () => {
  const headers = { "content-encoding": "gzip", Origin: "http://gateway", "sec-fetch-site": "same-origin", "anthropic-version": "1" };
  const command = commandOf({ headers, body: {} });

  expect(command!.match(/-H/g)).toHaveLength(2);
  expect(command).toContain("'anthropic-version: 1'");
});

test("the model is put into a path that names it", () => {
  const called = { endpoint: "/v1beta/models/{model}:generateContent", requestedModel: "a/b c" };

  expect(commandOf({ body: {} }, called)).toContain("'http://gateway/v1beta/models/a/b%20c:generateContent'");
});

test.each([
  ["the beginning of a request", { _truncated: true }, CHAT],
  ["a form", { headers: { "Content-Type": "multipart/form-data; boundary=b" }, body: "--b" }, CHAT],
  ["a path that names something else", {}, { ...CHAT, endpoint: "/v1/videos/{request_id}" }],
] as const)("%s makes no command", (_, request, called) => {
  expect(commandOf(request, called)).toBeNull();
});
