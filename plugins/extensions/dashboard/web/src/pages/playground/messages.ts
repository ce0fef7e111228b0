/** Messages of chat completions: what is sent for what is drawn. */
import type { Part, Turn } from "~/chat/conversation";

export interface Message {
  role: string;
  content?: unknown;
  tool_calls?: unknown[];
  tool_call_id?: string;
}

export interface Options {
  system: string;
  temperature: number | "";
  topP: number | "";
  maxTokens: number | "";
  reasoning: string;
  /** JSON text. */
  tools: string;
  stream: boolean;
}

export const USUAL: Options = {
  system: "",
  temperature: "",
  topP: "",
  maxTokens: "",
  reasoning: "",
  tools: "",
  stream: true,
};

/** The body of a request with these messages. */
export function bodyOf(model: string, messages: readonly Message[], options: Options): Record<string, unknown> {
  const tools = readTools(options.tools);
  return {
    model,
    messages: [...(options.system ? [{ role: "system", content: options.system }] : []), ...messages],
    ...(options.temperature !== "" && { temperature: options.temperature }),
    ...(options.topP !== "" && { top_p: options.topP }),
    ...(options.maxTokens !== "" && { max_tokens: options.maxTokens }),
    ...(options.reasoning && { reasoning_effort: options.reasoning }),
    ...(tools && tools.length > 0 && { tools }),
    ...(options.stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

type Node = Readonly<Record<string, unknown>>;

/** What a request of any client format sets of what the playground can set. */
export function optionsOf(body: unknown): Partial<Options> {
  const members = { ...(body as { generationConfig?: Node }).generationConfig, ...(body as Node) };
  const number = (...names: string[]): number | "" =>
    names.map((name) => members[name]).find((value): value is number => typeof value === "number") ?? "";
  const effort = members.reasoning_effort ?? (members.reasoning as Node | undefined)?.effort;
  const { tools } = members;
  const areOurs = Array.isArray(tools) && tools.every((tool: Node) => tool.type === "function" && tool.function);
  return {
    temperature: number("temperature"),
    topP: number("top_p", "topP"),
    maxTokens: number("max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens"),
    reasoning: typeof effort === "string" ? effort : "",
    tools: areOurs ? JSON.stringify(tools, null, 2) : "",
  };
}

/** The declared tools; null for a text that is no JSON list. */
export function readTools(text: string): unknown[] | null {
  if (!text.trim()) return [];
  try {
    const tools: unknown = JSON.parse(text);
    return Array.isArray(tools) ? tools : null;
  } catch {
    return null;
  }
}

/** Drawn turns as messages, with the first instructions apart. */
export function messagesOf(turns: readonly Turn[]): { system: string; messages: Message[] } {
  const [first, ...others] = turns;
  const hasSystem = first?.role === "system" || first?.role === "developer";
  return {
    system: hasSystem ? textOf(first.parts) : "",
    messages: (hasSystem ? others : turns).flatMap(messageOf),
  };
}

export function messageOf({ role, parts }: Turn): Message[] {
  if (role === "tool")
    return parts.flatMap((part) =>
      part.kind === "result" ? [{ role, tool_call_id: part.id, content: part.text }] : [],
    );
  const calls = parts.flatMap((part) =>
    part.kind === "call"
      ? [{ id: part.id, type: "function", function: { name: part.name, arguments: part.input || "{}" } }]
      : [],
  );
  const images = parts.flatMap((part) =>
    part.kind === "image" && part.url ? [{ type: "image_url", image_url: { url: part.url } }] : [],
  );
  const text = textOf(parts);
  const content = images.length > 0 ? [...(text ? [{ type: "text", text }] : []), ...images] : text;
  return [{ role, content: content || null, ...(calls.length > 0 && { tool_calls: calls }) }];
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}
