/** Conversations with several models at once, each in a column of its own. */
import { useCallback, useEffect, useRef, useState } from "react";

import { messageOf as errorText } from "~/api/client";
import { Answer, readAnswer, type Turn } from "~/chat/conversation";
import { readStream } from "~/chat/stream";
import { callEndpoint } from "./call";
import { bodyOf, messageOf, type Options } from "./messages";

export interface Facts {
  requestId: string | null;
  /** Milliseconds. */
  took: number;
  first: number | null;
  tokens: number | null;
  stopped?: boolean;
}

export interface Chat {
  turns: readonly Turn[];
  /** What a model is saying now. */
  partial: Turn | null;
  busy: boolean;
  error: string | null;
  facts: Facts | null;
}

const EMPTY: Chat = { turns: [], partial: null, busy: false, error: null, facts: null };
const CHAT = "/v1/chat/completions";

/** One conversation for each model, by its place. */
export function useChats(models: readonly string[], first: readonly Turn[]) {
  const [chats, setChats] = useState<readonly Chat[]>(() => models.map(() => ({ ...EMPTY, turns: first })));
  const aborts = useRef(new Map<number, AbortController>());
  const latest = useRef(chats);
  latest.current = chats;

  useEffect(() => {
    const all = aborts.current;
    return () => {
      for (const abort of all.values()) abort.abort();
    };
  }, []);

  const change = useCallback(
    (place: number, part: Partial<Chat>) =>
      setChats((before) => {
        const after = [...before];
        after[place] = { ...(before[place] ?? EMPTY), ...part };
        return after;
      }),
    [],
  );

  /** Asks one model with these turns. */
  const ask = useCallback(
    async (place: number, model: string, turns: readonly Turn[], options: Options) => {
      const abort = new AbortController();
      aborts.current.set(place, abort);
      change(place, { turns, partial: null, busy: true, error: null, facts: null });
      const begun = performance.now();
      const answer = new Answer();
      let [requestId, first, tokens]: [string | null, number | null, number | null] = [null, null, null];
      let whole: Turn[] = [];
      let frame = 0;
      const facts = (stopped = false): Facts => ({ requestId, took: performance.now() - begun, first, tokens, stopped });
      try {
        const body = bodyOf(model, turns.flatMap(messageOf), options);
        const response = await callEndpoint(CHAT, body, abort.signal);
        requestId = response.headers.get("x-request-id");
        if (options.stream && response.body) {
          for await (const event of readStream(response.body)) {
            if (isError(event)) throw new Error(event.error.message);
            tokens = usageOf(event) ?? tokens;
            answer.add(event);
            if (first === null && answer.turns.length > 0) first = performance.now() - begun;
            // A fast model sends more pieces than a screen has frames.
            frame ||= requestAnimationFrame(() => {
              frame = 0;
              change(place, { partial: answer.turns[0] ?? null });
            });
          }
          whole = answer.turns;
        } else {
          const document = (await response.json()) as Record<string, unknown>;
          tokens = usageOf(document);
          whole = readAnswer(document);
        }
        cancelAnimationFrame(frame);
        change(place, { turns: [...turns, ...whole], partial: null, busy: false, facts: facts() });
      } catch (failure) {
        cancelAnimationFrame(frame);
        const kept = { turns: [...turns, ...answer.turns], partial: null, busy: false, facts: facts(abort.signal.aborted) };
        change(place, abort.signal.aborted ? kept : { ...kept, error: errorText(failure) });
      } finally {
        aborts.current.delete(place);
      }
    },
    [change],
  );

  /** Sends a turn to every model. */
  const send = useCallback(
    (turn: Turn, options: Options) =>
      models.forEach((model, place) => void ask(place, model, [...(latest.current[place]?.turns ?? []), turn], options)),
    [models, ask],
  );
  const stop = useCallback(() => {
    for (const abort of aborts.current.values()) abort.abort();
  }, []);
  const clear = useCallback(() => {
    stop();
    setChats(models.map(() => EMPTY));
  }, [models, stop]);
  const drop = useCallback((place: number) => {
    aborts.current.get(place)?.abort();
    setChats((before) => before.filter((_, each) => each !== place));
  }, []);
  return { chats: models.map((_, place) => chats[place] ?? EMPTY), ask, send, stop, clear, drop };
}

function usageOf(event: Record<string, unknown>): number | null {
  const usage = event.usage as { completion_tokens?: number } | null | undefined;
  return usage?.completion_tokens ?? null;
}

function isError(event: Record<string, unknown>): event is { error: { message: string } } {
  return typeof event.error === "object" && event.error !== null && "message" in event.error;
}
