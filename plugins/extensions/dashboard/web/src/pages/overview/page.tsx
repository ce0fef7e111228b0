/** What goes through the gateway: figures, charts, the health of accounts, what happens now. */
import { Button, Group, Select, SimpleGrid, Switch } from "@mantine/core";
import { IconBolt } from "@tabler/icons-react";
import { useEffect, useRef } from "react";
import { Link } from "react-router";

import { refresh } from "~/api/cache";
import { query } from "~/api/client";
import { useOnEvent, useUsage } from "~/api/live";
import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { periodBefore } from "~/ui/charts/rows";
import { RangePicker, rangeQuery } from "~/ui/filters";
import { EmptyState } from "~/ui/states";
import { useUrlState } from "~/url/state";
import { Busiest } from "./Busiest";
import { Charts } from "./Charts";
import { Figures } from "./Figures";
import { Health } from "./Health";
import { Now } from "./Now";

const overview = texts.overview;
const DEFAULTS = { period: "24h", from: "", to: "", by: "model", compare: "yes" };
const PERIODS = ["today", "24h", "7d", "30d", "90d", "all"] as const;
const SHOWN = ["24h", "7d", "30d", "90d"] as const;
const SERIES = "/api/usage/series";
const GROUPS = 6;
/** Charts follow the calls, but not each of them. */
const REFRESH_MS = 5_000;

export type Dimension = keyof typeof overview.dimensions;

export default function OverviewPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const live = useUsage("today");
  useFollowing(live);
  const by = (state.by in overview.dimensions ? state.by : "model") as Dimension;
  const range = rangeQuery(state, PERIODS, "24h");
  const series = query.useQuery(
    "get",
    SERIES,
    { params: { query: { ...range, groupBy: by, limit: GROUPS } } },
    { placeholderData: (before) => before },
  );
  const compared = state.compare === "yes" && series.data ? periodBefore(series.data) : null;
  const before = query.useQuery(
    "get",
    SERIES,
    { params: { query: compared ?? {} } },
    { enabled: compared !== null && state.period !== "all", placeholderData: (data) => data },
  );
  const past = compared && state.period !== "all" ? before.data : undefined;
  // Until the stream begins, a period without calls is taken for a gateway without any.
  const isUnused = (live.value?.totalRequests ?? 0) === 0 && series.data?.total.requests === 0;

  return (
    <Page
      title={overview.title}
      actions={
        <Switch
          size="xs"
          label={overview.compare}
          checked={state.compare === "yes"}
          onChange={(event) => setState({ compare: event.currentTarget.checked ? "yes" : "no" })}
        />
      }
      filters={
        <Group justify="space-between" gap="xs">
          <RangePicker value={state} onChange={setState} periods={SHOWN} />
          <Select
            aria-label={overview.by}
            w={128}
            allowDeselect={false}
            // Its list is laid out when it is opened; the page is there sooner.
            comboboxProps={{ keepMounted: false }}
            value={by}
            onChange={(value) => setState({ by: value })}
            data={Object.entries(overview.dimensions).map(([value, label]) => ({ value, label }))}
          />
        </Group>
      }
    >
      {(series.data || !series.error) && <Figures now={series.data} before={past} />}
      <Health />
      {isUnused ? (
        <EmptyState
          icon={IconBolt}
          title={overview.empty}
          hint={overview.emptyHint}
          action={
            <Button component={Link} to="/start">
              {overview.emptyAction}
            </Button>
          }
        />
      ) : (
        <>
          <Charts of={series} before={past} />
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            {series.data && <Busiest groups={series.data.groups} by={by} />}
            <Now live={live} />
          </SimpleGrid>
        </>
      )}
    </Page>
  );
}

/** Reads the series again after each call, several calls together. */
function useFollowing(live: ReturnType<typeof useUsage>): void {
  const readAt = useRef(Date.now());
  const due = useRef(0);
  useEffect(() => () => window.clearTimeout(due.current), []);
  useOnEvent(live, () => {
    // Not left out within the time: this may be the last call for long.
    due.current ||= window.setTimeout(() => {
      due.current = 0;
      readAt.current = Date.now();
      void refresh(SERIES);
    }, readAt.current + REFRESH_MS - Date.now());
  });
}
