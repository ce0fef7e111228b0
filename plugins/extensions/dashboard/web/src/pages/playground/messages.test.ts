import { expect, test } from "vitest";

import { readRequest } from "~/chat/conversation";
import { bodyOf, messagesOf, readTools, USUAL } from "./messages";

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
