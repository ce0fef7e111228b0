/** Every call: filtered by the address, followed live, each with a sheet of its own. */
import { Badge, Box, Button, Group, Switch, Text } from "@mantine/core";
import { IconArrowUp, IconListSearch } from "@tabler/icons-react";
import { useMemo, useRef, useState } from "react";

import { query } from "~/api/client";
import { count } from "~/format/numbers";
import { texts } from "~/texts";
import { DataTable } from "~/ui/DataTable";
import { FilterSearch, FilterSelect, RangePicker } from "~/ui/filters";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { useUrlState } from "~/url/state";
import { useColumns } from "./columns";
import { Histogram } from "./Histogram";
import { type Filter, type HistoryRow, periodFilter, useHistory } from "./history";
import { RequestSheet } from "./RequestSheet";

const requests = texts.requests;
const DEFAULTS = {
  period: "24h",
  from: "",
  to: "",
  status: "",
  provider: "",
  model: "",
  key: "",
  account: "",
  combo: "",
  endpoint: "",
  id: "",
  live: "yes",
  request: "",
};
const PERIODS = ["24h", "7d", "30d", "all"] as const;
const FILTERS = ["status", "provider", "model", "key", "account", "combo", "endpoint", "id"] as const;
/** Rows below which the table is at its top: those drawn ahead of what is in sight. */
const AT_TOP = 14;

export default function RequestsPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const isLive = state.live === "yes";
  const { period, from, to } = state;
  const parts = usePartFilter(state);
  const filter = useMemo<Filter>(
    () => ({ ...parts, ...(parts.requestId ? {} : periodFilter(period, from, to, Date.now())) }),
    [parts, period, from, to],
  );
  const history = useHistory(filter, isLive);
  const columns = useColumns();
  const options = useOptions();
  const table = useRef<HTMLDivElement>(null);
  const [isAtTop, setAtTop] = useState(true);
  const { onRange } = history;
  const isFiltered = FILTERS.some((name) => state[name] !== "");
  const selected = history.rows.find((row) => row?.requestId === state.request);

  return (
    <Page
      title={requests.title}
      actions={
        <Group gap="sm">
          <Switch
            size="xs"
            label={
              <StatusDot tone={!isLive ? "idle" : history.live === "lost" ? "bad" : "good"}>{requests.live}</StatusDot>
            }
            checked={isLive}
            onChange={(event) => setState({ live: event.currentTarget.checked ? "yes" : "no" })}
          />
        </Group>
      }
      filters={
        <Group gap={6}>
          <RangePicker value={state} onChange={setState} periods={PERIODS} />
          {(["status", "provider", "model", "key", "combo"] as const).map((name) => (
            <FilterSelect
              key={name}
              label={requests.filters[name]}
              value={state[name]}
              options={options[name]}
              onChange={(value) => setState({ [name]: value })}
              width={name === "model" ? 136 : 104}
            />
          ))}
          <FilterSearch label={requests.filters.id} value={state.id} onChange={(id) => setState({ id: id.trim() })} width={112} />
          {(["account", "endpoint"] as const).map(
            (name) =>
              state[name] && (
                <Badge key={name} size="lg" component="button" onClick={() => setState({ [name]: null })} style={{ cursor: "pointer" }}>
                  {requests.filters[name]}: {state[name]} ×
                </Badge>
              ),
          )}
          {isFiltered && (
            <Button variant="subtle" color="gray" onClick={() => setState(Object.fromEntries(FILTERS.map((name) => [name, null])))}>
              {texts.common.clearFilters}
            </Button>
          )}
        </Group>
      }
    >
      <Histogram
        period={state}
        filter={parts}
        onZoom={(start, end) => setState({ period: "custom", from: start, to: end, live: null }, { replace: false })}
        following={isLive}
      />
      <Section flush style={{ position: "relative" }}>
        <Group justify="space-between" px="md" py={6} mih={34}>
          <Text size="xs" c="dimmed" aria-live="polite" className="tabular">
            {history.isPending ? texts.common.loading : requests.total(count(history.total))}
          </Text>
        </Group>
        {history.error ? (
          <Box p="md">
            <ErrorState error={history.error} onRetry={history.refetch} />
          </Box>
        ) : (
          <div ref={table}>
            <DataTable
              label={requests.title}
              columns={columns}
              rows={history.rows}
              rowId={(row) => row.requestId}
              sortable={false}
              loading={history.isPending}
              height="max(360px, calc(100dvh - 320px))"
              onRange={(first, last) => {
                setAtTop(first < AT_TOP);
                onRange(first, last);
              }}
              onRowClick={(row) => setState({ request: row.requestId }, { replace: false })}
              selectedId={state.request}
              isFresh={(row: HistoryRow) => history.fresh.has(row.id)}
              empty={<EmptyState icon={IconListSearch} title={requests.empty} hint={requests.emptyHint} />}
            />
          </div>
        )}
        {!isAtTop && history.fresh.size > 0 && (
          <Button
            radius="xl"
            leftSection={<IconArrowUp size={14} />}
            style={{ position: "absolute", top: 76, left: "50%", transform: "translateX(-50%)", zIndex: 3 }}
            onClick={() => table.current?.firstElementChild?.scrollTo({ top: 0 })}
          >
            {requests.fresh(count(history.fresh.size))}
          </Button>
        )}
      </Section>
      <RequestSheet requestId={state.request} row={selected} onClose={() => setState({ request: null })} />
    </Page>
  );
}

type State = { readonly [Name in keyof typeof DEFAULTS]: string };
const STATUSES = ["ok", "error", "client_gone", "upstream_cut"] as const;

/** What is filtered by besides the time, under the names of the API. */
function usePartFilter({ status, provider, model, key, account, combo, endpoint, id }: State): Omit<Filter, "startDate" | "endDate"> {
  return useMemo(() => {
    const known = STATUSES.find((each) => each === status);
    return {
      ...(known && { status: known }),
      ...(provider && { provider }),
      ...(model && { model }),
      ...(key && { apiKeyId: key }),
      ...(account && { connectionId: account }),
      ...(combo && { combo }),
      ...(endpoint && { endpoint }),
      ...(id && { requestId: id }),
    };
  }, [status, provider, model, key, account, combo, endpoint, id]);
}

const LONG_MS = 60_000;

/** The values that filters offer: what was used in the last days. */
function useOptions() {
  const used = query.useQuery("get", "/api/usage/stats", { params: { query: { period: "30d" } } }, { staleTime: LONG_MS });
  const names = query.useQuery("get", "/api/usage/providers", {}, { staleTime: LONG_MS });
  const keys = query.useQuery("get", "/api/keys", {}, { staleTime: LONG_MS });
  const combos = query.useQuery("get", "/api/combos", {}, { staleTime: LONG_MS });
  return useMemo(() => {
    const models = new Set(Object.values(used.data?.byModel ?? {}).flatMap(({ rawModel }) => (rawModel ? [rawModel] : [])));
    return {
      status: STATUSES.map((value) => ({ value, label: requests.statuses[value]! })),
      provider: names.data?.providers.map(({ id, name }) => ({ value: id, label: name })) ?? [],
      model: [...models].sort().map((value) => ({ value, label: value })),
      key: [
        { value: "local-no-key", label: requests.noKey },
        ...(keys.data?.keys.map(({ id, name }) => ({ value: id, label: name })) ?? []),
      ],
      combo: [
        { value: "no-combo", label: requests.noCombo },
        ...(combos.data?.combos.map(({ id, name }) => ({ value: id, label: name })) ?? []),
      ],
    };
  }, [used.data, names.data, keys.data, combos.data]);
}
