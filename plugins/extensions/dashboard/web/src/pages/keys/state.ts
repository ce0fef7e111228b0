/** What state a key is in, and how near it is to a limit. */
import type { Shape } from "~/api/client";
import type { Tone } from "~/ui/status";
import type { KeyRow } from "./draft";

export type KeyState = "active" | "paused" | "expired";
export const TONES: Record<KeyState, Tone> = { active: "good", paused: "idle", expired: "bad" };

export function stateOf(row: KeyRow, now: number = Date.now()): KeyState {
  if (!row.isActive) return "paused";
  return row.expiresAt && Date.parse(row.expiresAt) <= now ? "expired" : "active";
}

/** How much of a limit is used; a limit of zero is used up. */
export function shareOf(row: Shape<"LimitRow">): number {
  const limit = Number(row.limit);
  return limit > 0 ? Number(row.used) / limit : 1;
}

/** The limit that ends first, at this rate of use. */
export function nearest(rows: readonly Shape<"LimitRow">[] | undefined): Shape<"LimitRow"> | null {
  const limited = (rows ?? []).filter((row) => row.limit !== null);
  return limited.sort((a, b) => shareOf(b) - shareOf(a))[0] ?? null;
}
