/** Tests of models, whose results come one by one. */
import { useRef, useState } from "react";

import { messageOf, readError } from "~/api/client";
import { refresh } from "~/api/cache";
import { notifyError } from "~/ui/confirm";

export interface Outcome {
  ok: boolean;
  latencyMs: number;
  error: string | null;
}

export interface Batch {
  outcomes: ReadonlyMap<string, Outcome>;
  /** How many are to be tested in the run under way; 0 while there is none. */
  planned: number;
  done: number;
  run: (models: readonly { full: string; kind: string }[]) => Promise<void>;
  stop: () => void;
}

export function useBatch(): Batch {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [planned, setPlanned] = useState(0);
  const [done, setDone] = useState(0);
  const running = useRef<AbortController | null>(null);

  async function run(models: readonly { full: string; kind: string }[]) {
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    setPlanned(models.length);
    setDone(0);
    try {
      const body = JSON.stringify({ models: models.map(({ full, kind }) => ({ model: full, kind })) });
      const headers = { "content-type": "application/json" };
      const response = await fetch("/api/models/test/batch", { method: "POST", headers, body, signal: control.signal });
      if (!response.ok) throw await readError(response);
      for await (const event of frames(response)) {
        if (event.done) break;
        setOutcomes((before) => new Map(before).set(event.model, event));
        setDone((before) => before + 1);
      }
    } catch (error) {
      if (!control.signal.aborted) notifyError(messageOf(error));
    } finally {
      if (running.current === control) setPlanned(0);
      void refresh("/api/models/availability");
    }
  }

  return { outcomes, planned, done, run, stop: () => running.current?.abort() };
}

type Frame = Outcome & { model: string; done?: boolean };

async function* frames(response: Response): AsyncGenerator<Frame> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6)) as Frame;
  }
}
