/** What is installed, its state, and its settings. */
import { Badge, Box, Group, Text } from "@mantine/core";
import { IconPuzzle } from "@tabler/icons-react";
import { useMemo } from "react";

import { query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot, type Tone } from "~/ui/status";
import { useUrlState } from "~/url/state";
import { PluginSheet } from "./PluginSheet";

const plugins = texts.plugins;
const DEFAULTS = { search: "", state: "", plugin: "" };
type Row = Shape<"Row">;

const STATES: Record<Row["state"], { label: string; tone: Tone }> = {
  loaded: { label: plugins.states.loaded, tone: "good" },
  failed: { label: plugins.states.failed, tone: "bad" },
  disabled: { label: plugins.states.disabled, tone: "idle" },
  blocked: { label: plugins.states.blocked, tone: "idle" },
  "refused by the lock": { label: plugins.states.locked, tone: "bad" },
  "not on the allow list": { label: plugins.states.unlisted, tone: "idle" },
};
/** Colours of the dot beside the word. */
const TIERS: Record<Row["tier"], string> = {
  platinum: "#7c6fd6",
  gold: "#d4a017",
  silver: "#9aa3ad",
  bronze: "#b0713a",
  failing: "var(--bad)",
  unchecked: "transparent",
};

const COLUMNS: Column<Row>[] = [
  {
    accessorKey: "name",
    header: plugins.columns.name,
    cell: ({ row: { original } }) => <Text fw={500} truncate>{original.name}</Text>,
    meta: { width: "minmax(0, 2fr)" },
  },
  {
    accessorKey: "state",
    header: plugins.columns.state,
    cell: ({ row: { original } }) => <PluginState plugin={original} />,
    meta: { width: "minmax(0, 1.4fr)" },
  },
  { accessorKey: "version", header: plugins.columns.version, meta: { width: "80px", from: 560 } },
  {
    accessorKey: "tier",
    header: plugins.columns.tier,
    cell: ({ row: { original } }) => <Tier tier={original.tier} />,
    meta: { width: "110px", from: 480 },
  },
  {
    id: "brings",
    accessorFn: ({ brings }) => brings.join(", "),
    header: plugins.columns.brings,
    cell: ({ getValue }) => <Text c="dimmed" truncate>{String(getValue())}</Text>,
    meta: { width: "minmax(0, 3fr)", from: 720 },
  },
  {
    id: "problems",
    accessorFn: ({ problems }) => problems.length,
    header: plugins.columns.problems,
    cell: ({ row: { original } }) =>
      original.problems.length > 0 && (
        <Badge color={original.problems.some(({ fatal }) => fatal) ? "red" : "orange"}>{original.problems.length}</Badge>
      ),
    meta: { width: "90px", align: "right", from: 420 },
  },
];

export function PluginState({ plugin }: { plugin: Pick<Row, "state" | "enabled"> }) {
  const { label, tone } = STATES[plugin.state];
  const isLoaded = plugin.state === "loaded";
  const next = isLoaded === plugin.enabled || (!isLoaded && plugin.state !== "disabled") ? null : plugin.enabled;
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      <StatusDot tone={tone}>{label}</StatusDot>
      {next !== null && <Text size="xs" c="dimmed" truncate>{next ? plugins.on : plugins.off}</Text>}
    </Group>
  );
}

export function Tier({ tier }: { tier: Row["tier"] }) {
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex">
      <Box w={9} h={9} bg={TIERS[tier]} style={{ borderRadius: 2, border: "1px solid var(--mantine-color-default-border)" }} aria-hidden />
      <Text span inherit c={tier === "unchecked" ? "dimmed" : undefined}>{tier}</Text>
    </Group>
  );
}

export default function PluginsPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const found = query.useQuery("get", "/api/plugins");
  const rows = useMemo(() => {
    const term = state.search.trim().toLowerCase();
    return (found.data?.plugins ?? []).filter(
      (each) =>
        (!state.state || each.state === state.state) &&
        [each.name, each.distribution ?? "", ...each.brings].some((text) => text.toLowerCase().includes(term)),
    );
  }, [found.data, state]);
  const options = Object.entries(STATES).map(([value, { label }]) => ({ value, label }));

  return (
    <Page
      title={plugins.title}
      about={plugins.about}
      filters={
        <Group gap={6}>
          <FilterSearch label={plugins.filters.search} value={state.search} onChange={(search) => setState({ search })} />
          <FilterSelect label={plugins.filters.state} value={state.state} options={options} onChange={(value) => setState({ state: value })} />
        </Group>
      }
    >
      {found.error ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : (
        <Section flush>
          <DataTable
            label={plugins.title}
            columns={COLUMNS}
            rows={rows}
            rowId={({ name }) => name}
            loading={found.isPending}
            sorting={[{ id: "name", desc: false }]}
            height="max(360px, calc(100dvh - 210px))"
            onRowClick={({ name }) => setState({ plugin: name }, { replace: false })}
            selectedId={state.plugin}
            empty={<EmptyState icon={IconPuzzle} title={plugins.empty} hint={plugins.emptyHint} />}
          />
        </Section>
      )}
      <PluginSheet name={state.plugin} onClose={() => setState({ plugin: null })} />
    </Page>
  );
}
