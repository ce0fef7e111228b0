import { Text, type TextProps, Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";

import { ago, exact } from "~/format/times";

const EVERY_MS = 10_000;
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** One timer for all relative times of a page. */
function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of watchers) each();
  }, EVERY_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time now, as of the last ten seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

interface Props extends TextProps {
  at: string | number | null | undefined;
  /** Shown without a time. */
  none?: string;
}

/** "3 min. ago", with the exact time on hover. */
export function RelativeTime({ at, none = "–", ...text }: Props) {
  const current = useNow();
  if (at == null) return <Text span {...text} c="dimmed">{none}</Text>;
  return (
    <Tooltip label={exact(at)}>
      <Text span {...text}>
        <time dateTime={new Date(at).toISOString()}>{ago(at, Math.max(current, Date.now() - EVERY_MS))}</time>
      </Text>
    </Tooltip>
  );
}
