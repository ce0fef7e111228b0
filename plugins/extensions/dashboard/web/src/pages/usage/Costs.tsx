/** Figures, a chart and a table of a period, by one or two dimensions. */
import { Box, Button, Group, Menu, Progress, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconDownload, IconReportMoney } from "@tabler/icons-react";
import { useMemo } from "react";

import { query } from "~/api/client";
import { compact, count, money, percent } from "~/format/numbers";
import { texts } from "~/texts";
import { type Column, DataTable } from "~/ui/DataTable";
import { RangePicker, rangeQuery } from "~/ui/filters";
import { ChartCard } from "~/ui/charts/ChartCard";
import { groupRows, groupSeries, type Point, type Series, tokens } from "~/ui/charts/rows";
import { TimeChart } from "~/ui/charts/TimeChart";
import { save } from "~/ui/download";
import { Section } from "~/ui/Section";
import { Segments } from "~/ui/Segments";
import { StatCard } from "~/ui/StatCard";
import { EmptyState, ErrorState } from "~/ui/states";
import { useUrlState } from "~/url/state";
import { toCsv } from "./export";

const usage = texts.usage;
const DEFAULTS = { period: "30d", from: "", to: "", by: "model", then: "", measure: "cost" };
const PERIODS = ["today", "24h", "7d", "30d", "90d", "all"] as const;
const SHOWN = ["24h", "7d", "30d", "90d", "all"] as const;
const CHARTED = 7;
/** Groups that the table lists; the rest is one row. */
const LISTED = 50;

type Dimension = keyof typeof usage.dimensions;
type Measure = keyof typeof usage.measures;
type Group = Series["groups"][number];

const PICK: Record<Measure, { of: (point: Point) => number; format: (value: number) => string }> = {
  cost: { of: (point) => point.cost, format: money },
  requests: { of: (point) => point.requests, format: count },
  tokens: { of: tokens, format: compact },
};
const DIMENSIONS = (Object.keys(usage.dimensions) as Dimension[]).map((value) => ({ value, label: usage.dimensions[value] }));

export function Costs() {
  const [state, setState] = useUrlState(DEFAULTS);
  const by = (state.by in usage.dimensions ? state.by : "model") as Dimension;
  const then = state.then !== by && state.then in usage.dimensions ? (state.then as Dimension) : null;
  const measure = (state.measure in PICK ? state.measure : "cost") as Measure;
  const range = rangeQuery(state, PERIODS, "30d");
  const ask = (groupBy: string, limit: number) =>
    ({ params: { query: { ...range, groupBy: groupBy as Dimension, limit } } }) as const;
  const kept = { placeholderData: (before: Series | undefined) => before };
  const chart = query.useQuery("get", "/api/usage/series", ask(by, CHARTED), kept);
  const table = query.useQuery("get", "/api/usage/series", ask(then ? `${by},${then}` : by, LISTED), kept);
  const rows = useMemo(() => listed(table.data), [table.data]);
  const columns = useColumns(by, then, table.data?.total);
  const { of: pick, format } = PICK[measure];
  const total = chart.data?.total;
  const title = usage.over(usage.measures[measure], usage.dimensions[by]);

  return (
    <Stack gap="md">
      <Group justify="space-between" gap="xs">
        <RangePicker value={state} onChange={setState} periods={SHOWN} />
        <Group gap="xs">
          <Select size="xs" w={130} aria-label={usage.groupBy} data={DIMENSIONS} value={by} onChange={(value) => setState({ by: value })} allowDeselect={false} />
          <Select
            size="xs"
            w={150}
            aria-label={usage.then}
            placeholder={usage.then}
            data={DIMENSIONS.filter(({ value }) => value !== by)}
            value={then}
            onChange={(value) => setState({ then: value })}
            clearable
          />
          <Export rows={rows} by={by} then={then} />
        </Group>
      </Group>
      {(total || !chart.error) && <Figures total={total} />}
      <ChartCard
        title={title}
        of={chart}
        height={260}
        empty={total && pick(total) === 0 ? usage.none : null}
        actions={
          <Segments
            label={usage.measure}
            value={measure}
            onChange={(value) => setState({ measure: value })}
            data={(Object.keys(PICK) as Measure[]).map((value) => ({ value, label: usage.measures[value] }))}
          />
        }
      >
        {chart.data && <TimeChart kind="bars" height={260} label={title} rows={groupRows(chart.data, pick)} series={groupSeries(chart.data, usage.other)} format={format} />}
      </ChartCard>
      <Section flush>
        <DataTable
          label={usage.title}
          columns={columns}
          rows={rows}
          rowId={(row) => row.name + JSON.stringify(row.group)}
          loading={table.isPending}
          sorting={[{ id: "cost", desc: true }]}
          empty={table.error ? <ErrorState error={table.error} onRetry={() => void table.refetch()} /> : <EmptyState icon={IconReportMoney} title={usage.none} />}
        />
      </Section>
    </Stack>
  );
}

function listed(series: Series | undefined): Group[] {
  if (!series) return [];
  return series.other ? [...series.groups, { ...series.other, name: usage.other }] : [...series.groups];
}

function Figures({ total }: { total: Point | undefined }) {
  const unpriced = total?.unpricedRequests ?? 0;
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="xs">
      <StatCard label={usage.cards.cost} value={total && money(total.cost)} />
      <StatCard label={usage.cards.requests} value={total && count(total.requests)} />
      <StatCard label={usage.cards.input} value={total && compact(total.promptTokens)} />
      <StatCard label={usage.cards.cached} value={total && compact(total.cachedTokens)} hint={total && usage.ofTokens(percent(total.promptTokens ? total.cachedTokens / total.promptTokens : 0))} />
      <StatCard label={usage.cards.output} value={total && compact(total.completionTokens)} />
      <StatCard
        label={usage.cards.unpriced}
        value={total && count(unpriced)}
        hint={total && (unpriced > 0 ? <span title={usage.unpricedHint}>{usage.ofCalls(percent(unpriced / total.requests))}</span> : usage.unpricedNone)}
      />
    </SimpleGrid>
  );
}

function useColumns(by: Dimension, then: Dimension | null, total: Point | undefined): Column<Group>[] {
  return useMemo<Column<Group>[]>(() => {
    const named = (dimension: Dimension, place: number): Column<Group> => ({
      id: dimension,
      header: usage.dimensions[dimension],
      accessorFn: (row) => nameOf(row, place, then !== null),
      cell: ({ getValue }) => (
        <Text span truncate fw={place === 0 ? 500 : 400}>
          {getValue()}
        </Text>
      ),
      meta: { width: "minmax(110px, 2fr)" },
    });
    const number = (id: string, header: string, of: (row: Group) => number, format: (value: number) => string, from = 0): Column<Group> => ({
      id,
      header,
      accessorFn: of,
      cell: ({ getValue }) => format(getValue()),
      meta: { align: "right", width: "88px", from },
    });
    return [
      named(by, 0),
      ...(then ? [named(then, 1)] : []),
      number("requests", usage.columns.requests, (row) => row.total.requests, count, 420),
      number("errors", usage.columns.errors, (row) => row.total.errors, count, 980),
      number("input", usage.columns.input, (row) => row.total.promptTokens, compact, 640),
      number("cached", usage.columns.cached, (row) => row.total.cachedTokens, compact, 900),
      number("output", usage.columns.output, (row) => row.total.completionTokens, compact, 640),
      number("perCall", usage.columns.perCall, (row) => (row.total.requests ? row.total.cost / row.total.requests : 0), money, 820),
      number("cost", usage.columns.cost, (row) => row.total.cost, money),
      {
        id: "share",
        header: usage.columns.share,
        accessorFn: (row) => (total?.cost ? row.total.cost / total.cost : 0),
        cell: ({ getValue }) => (
          <Group gap={6} wrap="nowrap">
            <Box flex={1}>
              <Progress value={getValue() * 100} size="sm" aria-label={usage.columns.share} />
            </Box>
            <Text span size="xs" c="dimmed" w={40} ta="right" className="tabular">
              {percent(getValue())}
            </Text>
          </Group>
        ),
        meta: { width: "148px", from: 560 },
      },
    ];
  }, [by, then, total]);
}

/** The names of two dimensions are one text in the API's answer. */
function nameOf(row: Group, place: number, isPair: boolean): string {
  if (!isPair || row.name === usage.other) return place === 0 ? row.name : "";
  const parts = row.name.split(" / ");
  return (parts.length === 2 ? parts[place] : Object.values(row.group)[place]) ?? "";
}

function Export({ rows, by, then }: { rows: readonly Group[]; by: Dimension; then: Dimension | null }) {
  const flat = () =>
    rows.map((row) => ({
      [by]: nameOf(row, 0, then !== null),
      ...(then ? { [then]: nameOf(row, 1, true) } : {}),
      requests: row.total.requests,
      errors: row.total.errors,
      inputTokens: row.total.promptTokens,
      cachedTokens: row.total.cachedTokens,
      outputTokens: row.total.completionTokens,
      costUsd: row.total.cost,
    }));
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={14} />} disabled={rows.length === 0}>
          {usage.export}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => save("usage.csv", "text/csv", toCsv(flat()))}>{usage.csv}</Menu.Item>
        <Menu.Item onClick={() => save("usage.json", "application/json", JSON.stringify(flat(), null, 2))}>{usage.json}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
