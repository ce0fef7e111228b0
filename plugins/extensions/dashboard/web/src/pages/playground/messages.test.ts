import { expect, test } from "vitest";

import { readRequest } from "~/chat/conversation";
import { bodyOf, messagesOf, optionsOf, readTools, USUAL } from "./messages";

test("what is left at its default is not sent", () => {
  expect(bodyOf("a/b", [{ role: "user", content: "Hi" }], { ...USUAL, stream: false })).toEqual({
    model: "a/b",
    messages: [{ role: "user", content: "Hi" }],
  });
});

test("a conversation that is drawn is sent as it was", () => {
  const messages = [
    { role: "user", content: [{ type: "text", text: "See" }, { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] },
    { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c1", content: "a cat" },
    { role: "assistant", content: "A cat" },
  ];

  const turns = readRequest({ messages: [{ role: "system", content: "Be brief" }, ...messages] });

  expect(messagesOf(turns)).toEqual({ system: "Be brief", messages });
});

test("tools have to be a JSON list", () => {
  expect(readTools("")).toEqual([]);
  expect(readTools("[{}]")).toEqual([{}]);
  expect(readTools("{")).toBeNull();
  expect(readTools("{}")).toBeNull();
});

const WEATHER = { type: "function", function: { name: "weather" } };

test.each([
  [{ temperature: 0, top_p: 0.5, max_tokens: 64, reasoning_effort: "low", tools: [WEATHER] }, { reasoning: "low", tools: [WEATHER] }],
  [{ temperature: 0, top_p: 0.5, max_output_tokens: 64, reasoning: { effort: "high" } }, { reasoning: "high" }],
  [{ generationConfig: { temperature: 0, topP: 0.5, maxOutputTokens: 64 }, tools: [{ functionDeclarations: [] }] }, {}],
])("settings are read from the body of any format", (body, more: { reasoning?: string; tools?: unknown[] }) => {
  const found = optionsOf(body);

  expect(found).toMatchObject({ temperature: 0, topP: 0.5, maxTokens: 64, reasoning: more.reasoning ?? "" });
  expect(readTools(found.tools!)).toEqual(more.tools ?? []);
});

test("of a body without settings none are taken", () => {
  expect(bodyOf("a/b", [], { ...USUAL, ...optionsOf({ model: "a/b" }), stream: false })).toEqual({ model: "a/b", messages: [] });
});
