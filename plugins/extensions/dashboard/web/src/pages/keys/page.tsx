/** The gateway's keys: a table, a sheet for each, and the editor. */
import { Box, Button, Group, Progress, Stack, Text } from "@mantine/core";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useMemo, useState } from "react";

import { query, type Shape } from "~/api/client";
import { compact, count, money, percent } from "~/format/numbers";
import { texts } from "~/texts";
import { CopyField } from "~/ui/copying";
import { type Column, DataTable } from "~/ui/DataTable";
import { Dialog } from "~/ui/Dialog";
import { FilterSearch } from "~/ui/filters";
import { Page } from "~/ui/Page";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { Segments } from "~/ui/Segments";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { useUrlState } from "~/url/state";
import type { KeyRow } from "./draft";
import { KeyEditor } from "./KeyEditor";
import { KeySheet } from "./KeySheet";
import { type KeyState, limitsOf, nearest, shareOf, stateOf, TONES } from "./state";

const keys = texts.keys;
const DEFAULTS = { search: "", state: "all", key: "", edit: "" };
const NEW_ONE = "new";
const EVERY_MS = 15_000;
const CALLS_EVERY_MS = 60_000;

/** A table keeps what it has read of a row, so that a row holds all that is shown of it. */
type Row = KeyRow & { nearest: Shape<"LimitRow"> | null; lastUsed: string | null };
type Made = { name: string; key: string; notices: readonly string[] };

export default function KeysPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const [made, setMade] = useState<Made | null>(null);
  const all = query.useQuery("get", "/api/keys", {}, { refetchInterval: EVERY_MS });
  const usage = query.useQuery("get", "/api/keys/usage", {}, { refetchInterval: EVERY_MS });
  const limits = usage.data?.usage;
  const calls = query.useQuery("get", "/api/usage/stats", { params: { query: { period: "60d" } } }, { refetchInterval: CALLS_EVERY_MS, staleTime: CALLS_EVERY_MS });
  const used = calls.data?.byApiKey;
  const rows = useMemo(
    () =>
      (all.data?.keys ?? [])
        .filter((row) => fits(row, state.search, state.state))
        .map((row): Row => ({ ...row, nearest: nearest(limitsOf(limits?.[row.id])), lastUsed: used?.[row.id]?.lastUsed ?? null })),
    [all.data, limits, used, state.search, state.state],
  );
  const find = (id: string) => all.data?.keys.find((row) => row.id === id) ?? null;
  const selected = find(state.key);
  const edited = find(state.edit);
  const create = (
    <Button leftSection={<IconPlus size={14} />} onClick={() => setState({ edit: NEW_ONE })}>
      {keys.create}
    </Button>
  );
  const isEmpty = all.data?.keys.length === 0;

  return (
    <Page
      title={keys.title}
      about={keys.about}
      actions={create}
      filters={
        <Group gap="xs">
          <FilterSearch value={state.search} onChange={(search) => setState({ search })} label={keys.search} />
          <Segments
            label={keys.state}
            value={state.state}
            onChange={(value) => setState({ state: value })}
            data={(["all", "active", "paused", "expired"] as const).map((value) => ({ value, label: keys.states[value] }))}
          />
        </Group>
      }
    >
      {all.error ? (
        <ErrorState error={all.error} onRetry={() => void all.refetch()} />
      ) : (
        <Section flush>
          <DataTable
            label={keys.title}
            columns={COLUMNS}
            rows={rows}
            rowId={(row) => row.id}
            loading={all.isPending}
            height="calc(100dvh - 220px)"
            onRowClick={(row) => setState({ key: row.id }, { replace: false })}
            selectedId={state.key}
            empty={isEmpty ? <EmptyState icon={IconKey} title={keys.none} hint={keys.noneHint} action={create} /> : undefined}
          />
        </Section>
      )}
      {selected && <KeySheet key={selected.id} row={selected} onClose={() => setState({ key: null })} onEdit={() => setState({ edit: selected.id })} />}
      {(edited || state.edit === NEW_ONE) && <KeyEditor key={state.edit} row={edited} onClose={() => setState({ edit: null })} onMade={setMade} />}
      {made && (
        <Dialog onClose={() => setMade(null)} title={keys.madeTitle} closeOnClickOutside={false}>
          <Stack>
            <Text>{keys.madeHint}</Text>
            <CopyField label={made.name} value={made.key} />
            {made.notices.map((notice) => (
              <Text key={notice} size="xs" c="var(--warn)">
                {notice}
              </Text>
            ))}
            <Button onClick={() => setMade(null)} data-autofocus>
              {keys.made}
            </Button>
          </Stack>
        </Dialog>
      )}
    </Page>
  );
}

function fits(row: KeyRow, search: string, state: string): boolean {
  const text = search.trim().toLowerCase();
  const found = [row.name, row.id, ...row.groups].some((word) => word.toLowerCase().includes(text));
  return found && (state === "all" || stateOf(row) === (state as KeyState));
}

const COLUMNS: Column<Row>[] = [
  {
    id: "name",
    header: keys.columns.name,
    accessorFn: (row) => row.name.toLowerCase(),
    cell: ({ row: { original } }) => (
      <Group gap={8} wrap="nowrap">
        <StatusDot tone={TONES[stateOf(original)]} label={keys.states[stateOf(original)]} />
        <Text span truncate fw={500}>
          {original.name}
        </Text>
        {original.groups.length > 0 && (
          <Text span size="xs" c="dimmed" truncate>
            {original.groups.join(", ")}
          </Text>
        )}
      </Group>
    ),
    meta: { width: "minmax(120px, 2fr)" },
  },
  { id: "requests", header: keys.columns.requests, accessorFn: (row) => row.usage.totalRequests, cell: ({ getValue }) => count(getValue()), meta: { align: "right", width: "92px", from: 560 } },
  { id: "tokens", header: keys.columns.tokens, accessorFn: (row) => row.usage.totalTokens, cell: ({ getValue }) => compact(getValue()), meta: { align: "right", width: "84px", from: 640 } },
  { id: "spend", header: keys.columns.spend, accessorFn: (row) => row.usage.totalCost, cell: ({ getValue }) => money(getValue()), meta: { align: "right", width: "84px" } },
  {
    id: "limit",
    header: keys.columns.limit,
    accessorFn: (row) => (row.nearest ? shareOf(row.nearest) : -1),
    cell: ({ row }) => <Nearest row={row.original.nearest} />,
    meta: { width: "minmax(120px, 1.4fr)", from: 480 },
  },
  {
    id: "used",
    header: () => <span title={keys.usedHint}>{keys.columns.used}</span>,
    accessorFn: (row) => row.lastUsed ?? "",
    cell: ({ row }) => <RelativeTime at={row.original.lastUsed} />,
    meta: { width: "100px", from: 520 },
  },
  {
    id: "expires",
    header: keys.columns.expires,
    accessorFn: (row) => (row.expiresAt ? Date.parse(row.expiresAt) : Number.POSITIVE_INFINITY),
    cell: ({ row }) => <RelativeTime at={row.original.expiresAt} none={keys.never} />,
    meta: { width: "112px", from: 760 },
  },
];

function Nearest({ row }: { row: Row["nearest"] }) {
  if (!row) return <Text span c="dimmed">{keys.unlimited}</Text>;
  const share = shareOf(row);
  return (
    <Group gap={8} wrap="nowrap" title={row.label}>
      <Box flex={1} miw={40}>
        <Progress value={Math.min(100, share * 100)} size="sm" color={share >= 1 ? "red" : share >= 0.8 ? "orange" : "iris"} aria-label={row.label} />
      </Box>
      <Text span size="xs" c="dimmed" className="tabular" w={36} ta="right">
        {percent(share)}
      </Text>
    </Group>
  );
}
