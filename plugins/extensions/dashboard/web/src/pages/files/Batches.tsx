/** The batches of all keys: how far each is, and a sheet with its counts, errors and files. */
import { Box, Button, Group, Stack, Text } from "@mantine/core";
import { IconFilterOff, IconStackPush } from "@tabler/icons-react";

import { query } from "~/api/client";
import { texts } from "~/texts";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSelect } from "~/ui/filters";
import { pageOf, Pager } from "~/ui/Pager";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { useUrlState } from "~/url/state";
import { type BatchRow, type BatchState, isOpen, STATES, TONES } from "./batch";
import { BatchProgress } from "./BatchProgress";
import { BatchSheet } from "./BatchSheet";
import { Upload } from "./Files";
import { nameOf, useOwners } from "./owners";

const { batches, owner: ownerLabel } = texts.files;
const common = texts.common;
const DEFAULTS = { owner: "", status: "", batch: "", page: "1" };
const PAGE = 50;
/** While something moves, and while nothing does. */
const SOON_MS = 1500;
const LATER_MS = 10_000;
const CHOICES = [{ value: "open", label: batches.open }, ...STATES];
const HAND_IN = `

curl ${window.location.origin}/v1/batches \\
  -H "Authorization: Bearer $GATEWAY_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"input_file_id": "file_…", "endpoint": "/v1/chat/completions"}'`;

const COLUMNS: Column<BatchRow>[] = [
  {
    accessorKey: "id",
    header: batches.columns.batch,
    cell: ({ row: { original } }) => (
      <Box miw={0} maw={{ base: 150, sm: "none" }}>
        <Group gap={6} wrap="nowrap">
          <Box hiddenFrom="sm">
            <StatusDot tone={TONES[original.status]} label={batches.states[original.status]} />
          </Box>
          <Text truncate size="xs" fw={500}>{original.endpoint}</Text>
        </Group>
        <Text truncate size="xs" c="dimmed" ff="monospace">{original.id}</Text>
      </Box>
    ),
    meta: { width: "minmax(0, 1.6fr)" },
  },
  { id: "owner", header: batches.columns.owner, cell: ({ row: { original } }) => <Text span truncate>{nameOf(original)}</Text>, meta: { from: 640 } },
  {
    accessorKey: "status",
    header: batches.columns.status,
    cell: ({ row: { original } }) => <StatusDot tone={TONES[original.status]}>{batches.states[original.status]}</StatusDot>,
    meta: { width: "minmax(96px, 1fr)", from: 480 },
  },
  { id: "progress", header: batches.columns.progress, cell: ({ row: { original } }) => <BatchProgress batch={original} />, meta: { width: "minmax(96px, 1.4fr)" } },
  { accessorKey: "createdAt", header: batches.columns.created, cell: ({ row: { original } }) => <RelativeTime at={original.createdAt} />, meta: { width: "104px", from: 760 } },
  {
    id: "ends",
    header: batches.columns.ends,
    cell: ({ row: { original } }) => <RelativeTime at={original.endedAt ?? original.expiresAt} c={original.endedAt ? undefined : "dimmed"} />,
    meta: { width: "104px", from: 900 },
  },
];

export function Batches() {
  const [state, setState] = useUrlState(DEFAULTS);
  const owners = useOwners();
  const page = pageOf(state.page);
  const status = CHOICES.some(({ value }) => value === state.status) ? (state.status as BatchState | "open") : "";
  const found = query.useQuery(
    "get",
    "/api/batches",
    { params: { query: { owner: state.owner, status, limit: PAGE, offset: (page - 1) * PAGE } } },
    {
      placeholderData: (before) => before,
      refetchInterval: ({ state: { data } }) => (data?.rows.some(isOpen) ? SOON_MS : LATER_MS),
    },
  );
  const isFiltered = state.owner !== "" || status !== "";

  return (
    <Stack gap="md">
      <Group gap={6}>
        <FilterSelect label={ownerLabel} value={state.owner} options={owners} onChange={(owner) => setState({ owner, page: null })} />
        <FilterSelect label={batches.status} value={status} options={CHOICES} onChange={(chosen) => setState({ status: chosen, page: null })} />
      </Group>
      {found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Section flush>
          <DataTable
            label={texts.files.tabs.batches}
            columns={COLUMNS}
            rows={found.data?.rows ?? []}
            rowId={({ id }) => id}
            loading={found.isPending}
            sortable={false}
            onRowClick={({ id }) => setState({ batch: id }, { replace: false })}
            selectedId={state.batch}
            empty={
              isFiltered ? (
                <EmptyState
                  icon={IconFilterOff}
                  title={batches.noMatch}
                  hint={batches.noMatchHint}
                  action={<Button variant="default" onClick={() => setState({ owner: null, status: null, page: null })}>{common.clearFilters}</Button>}
                />
              ) : (
                <EmptyState icon={IconStackPush} title={batches.none} hint={batches.noneHint} action={<Upload more={HAND_IN} />} />
              )
            }
          />
          {found.data && <Pager page={page} size={PAGE} total={found.data.total} onChange={(next) => setState({ page: String(next) }, { replace: false })} />}
        </Section>
      )}
      <BatchSheet id={state.batch} onClose={() => setState({ batch: null })} />
    </Stack>
  );
}
