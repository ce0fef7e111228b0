import { SimpleGrid } from "@mantine/core";

import { compact, count, duration, money, percent } from "~/format/numbers";
import { texts } from "~/texts";
import { StatCard } from "~/ui/StatCard";
import { errorShare, type Point, type Series, tokens } from "~/ui/charts/rows";

const overview = texts.overview;

interface Figure {
  label: string;
  pick: (point: Point) => number | null;
  format: (value: number | null) => string;
  more?: "good" | "bad" | "neutral";
  color: string;
  hint: (point: Point) => string;
}

const FIGURES: readonly Figure[] = [
  {
    label: overview.requests,
    pick: (point) => point.requests,
    format: count,
    color: "var(--series-1)",
    hint: () => "",
  },
  {
    label: overview.spend,
    pick: (point) => point.cost,
    format: money,
    color: "var(--series-2)",
    hint: (point) => (point.unpricedRequests > 0 ? overview.unpriced(count(point.unpricedRequests)) : ""),
  },
  {
    label: overview.tokens,
    pick: tokens,
    format: compact,
    color: "var(--series-4)",
    hint: (point) => overview.inOut(compact(point.promptTokens), compact(point.completionTokens)),
  },
  {
    label: overview.errors,
    pick: errorShare,
    format: percent,
    more: "bad",
    color: "var(--series-5)",
    hint: (point) => overview.failed(count(point.errors)),
  },
  {
    label: overview.latency,
    pick: (point) => point.latencyMs.p50,
    format: duration,
    more: "bad",
    color: "var(--series-7)",
    hint: (point) => overview.p95(duration(point.latencyMs.p95)),
  },
  {
    label: overview.ttft,
    pick: (point) => point.ttftMs.p50,
    format: duration,
    more: "bad",
    color: "var(--series-3)",
    hint: (point) => overview.p95(duration(point.ttftMs.p95)),
  },
];

interface Props {
  now: Series | undefined;
  before: Series | undefined;
}

/** One card for each figure of the period. */
export function Figures({ now, before }: Props) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs">
      {FIGURES.map(({ label, pick, format, more, color, hint }) => (
        <StatCard
          key={label}
          label={label}
          value={now && format(pick(now.total))}
          hint={now && hint(now.total)}
          change={now && before ? [pick(now.total), pick(before.total)] : undefined}
          comparedWith={before && overview.before(format(pick(before.total)))}
          more={more}
          color={color}
          points={now?.points.map(pick)}
        />
      ))}
    </SimpleGrid>
  );
}
