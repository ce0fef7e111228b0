/** Event streams of the management API, shared by all who watch the same address. */
import { useEffect, useRef, useSyncExternalStore } from "react";

import type { Shape } from "./client";
import { watchEvents } from "./events";

export type LiveState = "connecting" | "open" | "lost";

interface Snapshot<T> {
  readonly state: LiveState;
  readonly value: T | null;
}

class Channel<T> {
  private leave: (() => void) | null = null;
  private readonly watchers = new Set<() => void>();
  snapshot: Snapshot<T> = { state: "connecting", value: null };

  constructor(private readonly url: string) {}

  subscribe = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    this.leave ??= this.open();
    return () => {
      this.watchers.delete(watcher);
      if (this.watchers.size === 0) this.close();
    };
  };

  private open(): () => void {
    return watchEvents(this.url, {
      open: () => this.publish({ ...this.snapshot, state: "open" }),
      lost: () => this.publish({ ...this.snapshot, state: "lost" }),
      events: { message: (data) => this.publish({ state: "open", value: JSON.parse(data) as T }) },
    });
  }

  private close(): void {
    this.leave?.();
    this.leave = null;
  }

  private publish(snapshot: Snapshot<T>): void {
    this.snapshot = snapshot;
    for (const watcher of this.watchers) watcher();
  }
}

const channels = new Map<string, Channel<unknown>>();
const IDLE: Snapshot<never> = { state: "connecting", value: null };
const never = () => () => {};

/** The newest event of a stream; with `url` null nothing is watched. */
export function useEvents<T>(url: string | null): Snapshot<T> {
  let channel = url === null ? null : (channels.get(url) as Channel<T> | undefined);
  if (url !== null && !channel) {
    channel = new Channel<T>(url);
    channels.set(url, channel);
  }
  return useSyncExternalStore(channel?.subscribe ?? never, () => channel?.snapshot ?? IDLE);
}

export type Picture = Shape<"Picture">;
export type Period = "today" | "24h" | "7d" | "30d" | "60d" | "all";

/** The overview of a period, at once and after each change. */
export function useUsage(period: Period, enabled = true): Snapshot<Picture> {
  return useEvents<Picture>(enabled ? `/api/usage/stream?period=${period}` : null);
}

/** Calls `handle` after each event but the first. */
export function useOnEvent<T>(snapshot: Snapshot<T>, handle: (value: T) => void): void {
  const { value } = snapshot;
  const isFirst = useRef(true);
  useEffect(() => {
    if (value === null) return;
    if (!isFirst.current) handle(value);
    isFirst.current = false;
    // The handler may change with each rendering; only an event calls it.
  }, [value]);
}
