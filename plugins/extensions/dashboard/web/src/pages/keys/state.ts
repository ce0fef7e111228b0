/** What state a key is in, and how near it is to a limit. */
import type { Shape } from "~/api/client";
import { texts } from "~/texts";
import type { Tone } from "~/ui/status";
import type { KeyRow } from "./draft";

const { fields } = texts.keys;
type LimitRow = Shape<"LimitRow">;
export type KeyState = "active" | "paused" | "expired";
export const TONES: Record<KeyState, Tone> = { active: "good", paused: "idle", expired: "bad" };

export function stateOf(row: KeyRow, now: number = Date.now()): KeyState {
  if (!row.isActive) return "paused";
  return row.expiresAt && Date.parse(row.expiresAt) <= now ? "expired" : "active";
}

/** The limits that a key has, by the minute too, each with what is used of it. */
export function limitsOf(spending: Shape<"KeySpending"> | undefined): LimitRow[] {
  if (!spending) return [];
  const rates = (["rpm", "tpm"] as const).map((name): LimitRow => {
    const field = `${name}Limit` as const;
    return { field, label: fields[field], money: false, always: false, resetAt: null, ...spending[name] };
  });
  return [...rates, ...spending.limits].filter(({ limit }) => limit !== null);
}

/** How much of a limit is used; a limit of zero is used up. */
export function shareOf(row: LimitRow): number {
  const limit = Number(row.limit);
  return limit > 0 ? Number(row.used) / limit : 1;
}

/** The limit that ends first, at this rate of use. */
export function nearest(limits: readonly LimitRow[]): LimitRow | null {
  return [...limits].sort((a, b) => shareOf(b) - shareOf(a))[0] ?? null;
}
