/** Moments as people read them: relative in the page, exact on hover. */
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
/** Made once: each is dearer than what it writes. */
const dayOfYear = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** "3 min. ago"; within ten seconds "just now". */
export function ago(moment: string | number | Date, now: number = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1000;
  if (Math.abs(seconds) < 10) return "just now";
  for (const [unit, length] of STEPS)
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  return relative.format(Math.trunc(seconds), "second");
}

/** "2026-03-01 14:05:09.120" in the browser's own zone. */
export function exact(moment: string | number | Date): string {
  const at = new Date(moment);
  const two = (value: number) => String(value).padStart(2, "0");
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  return `${date} ${clock}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** "14:05:09" */
export function clock(moment: string | number | Date): string {
  return exact(moment).slice(11, 19);
}

/** "2026-03-01" in the browser's own zone. */
export function day(moment: string | number | Date): string {
  return exact(moment).slice(0, 10);
}

/** The label of a point on a time axis, by the length of a point. */
export function axisLabel(moment: string, interval: "minute" | "hour" | "day"): string {
  const at = new Date(moment);
  if (interval === "day") return dayOfYear.format(at);
  const time = exact(at).slice(11, 16);
  if (interval === "hour" && at.getHours() === 0)
    return dayOfYear.format(at);
  return time;
}
