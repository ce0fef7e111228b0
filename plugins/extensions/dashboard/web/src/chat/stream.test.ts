import { expect, test } from "vitest";

import { readStream } from "./stream";

function body(...pieces: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
}

test("events are whole however the stream is cut", async () => {
  const found: unknown[] = [];

  for await (const event of readStream(body('data: {"a"', ':1}\n', '\ndata: {"a":2}\n\nda', "ta: [DONE]\n\n"))) found.push(event);

  expect(found).toEqual([{ a: 1 }, { a: 2 }]);
});
