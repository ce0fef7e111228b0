import { events } from "./conversation";

/** The JSON documents of an event stream while it arrives. */
export async function* readStream(body: ReadableStream<Uint8Array>): AsyncGenerator<Record<string, unknown>> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += done ? "\n\n" : decoder.decode(value, { stream: true });
    const end = rest.lastIndexOf("\n\n");
    if (end >= 0) {
      yield* events(rest.slice(0, end));
      rest = rest.slice(end + 2);
    }
    if (done) return;
  }
}
