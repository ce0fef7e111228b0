/** What happened when in a call: a line for each attempt, or for each part of the only one. */
import { texts } from "~/texts";
import type { HistoryRow } from "./history";

const { sheet } = texts.requests;

export type Call = Pick<HistoryRow, "latencyMs" | "ttftMs" | "status" | "attempts" | "failures" | "provider" | "model" | "accountName">;

export interface Bar {
  /** Milliseconds since the request came. */
  from: number;
  to: number;
  tone: "wait" | "answer" | "bad";
}

export interface Line {
  label: string;
  /** Beside the label: the model of an attempt. */
  detail?: string;
  bars: Bar[];
  /** Why another attempt followed. */
  reason?: string;
}

export function linesOf(call: Call, nameOf: (provider: string) => string): Line[] {
  return call.failures.length > 0 ? attemptsOf(call, nameOf) : partsOf(call);
}

function partsOf({ latencyMs, ttftMs, status }: Call): Line[] {
  const ending = isBad(status) ? "bad" : null;
  if (ttftMs === null) return [{ label: sheet.whole, bars: [{ from: 0, to: latencyMs, tone: ending ?? "wait" }] }];
  const first = Math.min(ttftMs, latencyMs);
  return [
    { label: sheet.waiting, bars: [{ from: 0, to: first, tone: "wait" }] },
    { label: sheet.streaming, bars: [{ from: first, to: latencyMs, tone: ending ?? "answer" }] },
  ];
}

/** Each attempt begins where the one before has failed. */
function attemptsOf(call: Call, nameOf: (provider: string) => string): Line[] {
  const { failures, latencyMs, ttftMs, status } = call;
  const lines: Line[] = failures.map(({ provider, model, accountName, endedMs, status: code, errorCode, error }, place) => ({
    label: accountName ?? nameOf(provider),
    detail: model,
    bars: [{ from: failures[place - 1]?.endedMs ?? 0, to: endedMs, tone: "bad" }],
    // The vendor's words say more than the class of the failure.
    reason: [String(code), error ?? errorCode].filter(Boolean).join(" · "),
  }));
  if (failures.length >= call.attempts) return lines;
  const begun = Math.min(failures.at(-1)!.endedMs, latencyMs);
  const first = ttftMs === null ? latencyMs : Math.max(begun, Math.min(ttftMs, latencyMs));
  const bars: Bar[] = [{ from: begun, to: first, tone: ttftMs === null && isBad(status) ? "bad" : "wait" }];
  if (first < latencyMs) bars.push({ from: first, to: latencyMs, tone: isBad(status) ? "bad" : "answer" });
  const label = call.accountName ?? (call.provider ? nameOf(call.provider) : sheet.whole);
  return [...lines, { label, ...(call.model && { detail: call.model }), bars }];
}

function isBad(status: Call["status"]): boolean {
  return status === "error" || status === "upstream_cut";
}
