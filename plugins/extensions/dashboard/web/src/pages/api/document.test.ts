import { expect, test } from "vitest";

import { curlOf, type Document, listOperations, outline } from "./document";

const DOCUMENT: Document = {
  paths: {
    "/api/keys": {
      post: {
        summary: "Create the API key",
        tags: ["keys"],
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/Key" }, example: { name: "it's" } } } },
        responses: { "400": {}, "201": { content: { "application/json": { schema: { $ref: "#/components/schemas/Key" } } } } },
        "x-gateway-access": "management",
      },
    },
  },
  components: {
    schemas: {
      Key: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string" },
          kind: { enum: ["a", null] },
          parts: { type: "array", items: { $ref: "#/components/schemas/Key" } },
        },
      },
    },
  },
};

test("an operation has its body, its example and the answer of its success", () => {
  const [operation] = listOperations(DOCUMENT);

  expect(operation).toMatchObject({ id: "POST /api/keys", tag: "keys", access: "management", example: { name: "it's" } });
  expect(operation?.answer).toEqual({ $ref: "#/components/schemas/Key" });
});

test("a schema that has itself in it comes to an end", () => {
  expect(outline({ $ref: "#/components/schemas/Key" }, DOCUMENT)).toBe('{\n  "name": string,\n  "kind"?: "a" | null,\n  "parts"?: [Key]\n}');
});

test("a quote in a body does not end the shell's word", () => {
  const [operation] = listOperations(DOCUMENT);

  expect(curlOf(operation!, "http://gw")).toContain(`-d '{"name":"it'\\''s"}'`);
});
