/** Rows of the ledger, read in pieces around what is in sight, and followed live. */
import { useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";

import { api, query, type Shape } from "~/api/client";
import { watchEvents } from "~/api/events";
import type { LiveState } from "~/api/live";
import { day } from "~/format/times";

export type HistoryRow = Shape<"HistoryRow">;
export type Filter = {
  provider?: string;
  model?: string;
  connectionId?: string;
  apiKeyId?: string;
  endpoint?: string;
  combo?: string;
  status?: HistoryRow["status"];
  requestId?: string;
  startDate?: string;
  endDate?: string;
};

const PATH = "/api/usage/history";
const PIECE = 100;
const LIVE = "/api/usage/live";
const DAY_MS = 86_400_000;

/** The part of a filter that a named period is: a moment, or whole days. */
export function periodFilter(period: string, from: string, to: string, now: number): Filter {
  if (period === "custom" && from && to) return { startDate: from, endDate: to };
  if (period === "all") return {};
  if (period === "1h") return { startDate: new Date(now - 3_600_000).toISOString() };
  if (period === "24h") return { startDate: new Date(now - DAY_MS).toISOString() };
  const days = Number.parseInt(period, 10) || 1;
  return { startDate: day(now - (days - 1) * DAY_MS) };
}

export interface HistoryRows {
  rows: readonly (HistoryRow | undefined)[];
  total: number;
  isPending: boolean;
  error: unknown;
  /** Ids of rows that came since the page was opened. */
  fresh: ReadonlySet<number>;
  /** Of the stream that brings them. */
  live: LiveState;
  onRange: (first: number, last: number) => void;
  refetch: () => void;
}

/** `filter` has to be the same object as long as its content is. */
export function useHistory(filter: Filter, isLive: boolean): HistoryRows {
  const [turn, setTurn] = useState(0);
  const [range, setRange] = useState<readonly [number, number]>([0, 0]);
  const [fresh, setFresh] = useState<readonly HistoryRow[]>([]);
  const head = useQuery({
    // The turn makes a new reading of the same filter.
    queryKey: ["get", PATH, filter, turn],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET(PATH, { params: { query: { ...filter, limit: PIECE } }, signal });
      return data!;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    placeholderData: (before) => before,
  });
  const newest = head.data?.rows[0];
  const anchor = newest?.timestamp;

  // Further pieces end where the first one began, so that they do not move.
  const pieces = useMemo(() => {
    const first = Math.max(1, Math.floor(range[0] / PIECE));
    const last = Math.min(Math.floor(range[1] / PIECE), Math.ceil((head.data?.total ?? 0) / PIECE) - 1);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => first + place);
  }, [range, head.data?.total]);
  const further = useQueries({
    queries: pieces.map((piece) => ({
      ...query.queryOptions("get", PATH, {
        params: { query: { ...filter, endDate: anchor, limit: PIECE, offset: piece * PIECE } },
      }),
      staleTime: Number.POSITIVE_INFINITY,
      enabled: anchor !== undefined,
    })),
    combine: (answers) => answers.map((answer) => answer.data?.rows),
  });

  const isKnown = head.data !== undefined && !head.isPlaceholderData;
  const after = newest?.id ?? 0;
  const [state, setState] = useState<LiveState>("connecting");
  const followed = isLive && isKnown && !filter.endDate && !filter.requestId;
  useEffect(() => {
    if (!followed) return undefined;
    const { startDate: _, ...parts } = filter;
    let waiting: HistoryRow[] = [];
    let frame = 0;
    // Many calls that end together are one change of the page.
    function receive(data: string) {
      waiting.unshift(JSON.parse(data) as HistoryRow);
      frame ||= requestAnimationFrame(() => {
        const rows = waiting;
        waiting = [];
        frame = 0;
        setFresh((before) => [...rows, ...before]);
      });
    }
    const leave = watchEvents(`${LIVE}?${new URLSearchParams({ ...parts, after: String(after) })}`, {
      open: () => setState("open"),
      lost: () => setState("lost"),
      events: { message: receive, missed: () => setTurn((before) => before + 1) },
    });
    return () => {
      leave();
      cancelAnimationFrame(frame);
      setFresh([]);
    };
  }, [followed, filter, after]);

  const rows = useMemo(() => {
    const known = head.data?.rows ?? [];
    const all = new Array<HistoryRow | undefined>(head.data?.total ?? 0).fill(undefined);
    known.forEach((row, place) => {
      all[place] = row;
    });
    further.forEach((piece, number) => {
      piece?.forEach((row, place) => {
        all[pieces[number]! * PIECE + place] = row;
      });
    });
    return fresh.length > 0 ? [...fresh, ...all] : all;
  }, [head.data, further, pieces, fresh]);

  const onRange = useCallback(
    (first: number, last: number) =>
      setRange((before) => {
        const next = [Math.floor(first / PIECE) * PIECE, Math.ceil((last + 1) / PIECE) * PIECE - 1] as const;
        return before[0] === next[0] && before[1] === next[1] ? before : next;
      }),
    [],
  );
  return {
    rows,
    total: (head.data?.total ?? 0) + fresh.length,
    isPending: head.isPending,
    error: head.error,
    live: state,
    fresh: useMemo(() => new Set(fresh.map((row) => row.id)), [fresh]),
    onRange,
    refetch: useCallback(() => setTurn((before) => before + 1), []),
  };
}
