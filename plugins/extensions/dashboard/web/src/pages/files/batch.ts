/** What is read of a batch: its state, and how far it is. */
import type { Shape } from "~/api/client";
import { texts } from "~/texts";
import type { Tone } from "~/ui/status";

const { states } = texts.files.batches;

export type BatchRow = Shape<"StoredBatch">;
export type BatchState = BatchRow["status"];

export const STATES = (Object.keys(states) as BatchState[]).map((value) => ({ value, label: states[value] }));
export const TONES: Record<BatchState, Tone> = {
  validating: "busy",
  in_progress: "busy",
  finalizing: "busy",
  cancelling: "warn",
  completed: "good",
  failed: "bad",
  cancelled: "idle",
  expired: "warn",
};

const OPEN: ReadonlySet<BatchState> = new Set(["validating", "in_progress", "finalizing", "cancelling"]);

export function isOpen({ status }: Pick<BatchRow, "status">): boolean {
  return OPEN.has(status);
}

/** Rows are sent no more once they are all answered, so such a batch cannot be cancelled. */
export function canCancel({ status }: Pick<BatchRow, "status">): boolean {
  return status === "validating" || status === "in_progress";
}

export interface Progress {
  /** Percent of the bar. */
  completed: number;
  failed: number;
  done: number;
}

export function progressOf({ total, completed, failed }: Pick<BatchRow, "total" | "completed" | "failed">): Progress {
  const whole = Math.max(1, total ?? 0);
  return { completed: (completed / whole) * 100, failed: (failed / whole) * 100, done: completed + failed };
}
