/** From a series of the API to what a chart takes. */
import type { Shape } from "~/api/client";
import { axisLabel } from "~/format/times";
import { OTHER_COLOR, SERIES_COLORS } from "~/theme";
import type { ChartRow, ChartSeries } from "./TimeChart";

export type Series = Shape<"Series">;
export type Point = Shape<"Point">;

/** One row for each point in time, with a member for each group: `g0`, `g1`, … and `other`. */
export function groupRows(series: Series, pick: (point: Point) => number | null): ChartRow[] {
  return series.timestamps.map((at, place) => {
    const row: Record<string, string | number | null> = { at: axisLabel(at, series.interval) };
    series.groups.forEach((group, number) => {
      row[`g${number}`] = pick(group.points[place]!);
    });
    if (series.other) row.other = pick(series.other.points[place]!);
    return row;
  });
}

/** The groups as series of a chart, in the order of the API: the busiest first. */
export function groupSeries(series: Series, otherLabel: string): ChartSeries[] {
  const shown = series.groups.map((group, number) => ({
    name: `g${number}`,
    label: group.name,
    color: SERIES_COLORS[number % SERIES_COLORS.length]!,
  }));
  return series.other ? [...shown, { name: "other", label: otherLabel, color: OTHER_COLOR }] : shown;
}

/** One row for each point in time, with a member for each figure. */
export function totalRows(series: Series, figures: Record<string, (point: Point) => number | null>): ChartRow[] {
  return series.timestamps.map((at, place) => {
    const row: Record<string, string | number | null> = { at: axisLabel(at, series.interval) };
    for (const [name, pick] of Object.entries(figures)) row[name] = pick(series.points[place]!);
    return row;
  });
}

/** The share of calls that failed; null without calls. */
export function errorShare(point: Point): number | null {
  return point.requests === 0 ? null : point.errors / point.requests;
}

export function tokens(point: Point): number {
  return point.promptTokens + point.completionTokens;
}

/** The stretch of the same length that ends where `series` begins. */
export function periodBefore(series: Series): { startDate: string; endDate: string; interval: Series["interval"] } | null {
  const [first] = series.timestamps;
  if (first === undefined) return null;
  const start = Date.parse(first);
  const length = Date.parse(series.until) - start;
  return {
    startDate: new Date(start - length).toISOString(),
    // An end is inclusive.
    endDate: new Date(start - 1).toISOString(),
    interval: series.interval,
  };
}
