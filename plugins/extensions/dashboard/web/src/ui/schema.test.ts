import { expect, test } from "vitest";

import { faultOf } from "./schema";

test.each([
  [{ type: "string", format: "uri" }, "https://a.example/v1", true],
  [{ type: "string", format: "uri" }, "a.example/v1", false],
  [{ type: "string", format: "uri" }, "ftp://a.example", false],
  [{ type: "string", format: "uri" }, "https://", false],
  [{ type: "string", pattern: "^[a-z]+-[0-9]$" }, "eu-1", true],
  [{ type: "string", pattern: "^[a-z]+-[0-9]$" }, " eu-1 ", true],
  [{ type: "string", pattern: "^[a-z]+-[0-9]$" }, "eu 1", false],
  [{ type: "string", pattern: "(" }, "anything", true],
  [{ type: ["object", "string"] }, '{"a": 1}', true],
  [{ type: ["object", "string"] }, "[1]", false],
  [{ type: ["object", "string"] }, "{", false],
  [{ type: "string", pattern: "^x$" }, "", true],
])("%j takes %j: %s", (property, text, isSound) => {
  expect(faultOf(property, text) === null).toBe(isSound);
});

test("a value of another form is shown one that is right", () => {
  expect(faultOf({ pattern: "^x$", examples: ["us-east-1"] }, "y")).toContain("us-east-1");
});
