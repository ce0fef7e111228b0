/** A conversation as a chat is drawn, read from the bodies of any client format. */

export type Part =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "image"; url: string | null }
  | { kind: "call"; id: string; name: string; input: string }
  | { kind: "result"; id: string; text: string };

export interface Turn {
  role: string;
  parts: readonly Part[];
}

type Json = unknown;
type Node = Record<string, Json>;

function isNode(value: Json): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nodes(value: Json): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function text(value: Json): string {
  return typeof value === "string" ? value : "";
}

/** JSON with line breaks; a text that is JSON already is written anew. */
export function pretty(value: Json): string {
  if (typeof value === "string") {
    try {
      return JSON.stringify(JSON.parse(value), null, 2);
    } catch {
      return value;
    }
  }
  return JSON.stringify(value, null, 2) ?? "";
}

/** The turns of a request: chat completions, messages, responses, generative content. */
export function readRequest(body: Json): Turn[] {
  if (!isNode(body)) return [];
  const system = body.system ?? body.instructions ?? body.systemInstruction ?? body.system_instruction;
  const parts = isNode(system) ? readParts(system.parts) : readParts(system);
  const first: Turn[] = parts.length > 0 ? [{ role: "system", parts }] : [];
  if (typeof body.input === "string") return [...first, { role: "user", parts: readParts(body.input) }];
  if (typeof body.prompt === "string") return [...first, { role: "user", parts: readParts(body.prompt) }];
  const turns = nodes(body.messages ?? body.input ?? body.contents).map(readTurn);
  return [...first, ...turns].filter((turn) => turn.parts.length > 0);
}

/** The turns of an answer: a whole document, or the text of an event stream. */
export function readAnswer(body: Json): Turn[] {
  if (typeof body === "string") return readEvents(events(body));
  if (!isNode(body)) return [];
  if (Array.isArray(body.choices))
    return nodes(body.choices).map((choice) =>
      isNode(choice.message) ? readTurn(choice.message) : { role: "assistant", parts: readParts(choice.text) },
    );
  if (Array.isArray(body.output)) return nodes(body.output).map(readTurn).filter((turn) => turn.parts.length > 0);
  if (Array.isArray(body.candidates))
    return nodes(body.candidates).map((each) => readTurn({ role: "assistant", ...(isNode(each.content) ? each.content : {}) }));
  if (isNode(body.message)) return [readTurn(body.message)];
  if (body.content !== undefined) return [readTurn({ role: "assistant", content: body.content })];
  return [];
}

function readTurn(turn: Node): Turn {
  const type = text(turn.type);
  if (type === "function_call")
    return { role: "assistant", parts: [{ kind: "call", id: text(turn.call_id), name: text(turn.name), input: pretty(turn.arguments) }] };
  if (type === "function_call_output")
    return { role: "tool", parts: [{ kind: "result", id: text(turn.call_id), text: plain(turn.output) }] };
  if (type === "reasoning") return { role: "assistant", parts: readParts(turn.summary).map(asThinking) };
  const role = text(turn.role) === "model" ? "assistant" : text(turn.role) || "user";
  if (role === "tool")
    return { role, parts: [{ kind: "result", id: text(turn.tool_call_id), text: plain(turn.content) }] };
  const thinking = text(turn.reasoning_content) || text(turn.reasoning) || text(turn.thinking);
  return {
    role,
    parts: [
      ...(thinking ? [{ kind: "thinking" as const, text: thinking }] : []),
      ...readParts(turn.content ?? turn.parts),
      ...nodes(turn.tool_calls).map(readCall),
    ],
  };
}

function asThinking(part: Part): Part {
  return part.kind === "text" ? { kind: "thinking", text: part.text } : part;
}

function readCall(call: Node): Part {
  const of = isNode(call.function) ? call.function : {};
  return { kind: "call", id: text(call.id), name: text(of.name), input: pretty(of.arguments) };
}

function readParts(content: Json): Part[] {
  if (typeof content === "string") return content ? [{ kind: "text", text: content }] : [];
  return nodes(content).flatMap(readPart);
}

function readPart(part: Node): Part[] {
  if (typeof part.thinking === "string") return [{ kind: "thinking", text: part.thinking }];
  if (typeof part.text === "string")
    return part.text ? [{ kind: part.thought === true ? "thinking" : "text", text: part.text }] : [];
  if (part.type === "tool_use") return [{ kind: "call", id: text(part.id), name: text(part.name), input: pretty(part.input) }];
  if (part.type === "tool_result") return [{ kind: "result", id: text(part.tool_use_id), text: plain(part.content) }];
  if (isNode(part.functionCall))
    return [{ kind: "call", id: "", name: text(part.functionCall.name), input: pretty(part.functionCall.args) }];
  if (isNode(part.functionResponse))
    return [{ kind: "result", id: "", text: pretty(part.functionResponse.response) }];
  const url = imageOf(part);
  return url === undefined ? [] : [{ kind: "image", url }];
}

/** The address of an image if it needs no other origin, `null` for one that does. */
function imageOf(part: Node): string | null | undefined {
  const of = part.image_url;
  const url = typeof of === "string" ? of : isNode(of) ? text(of.url) : "";
  if (url) return url.startsWith("data:image/") ? url : null;
  const source = isNode(part.source) ? part.source : isNode(part.inlineData) ? part.inlineData : null;
  if (source === null) return undefined;
  const type = text(source.media_type) || text(source.mimeType);
  return typeof source.data === "string" && type.startsWith("image/") ? `data:${type};base64,${source.data}` : null;
}

function plain(content: Json): string {
  if (typeof content === "string") return pretty(content);
  const parts = readParts(content);
  return parts.length > 0 ? parts.map((part) => ("text" in part ? part.text : "")).join("\n") : pretty(content);
}

/** The JSON documents of an event stream, or of lines. */
export function events(stream: string): Node[] {
  const found: Node[] = [];
  for (const line of stream.split("\n")) {
    const data = line.startsWith("data:") ? line.slice(5).trim() : line.startsWith("{") ? line : "";
    if (!data || data === "[DONE]") continue;
    try {
      const event: Json = JSON.parse(data);
      if (isNode(event)) found.push(event);
    } catch {
      // The last event of a recording that was cut.
    }
  }
  return found;
}

/** Puts the pieces of a streamed answer together. */
export class Answer {
  private readonly parts: Part[] = [];
  private readonly open = new Map<string, number>();

  get turns(): Turn[] {
    return this.parts.length > 0 ? [{ role: "assistant", parts: [...this.parts] }] : [];
  }

  add(event: Node): void {
    if (Array.isArray(event.choices)) for (const choice of nodes(event.choices)) this.addDelta(choice);
    else if (Array.isArray(event.candidates))
      for (const each of nodes(event.candidates)) {
        const content = isNode(each.content) ? each.content : {};
        for (const part of nodes(content.parts).flatMap(readPart)) this.append(part);
      }
    else if (isNode(event.message) && !event.type) for (const part of readTurn(event.message).parts) this.append(part);
    else this.addTyped(event);
  }

  private addDelta(choice: Node): void {
    const delta = isNode(choice.delta) ? choice.delta : { content: choice.text };
    const thinking = text(delta.reasoning_content) || text(delta.reasoning);
    if (thinking) this.append({ kind: "thinking", text: thinking });
    for (const part of readParts(delta.content)) this.append(part);
    for (const call of nodes(delta.tool_calls)) {
      const of = isNode(call.function) ? call.function : {};
      this.call(`c${String(call.index)}`, text(call.id), text(of.name), text(of.arguments));
    }
  }

  /** Events of messages and of responses, which have a type. */
  private addTyped(event: Node): void {
    const key = `${String(event.index ?? event.output_index)}`;
    const block = isNode(event.content_block) ? event.content_block : isNode(event.item) ? event.item : {};
    const delta = isNode(event.delta) ? event.delta : {};
    switch (event.type) {
      case "content_block_start":
        if (block.type === "tool_use") this.call(key, text(block.id), text(block.name), "");
        return;
      case "response.output_item.added":
        if (block.type === "function_call") this.call(key, text(block.call_id), text(block.name), "");
        return;
      case "content_block_delta":
        if (typeof delta.text === "string") this.append({ kind: "text", text: delta.text });
        if (typeof delta.thinking === "string") this.append({ kind: "thinking", text: delta.thinking });
        if (typeof delta.partial_json === "string") this.call(key, "", "", delta.partial_json);
        return;
      case "response.output_text.delta":
        this.append({ kind: "text", text: text(event.delta) });
        return;
      case "response.reasoning_summary_text.delta":
        this.append({ kind: "thinking", text: text(event.delta) });
        return;
      case "response.function_call_arguments.delta":
        this.call(key, "", "", text(event.delta));
    }
  }

  private append(part: Part): void {
    const last = this.parts.at(-1);
    if ((part.kind === "text" || part.kind === "thinking") && last?.kind === part.kind)
      this.parts[this.parts.length - 1] = { kind: part.kind, text: last.text + part.text };
    else this.parts.push(part);
  }

  private call(key: string, id: string, name: string, input: string): void {
    const place = this.open.get(key);
    const before = place === undefined ? undefined : this.parts[place];
    if (place === undefined || before?.kind !== "call") {
      this.open.set(key, this.parts.length);
      this.parts.push({ kind: "call", id, name, input });
    } else
      this.parts[place] = {
        kind: "call",
        id: before.id || id,
        name: before.name || name,
        input: before.input + input,
      };
  }
}

function readEvents(all: readonly Node[]): Turn[] {
  const answer = new Answer();
  for (const event of all) answer.add(event);
  return answer.turns;
}
