import { describe, expect, test } from "vitest";

import { readAnswer, readRequest } from "./conversation";

describe("requests", () => {
  test("chat completions with a tool's result and an image", () => {
    const turns = readRequest({
      messages: [
        { role: "system", content: "Be brief" },
        { role: "user", content: [{ type: "text", text: "What is it?" }, { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] },
        { role: "assistant", content: null, tool_calls: [{ id: "c1", function: { name: "look", arguments: '{"a":1}' } }] },
        { role: "tool", tool_call_id: "c1", content: "a cat" },
      ],
    });

    expect(turns.map((turn) => [turn.role, turn.parts.map((part) => part.kind)])).toEqual([
      ["system", ["text"]],
      ["user", ["text", "image"]],
      ["assistant", ["call"]],
      ["tool", ["result"]],
    ]);
    expect(turns[2]!.parts[0]).toEqual({ kind: "call", id: "c1", name: "look", input: '{\n  "a": 1\n}' });
  });

  test("messages with a system prompt and thinking", () => {
    const turns = readRequest({
      system: [{ type: "text", text: "Be brief" }],
      messages: [{ role: "assistant", content: [{ type: "thinking", thinking: "Hm" }, { type: "text", text: "Yes" }] }],
    });

    expect(turns.map((turn) => turn.role)).toEqual(["system", "assistant"]);
    expect(turns[1]!.parts).toEqual([
      { kind: "thinking", text: "Hm" },
      { kind: "text", text: "Yes" },
    ]);
  });

  test("generative content", () => {
    const turns = readRequest({
      systemInstruction: { parts: [{ text: "Be brief" }] },
      contents: [{ role: "model", parts: [{ functionCall: { name: "look", args: {} } }] }],
    });

    expect(turns.map((turn) => [turn.role, turn.parts[0]!.kind])).toEqual([
      ["system", "text"],
      ["assistant", "call"],
    ]);
  });

  test("responses", () => {
    const turns = readRequest({ instructions: "Be brief", input: "Hello" });

    expect(turns.map((turn) => turn.parts)).toEqual([
      [{ kind: "text", text: "Be brief" }],
      [{ kind: "text", text: "Hello" }],
    ]);
  });

  test("an image of another origin is not fetched", () => {
    const [turn] = readRequest({
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a.example/b.png" } }] }],
    });

    expect(turn!.parts).toEqual([{ kind: "image", url: null }]);
  });
});

describe("answers", () => {
  test("a stream of chat completions, with thinking and a call in pieces", () => {
    const chunk = (delta: object) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`;
    const stream = [
      chunk({ reasoning_content: "Let me " }),
      chunk({ reasoning_content: "see" }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      chunk({ tool_calls: [{ index: 0, id: "c1", function: { name: "look", arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
      "data: [DONE]\n\n",
    ].join("");

    expect(readAnswer(stream)).toEqual([
      {
        role: "assistant",
        parts: [
          { kind: "thinking", text: "Let me see" },
          { kind: "text", text: "Hello" },
          { kind: "call", id: "c1", name: "look", input: '{"a":1}' },
        ],
      },
    ]);
  });

  test("a stream of messages", () => {
    const stream = [
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t1", name: "look" } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "{}" } },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("");

    expect(readAnswer(stream)[0]!.parts).toEqual([
      { kind: "text", text: "Hi" },
      { kind: "call", id: "t1", name: "look", input: "{}" },
    ]);
  });

  test("a recording that was cut within an event", () => {
    expect(readAnswer('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: {"cho')[0]!.parts).toEqual([
      { kind: "text", text: "Hi" },
    ]);
  });

  test("whole documents of three formats", () => {
    const whole = [
      { choices: [{ message: { role: "assistant", content: "a" } }] },
      { content: [{ type: "text", text: "a" }] },
      { candidates: [{ content: { role: "model", parts: [{ text: "a" }] } }] },
      { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "a" }] }] },
    ];

    for (const body of whole) expect(readAnswer(body)).toEqual([{ role: "assistant", parts: [{ kind: "text", text: "a" }] }]);
  });
});
