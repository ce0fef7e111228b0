import { useMemo } from "react";

import { query } from "~/api/client";
import { count } from "~/format/numbers";
import { texts } from "~/texts";
import { Section } from "~/ui/Section";
import type { Series } from "~/ui/charts/rows";
import { type ChartRow, type ChartSeries, TimeChart } from "~/ui/charts/TimeChart";
import { axisLabel } from "~/format/times";
import { type Range, rangeQuery } from "~/ui/filters";
import type { Filter } from "./history";

const requests = texts.requests;
const PERIODS = ["today", "24h", "7d", "30d", "90d", "all"] as const;
const HEIGHT = 96;
const SERIES: readonly ChartSeries[] = [
  { name: "good", label: requests.statuses.ok!, color: "var(--series-1)" },
  { name: "bad", label: requests.statuses.error!, color: "var(--series-5)" },
];
const FOLLOW_MS = 10_000;

interface Props {
  period: Range;
  filter: Omit<Filter, "startDate" | "endDate">;
  onZoom: (start: string, end: string) => void;
  following: boolean;
}

/** Calls over time with the same filters as the table; a bar leads to its own calls. */
export function Histogram({ period, filter: { requestId: _, ...filter }, onZoom, following }: Props) {
  const series = query.useQuery(
    "get",
    "/api/usage/series",
    { params: { query: { ...rangeQuery(period, PERIODS, "24h"), ...filter } } },
    { placeholderData: (before) => before, refetchInterval: following ? FOLLOW_MS : false },
  );
  const rows = useMemo(() => (series.data ? barsOf(series.data) : []), [series.data]);
  const { data } = series;
  return (
    <Section p="xs" pb={0}>
      <TimeChart
        kind="bars"
        height={HEIGHT}
        legend={false}
        label={requests.histogram}
        rows={rows}
        series={SERIES}
        format={count}
        onChoose={(place) => {
          const start = data?.timestamps[place];
          if (start) onZoom(start, new Date(Date.parse(data.timestamps[place + 1] ?? data.until) - 1).toISOString());
        }}
      />
    </Section>
  );
}

function barsOf(series: Series): ChartRow[] {
  return series.timestamps.map((at, place) => {
    const { requests: all, errors } = series.points[place]!;
    return { at: axisLabel(at, series.interval), good: all - errors, bad: errors };
  });
}
