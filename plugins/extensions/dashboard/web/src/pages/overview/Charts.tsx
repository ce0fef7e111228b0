import { SimpleGrid } from "@mantine/core";

import { compact, count, duration, money } from "~/format/numbers";
import { texts } from "~/texts";
import { ChartCard } from "~/ui/charts/ChartCard";
import { groupRows, groupSeries, type Point, type Series, tokens, totalRows } from "~/ui/charts/rows";
import { type ChartRow, TimeChart } from "~/ui/charts/TimeChart";

const overview = texts.overview;

interface Props {
  of: { data: Series | undefined; isPending: boolean; error: unknown; refetch: () => unknown };
  before: Series | undefined;
}

const GROUPED = [
  { title: overview.requestsBy, pick: (point: Point) => point.requests, format: count, empty: overview.noRequests },
  { title: overview.spendBy, pick: (point: Point) => point.cost, format: money, empty: overview.noSpend },
  { title: overview.tokensBy, pick: tokens, format: compact, empty: overview.noRequests },
] as const;

export function Charts({ of, before }: Props) {
  const { data } = of;
  return (
    <>
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="md">
        {GROUPED.map(({ title, pick, format, empty }) => (
          <ChartCard key={title} title={title} of={of} empty={data && !pick(data.total) ? empty : null}>
            {data && (
              <TimeChart
                kind="bars"
                label={title}
                rows={groupRows(data, pick)}
                series={groupSeries(data, overview.other)}
                format={format}
              />
            )}
          </ChartCard>
        ))}
        <Errors of={of} />
        <Times of={of} before={before} title={overview.latencyOver} pick={(point) => point.latencyMs} />
        <Times of={of} before={before} title={overview.ttftOver} pick={(point) => point.ttftMs} />
      </SimpleGrid>
    </>
  );
}

function Errors({ of }: Pick<Props, "of">) {
  const { data } = of;
  return (
    <ChartCard title={overview.errorsOver} of={of} empty={data?.total.errors === 0 ? overview.noErrors : null}>
      {data && (
        <TimeChart
          kind="bars"
          label={overview.errorsOver}
          rows={totalRows(data, { errors: (point) => point.errors })}
          series={[{ name: "errors", label: overview.errors, color: "var(--series-5)" }]}
          format={count}
        />
      )}
    </ChartCard>
  );
}

interface TimesProps extends Props {
  title: string;
  pick: (point: Point) => Point["latencyMs"];
}

function Times({ of, before, title, pick }: TimesProps) {
  const { data } = of;
  const rows = data && withPast(totalRows(data, { p50: (p) => pick(p).p50, p95: (p) => pick(p).p95 }), before, pick);
  const series = [
    { name: "p50", label: overview.p50Label, color: "var(--series-1)" },
    { name: "p95", label: overview.p95Label, color: "var(--series-3)" },
    ...(before ? [{ name: "past", label: overview.p95Before, color: "var(--series-other)", dashed: true }] : []),
  ];
  return (
    <ChartCard title={title} of={of} empty={data && pick(data.total).p50 === null ? overview.noTimes : null}>
      {rows && <TimeChart kind="line" label={title} rows={rows} series={series} format={duration} />}
    </ChartCard>
  );
}

/** Puts what was measured a period earlier beside what was measured now. */
function withPast(rows: readonly ChartRow[], before: Series | undefined, pick: TimesProps["pick"]): readonly ChartRow[] {
  if (!before) return rows;
  return rows.map((row, place) => {
    const point = before.points[place];
    return { ...row, past: point ? pick(point).p95 : null };
  });
}
