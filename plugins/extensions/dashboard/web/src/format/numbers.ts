/** Numbers as people read them. `null` and `undefined` become a dash. */
const LOCALE = "en-US";
export const NONE = "–";

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 });
const bytes = ["B", "kB", "MB", "GB", "TB"];

type Maybe = number | null | undefined;

/** 12,345 */
export function count(value: Maybe): string {
  return value == null ? NONE : whole.format(value);
}

/** 12.3K */
export function compact(value: Maybe): string {
  return value == null ? NONE : short.format(value);
}

/** Dollars: more digits for smaller sums, so that a cheap call is not shown as free. */
export function money(value: Maybe): string {
  if (value == null) return NONE;
  const size = Math.abs(value);
  if (size === 0) return "$0";
  if (size < 0.000_001) return "<$0.000001";
  const digits = size >= 1000 ? 0 : size >= 1 ? 2 : size >= 0.01 ? 3 : size >= 0.0001 ? 5 : 6;
  return `${value < 0 ? "-" : ""}$${size.toLocaleString(LOCALE, {
    minimumFractionDigits: size >= 1000 ? 0 : 2,
    maximumFractionDigits: digits,
  })}`;
}

/** Milliseconds: 340 ms, 1.24 s, 2 m 05 s. */
export function duration(ms: Maybe): string {
  if (ms == null) return NONE;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${pad(Math.floor((seconds % 3600) / 60))} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

/** A share between 0 and 1: 0.4 %, 12 %. */
export function percent(share: Maybe): string {
  if (share == null || !Number.isFinite(share)) return NONE;
  const value = share * 100;
  if (value === 0) return "0%";
  if (value < 0.1) return "<0.1%";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}%`;
}

/** 1.4 MB */
export function size(value: Maybe): string {
  if (value == null) return NONE;
  let rest = value;
  let unit = 0;
  while (rest >= 1000 && unit < bytes.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${bytes[unit]}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
