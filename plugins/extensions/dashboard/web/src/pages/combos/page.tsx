/** Combos: a table, an editor, and a way to try one. */
import { Badge, Button, Group, Text } from "@mantine/core";
import { IconPlus, IconStack2 } from "@tabler/icons-react";
import { useMemo } from "react";

import { query } from "~/api/client";
import { texts } from "~/texts";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSearch } from "~/ui/filters";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { useUrlState } from "~/url/state";
import { ComboEditor, type Strategies } from "./ComboEditor";
import type { Combo } from "./draft";
import { TryIt } from "./TryIt";

const combos = texts.combos;
const DEFAULTS = { search: "", combo: "", try: "" };
const NO_STRATEGIES: Strategies = {};
const NEW_ONE = "new";

/** A table keeps what it has read of a row, so that a row holds all that is shown of it. */
type Row = Combo & { strategy: string };

export default function CombosPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const all = query.useQuery("get", "/api/combos");
  const settings = query.useQuery("get", "/api/settings");
  const strategies = (settings.data?.comboStrategies ?? NO_STRATEGIES) as Strategies;
  const general = settings.data?.comboStrategy ?? "fallback";
  const rows = useMemo(() => {
    const text = state.search.trim().toLowerCase();
    return (all.data?.combos ?? [])
      .filter((combo) => [combo.name, ...combo.models].some((word) => word.toLowerCase().includes(text)))
      .map((combo): Row => ({ ...combo, strategy: strategies[combo.name]?.fallbackStrategy ?? general }));
  }, [all.data, state.search, strategies, general]);
  const columns = useMemo<Column<Row>[]>(
    () => [
      {
        id: "name",
        header: combos.columns.name,
        accessorFn: (combo) => combo.name,
        cell: ({ getValue }) => (
          <Text span fw={500} truncate>
            {getValue()}
          </Text>
        ),
        meta: { width: "minmax(90px, 1fr)" },
      },
      {
        id: "strategy",
        header: combos.columns.strategy,
        accessorFn: (combo) => combo.strategy,
        cell: ({ getValue }) => combos.strategies[getValue()]?.[0] ?? getValue(),
        meta: { width: "140px", from: 520 },
      },
      {
        id: "members",
        header: combos.columns.members,
        enableSorting: false,
        cell: ({ row }) => (
          <Group gap={4} wrap="nowrap" style={{ overflow: "hidden" }}>
            {row.original.models.map((model, place) => (
              <Badge key={`${model}-${place}`} color={place === 0 ? "iris" : "gray"} style={{ flex: "none" }}>
                {model}
              </Badge>
            ))}
          </Group>
        ),
        meta: { width: "minmax(100px, 3fr)" },
      },
      {
        id: "try",
        header: "",
        enableSorting: false,
        cell: ({ row }) => (
          <Button
            variant="subtle"
            size="compact-xs"
            onClick={(event) => {
              event.stopPropagation();
              setState({ try: row.original.name });
            }}
          >
            {combos.tryIt}
          </Button>
        ),
        meta: { width: "76px", align: "right" },
      },
    ],
    [setState],
  );
  const create = (
    <Button leftSection={<IconPlus size={14} />} onClick={() => setState({ combo: NEW_ONE })}>
      {combos.create}
    </Button>
  );
  const edited = all.data?.combos.find((combo) => combo.id === state.combo);

  return (
    <Page title={combos.title} about={combos.about} actions={create} filters={<FilterSearch value={state.search} onChange={(search) => setState({ search })} label={combos.search} />}>
      {all.error ? (
        <ErrorState error={all.error} onRetry={() => void all.refetch()} />
      ) : (
        <Section flush>
          <DataTable
            label={combos.title}
            columns={columns}
            rows={rows}
            rowId={(combo) => combo.id}
            loading={all.isPending}
            onRowClick={(combo) => setState({ combo: combo.id }, { replace: false })}
            empty={all.data?.combos.length === 0 ? <EmptyState icon={IconStack2} title={combos.none} hint={combos.noneHint} action={create} /> : undefined}
          />
        </Section>
      )}
      {settings.data && (edited || state.combo === NEW_ONE) && (
        <ComboEditor key={state.combo} combo={edited ?? null} strategies={strategies} general={general} onClose={() => setState({ combo: null })} />
      )}
      {state.try && <TryIt name={state.try} onClose={() => setState({ try: null })} />}
    </Page>
  );
}
