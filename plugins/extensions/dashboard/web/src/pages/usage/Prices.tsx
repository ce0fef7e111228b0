/** The prices in use, where each comes from, and those of the operator's own. */
import { Autocomplete, Badge, Button, Group, NumberInput, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconCoin, IconPlus } from "@tabler/icons-react";
import { useMemo, useState } from "react";

import { api, messageOf, query, type Shape } from "~/api/client";
import { refresh } from "~/api/cache";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { type Column, DataTable } from "~/ui/DataTable";
import { Dialog } from "~/ui/Dialog";
import { FilterSearch } from "~/ui/filters";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { useUrlState } from "~/url/state";

const { prices } = texts.usage;
const RATES = ["input", "output", "cached", "cache_creation", "reasoning"] as const;
const DEFAULTS = { search: "", price: "" };
const NEW_ONE = "new";

type Rate = (typeof RATES)[number];
type Source = keyof typeof prices.sources;
interface Priced {
  provider: string;
  model: string;
  row: Shape<"PriceRow">;
}

export function Prices() {
  const [state, setState] = useUrlState(DEFAULTS);
  const all = query.useQuery("get", "/api/pricing");
  const rows = useMemo(() => {
    const text = state.search.trim().toLowerCase();
    const listed = Object.entries(all.data ?? {}).flatMap(([provider, models]) =>
      Object.entries(models).map(([model, row]): Priced => ({ provider, model, row })),
    );
    return listed.filter((each) => idOf(each).toLowerCase().includes(text));
  }, [all.data, state.search]);
  const edited = rows.find((each) => idOf(each) === state.price);
  if (all.error) return <ErrorState error={all.error} onRetry={() => void all.refetch()} />;
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Group gap="sm">
          <FilterSearch value={state.search} onChange={(search) => setState({ search })} label={prices.search} />
          <Text size="xs" c="dimmed">
            {prices.about}
          </Text>
        </Group>
        <Button leftSection={<IconPlus size={14} />} onClick={() => setState({ price: NEW_ONE })}>
          {prices.add}
        </Button>
      </Group>
      <Section flush>
        <DataTable
          label={texts.usage.tabs.prices}
          columns={COLUMNS}
          rows={rows}
          rowId={idOf}
          loading={all.isPending}
          height="calc(100dvh - 280px)"
          onRowClick={(row) => setState({ price: idOf(row) })}
          empty={state.search ? undefined : <EmptyState icon={IconCoin} title={prices.none} />}
        />
      </Section>
      {(edited || state.price === NEW_ONE) && <PriceEditor key={state.price} of={edited ?? null} onClose={() => setState({ price: null })} />}
    </Stack>
  );
}

function idOf(each: Priced): string {
  return `${each.provider}/${each.model}`;
}

function sourceOf(row: Shape<"PriceRow">): Source {
  const sources = new Set(Object.values(row.source));
  return sources.has("operator") ? "operator" : sources.has("plugin") ? "plugin" : "list";
}

const rate = (name: Rate, header: string, from = 0): Column<Priced> => ({
  id: name,
  header,
  accessorFn: (each) => each.row[name] ?? -1,
  cell: ({ row }) => dollars(row.original.row[name]),
  meta: { align: "right", width: "84px", from },
});

function dollars(value: number | undefined): string {
  return value === undefined ? "–" : `$${value.toLocaleString("en", { maximumFractionDigits: 6 })}`;
}

const COLUMNS: Column<Priced>[] = [
  {
    id: "model",
    header: prices.columns.model,
    accessorFn: idOf,
    cell: ({ row: { original } }) => (
      <Text span truncate>
        <Text span c="dimmed">
          {original.provider}/
        </Text>
        {original.model}
      </Text>
    ),
    meta: { width: "minmax(140px, 3fr)" },
  },
  rate("input", prices.columns.input),
  rate("cached", prices.columns.cached, 560),
  rate("output", prices.columns.output),
  {
    id: "source",
    header: prices.columns.source,
    accessorFn: (each) => sourceOf(each.row),
    cell: ({ getValue }) => <Badge color={getValue() === "operator" ? "iris" : "gray"}>{prices.sources[getValue() as Source]}</Badge>,
    meta: { width: "88px", from: 440 },
  },
];

function PriceEditor({ of, onClose }: { of: Priced | null; onClose: () => void }) {
  const models = query.useQuery("get", "/api/models");
  const [name, setName] = useState(of ? idOf(of) : "");
  const [rates, setRates] = useState<Partial<Record<Rate, number>>>(() =>
    Object.fromEntries(RATES.filter((each) => of?.row[each] !== undefined).map((each) => [each, of!.row[each]])),
  );
  const [error, setError] = useState<string | null>(null);
  const [provider = "", ...rest] = name.split("/");
  const model = rest.join("/");

  async function run(work: () => Promise<unknown>, done: string) {
    try {
      await work();
      await refresh("/api/pricing", "/api/usage");
      notifyDone(done);
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  const store = () => api.PATCH("/api/pricing", { body: { [provider]: { [model]: rates } } as never });
  const reset = () => api.DELETE("/api/pricing", { params: { query: { provider, model } } });
  return (
    <Dialog onClose={onClose} title={of ? prices.edit(name) : prices.add}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run(store, prices.saved(name));
        }}
      >
        <Stack>
          {!of && <Autocomplete label={prices.model} data={[...new Set(models.data?.models.map((each) => each.fullModel))]} limit={30} value={name} onChange={setName} data-autofocus required />}
          <SimpleGrid cols={2}>
            {RATES.map((each) => (
              <NumberInput
                key={each}
                label={each === "cache_creation" ? prices.cacheCreation : prices[each]}
                value={rates[each] ?? ""}
                onChange={(value) => setRates((before) => ({ ...before, [each]: value === "" ? undefined : Number(value) }))}
                prefix="$"
                min={0}
                decimalScale={6}
                hideControls
              />
            ))}
          </SimpleGrid>
          {error && (
            <Text c="var(--bad)" role="alert">
              {error}
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            {of && sourceOf(of.row) === "operator" && (
              <Button variant="subtle" color="red" onClick={() => void run(reset, prices.wasReset(name))}>
                {prices.reset}
              </Button>
            )}
            <Button variant="default" onClick={onClose}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" disabled={!model || Object.values(rates).every((value) => value === undefined)}>
              {texts.common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
