/**
 * What stands for the values of a chart. The drawing is stretched to the space there is: a point in
 * time is one unit wide, and everything is 100 units high.
 */
import { memo } from "react";

import type { ChartRow, ChartSeries } from "./TimeChart";

interface Props {
  kind: "bars" | "line";
  rows: readonly ChartRow[];
  series: readonly ChartSeries[];
  /** The value at the upper edge. */
  top: number;
}

const BAR = 0.72;
/** As many bars as these are the broadest; fewer would be beams. */
const BROAD = 12;

export const Marks = memo(function Marks({ kind, rows, series, top }: Props) {
  return kind === "bars"
    ? barsOf(rows, series, top).map((path, place) => <path key={series[place]!.name} d={path} fill={series[place]!.color} />)
    : series.map(({ name, color, dashed }) => {
        const path = lineOf(rows, name, top);
        return (
          <g key={name} fill="none" stroke={color}>
            <path
              d={path}
              strokeWidth={1.75}
              strokeLinejoin="round"
              strokeDasharray={dashed ? "4 4" : undefined}
              vectorEffect="non-scaling-stroke"
            />
            {/* A point without neighbours makes no line; a round cap without length is a dot. */}
            {path !== "" && !path.includes("L") && <path d={`${path}h0`} strokeWidth={6} strokeLinecap="round" vectorEffect="non-scaling-stroke" />}
          </g>
        );
      });
});

/** For each series the outline of all its bars, which stand on those of the series before. */
export function barsOf(rows: readonly ChartRow[], series: readonly ChartSeries[], top: number): string[] {
  const width = BAR * Math.min(1, rows.length / BROAD);
  const feet = rows.map(() => 100);
  return series.map(({ name }) =>
    rows
      .map((row, place) => {
        const size = (valueOf(row, name) / top) * 100;
        if (size === 0) return "";
        feet[place]! -= size;
        return `M${place + (1 - width) / 2} ${feet[place]!.toFixed(2)}h${width}v${size.toFixed(2)}h${-width}z`;
      })
      .join(""),
  );
}

/** A line through the values that are known. */
export function lineOf(rows: readonly ChartRow[], name: string, top: number): string {
  const known = rows.flatMap((row, place) =>
    row[name] == null ? [] : [`${place + 0.5} ${(100 - (valueOf(row, name) / top) * 100).toFixed(2)}`],
  );
  return known.length === 0 ? "" : `M${known.join("L")}`;
}

export function valueOf(row: ChartRow, name: string): number {
  return Number(row[name] ?? 0);
}
