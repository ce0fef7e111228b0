/** The catalog: every model by kind, with prices, abilities and aliases, and tests of many at once. */
import { Badge, Button, Group, Text } from "@mantine/core";
import { IconCube, IconPlus } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { Link } from "react-router";

import { compact, count, duration } from "~/format/numbers";
import { texts } from "~/texts";
import { confirm } from "~/ui/confirm";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { Segments } from "~/ui/Segments";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { useUrlState } from "~/url/state";
import { AddModel } from "./AddModel";
import { ModelSheet } from "./ModelSheet";
import { type ModelFacts, useModelFacts } from "./rows";
import { type Outcome, useBatch } from "./testing";
import { VisibleModels } from "./VisibleModels";

const models = texts.models;
const DEFAULTS = { search: "", kind: "", provider: "", state: "shown", model: "" };
/** Tests of more at once cost too much by accident. */
const MOST_TESTED = 50;

export default function ModelsPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const [isAdding, setAdding] = useState(false);
  const [isChoosing, setChoosing] = useState(false);
  const all = useModelFacts();
  const batch = useBatch();
  const { search, kind, provider, state: which } = state;
  const rows = useMemo(() => all.facts.filter((row) => fits(row, search, kind, provider, which)), [all.facts, search, kind, provider, which]);
  const columns = useColumns(batch.outcomes);
  const kinds = useMemo(() => [...new Set(all.facts.map((row) => row.kind))].sort(), [all.facts]);
  const prefixes = useMemo(() => [...new Set(all.facts.map((row) => row.prefix))].sort(), [all.facts]);
  const tested = rows.filter((row) => !row.isDisabled).slice(0, MOST_TESTED);
  const selected = all.facts.find((row) => row.full === state.model);

  function test() {
    confirm({
      title: models.testTitle(tested.length),
      body: models.testHint,
      action: models.test,
      destroys: false,
      // Not awaited: the dialog closes, and results come into the table.
      run: async () => void batch.run(tested),
    });
  }

  return (
    <Page
      title={models.title}
      about={models.about}
      actions={
        <>
          {batch.planned > 0 ? (
            <Button variant="default" onClick={batch.stop}>
              {models.testing(batch.done, batch.planned)}: {models.stop}
            </Button>
          ) : (
            <Button variant="default" onClick={test} disabled={tested.length === 0}>
              {models.testShown(tested.length)}
            </Button>
          )}
          <Button leftSection={<IconPlus size={14} />} onClick={() => setAdding(true)}>
            {models.add}
          </Button>
        </>
      }
      filters={
        <Group gap="xs">
          <FilterSearch value={search} onChange={(text) => setState({ search: text })} label={models.search} />
          <FilterSelect label={models.kind} value={kind} options={kinds.map((value) => ({ value, label: value }))} onChange={(value) => setState({ kind: value })} width={130} />
          <FilterSelect label={models.provider} value={provider} options={prefixes.map((value) => ({ value, label: value }))} onChange={(value) => setState({ provider: value })} width={150} />
          <Segments
            label={models.state}
            value={which}
            onChange={(value) => setState({ state: value })}
            data={(["shown", "disabled", "custom", "all"] as const).map((value) => ({ value, label: models.states[value] }))}
          />
          {provider && (
            <Button size="xs" variant="default" onClick={() => setChoosing(true)}>
              {models.visible}
            </Button>
          )}
        </Group>
      }
    >
      {all.error ? (
        <ErrorState error={all.error} onRetry={() => void all.refetch()} />
      ) : (
        <Section flush>
          <Text size="xs" c="dimmed" px="md" py={8} aria-live="polite">
            {all.isPending ? texts.common.loading : models.total(count(rows.length), count(all.facts.length))}
          </Text>
          <DataTable
            label={models.title}
            columns={columns}
            rows={rows}
            rowId={(row) => row.full}
            loading={all.isPending}
            height="calc(100dvh - 252px)"
            onRowClick={(row) => setState({ model: row.full }, { replace: false })}
            selectedId={state.model}
            empty={
              all.facts.length === 0 ? (
                <EmptyState
                  icon={IconCube}
                  title={models.none}
                  hint={models.noneHint}
                  action={
                    <Button component={Link} to="/providers">
                      {models.toProviders}
                    </Button>
                  }
                />
              ) : undefined
            }
          />
        </Section>
      )}
      {selected && <ModelSheet key={`${selected.full} ${selected.alias}`} model={selected} batch={batch} onClose={() => setState({ model: null })} />}
      {isChoosing && provider && <VisibleModels prefix={provider} known={all.facts.filter((row) => row.prefix === provider).map((row) => row.id)} onClose={() => setChoosing(false)} />}
      {isAdding && <AddModel prefixes={prefixes} kinds={kinds} onClose={() => setAdding(false)} />}
    </Page>
  );
}

function fits(row: ModelFacts, search: string, kind: string, provider: string, state: string): boolean {
  const text = search.trim().toLowerCase();
  const isFound = !text || [row.full, row.name, row.alias ?? ""].some((word) => word.toLowerCase().includes(text));
  const isWanted = state === "all" || (state === "disabled" ? row.isDisabled : state === "custom" ? row.isOwn : !row.isDisabled);
  return isFound && isWanted && (!kind || row.kind === kind) && (!provider || row.prefix === provider);
}

function useColumns(outcomes: ReadonlyMap<string, Outcome>): Column<ModelFacts>[] {
  return useMemo<Column<ModelFacts>[]>(
    () => [
      {
        id: "model",
        header: models.columns.model,
        accessorFn: (row) => row.full,
        cell: ({ row: { original } }) => (
          <Text span truncate c={original.isDisabled ? "dimmed" : undefined} td={original.isDisabled ? "line-through" : undefined}>
            <Text span c="dimmed">
              {original.prefix}/
            </Text>
            {original.id}
          </Text>
        ),
        meta: { width: "minmax(150px, 3fr)" },
      },
      { id: "alias", header: models.columns.alias, accessorFn: (row) => row.alias ?? "", cell: ({ getValue }) => (getValue() ? <Badge>{getValue()}</Badge> : null), meta: { width: "110px", from: 760 } },
      { id: "kind", header: models.columns.kind, accessorFn: (row) => row.kind, meta: { width: "92px", from: 520 } },
      { id: "context", header: models.columns.context, accessorFn: (row) => row.context ?? -1, cell: ({ row }) => compact(row.original.context), meta: { align: "right", width: "76px", from: 600 } },
      {
        id: "abilities",
        header: models.columns.abilities,
        accessorFn: (row) => row.abilities.length,
        cell: ({ row }) => (
          <Group gap={4} wrap="nowrap">
            {row.original.abilities.map((each) => (
              <Badge key={each} color="gray">
                {models.abilities[each]}
              </Badge>
            ))}
          </Group>
        ),
        meta: { width: "minmax(130px, 1.6fr)", from: 960 },
      },
      {
        id: "price",
        header: models.columns.price,
        accessorFn: (row) => row.price?.input ?? -1,
        cell: ({ row: { original } }) => (original.price?.input === undefined ? <Text span c="dimmed">–</Text> : `$${original.price.input} / $${original.price.output ?? 0}`),
        meta: { align: "right", width: "120px", from: 680 },
      },
      {
        id: "result",
        header: models.columns.result,
        accessorFn: (row) => {
          const outcome = outcomes.get(row.full);
          return outcome ? Number(outcome.ok) : -1;
        },
        cell: ({ row }) => <Result outcome={outcomes.get(row.original.full)} />,
        meta: { width: "minmax(64px, 1fr)" },
      },
    ],
    [outcomes],
  );
}

function Result({ outcome }: { outcome: Outcome | undefined }) {
  if (!outcome) return null;
  return (
    <Text span truncate title={outcome.error ?? undefined}>
      <StatusDot tone={outcome.ok ? "good" : "bad"}>{outcome.ok ? duration(outcome.latencyMs) : (outcome.error ?? "")}</StatusDot>
    </Text>
  );
}
