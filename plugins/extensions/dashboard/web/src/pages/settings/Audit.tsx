/** Who changed what: filtered by the address, each entry with its old and new values. */
import { Button, Code, Group, Stack, Table, Text } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";

import { query, type Shape } from "~/api/client";
import { count } from "~/format/numbers";
import { exact } from "~/format/times";
import { texts } from "~/texts";
import { CodeBlock } from "~/ui/copying";
import { type Column, DataTable } from "~/ui/DataTable";
import { Facts } from "~/ui/Facts";
import { FilterSearch } from "~/ui/filters";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { SideSheet } from "~/ui/SideSheet";
import { EmptyState, ErrorState } from "~/ui/states";
import { useUrlState } from "~/url/state";

const { audit } = texts.settings;
const DEFAULTS = { action: "", actor: "", address: "", entry: "" };
const PAGE = 100;
const MOST = 200;
type Row = Shape<"AuditRow">;

const COLUMNS: Column<Row>[] = [
  { accessorKey: "at", header: audit.columns.at, cell: ({ row: { original } }) => <RelativeTime at={original.at} />, meta: { width: "120px" } },
  { accessorKey: "action", header: audit.columns.action, cell: ({ getValue }) => <Text ff="monospace" size="xs" truncate>{String(getValue())}</Text> },
  { accessorKey: "actor", header: audit.columns.actor, meta: { from: 480 } },
  {
    id: "target",
    accessorFn: ({ target, detail }) => (typeof detail.name === "string" ? detail.name : (target ?? "")),
    header: audit.columns.target,
    cell: ({ getValue }) => <Text truncate c="dimmed">{String(getValue())}</Text>,
    meta: { from: 600 },
  },
  { accessorKey: "address", header: audit.columns.address, meta: { width: "130px", from: 720 } },
];

export function Audit() {
  const [state, setState] = useUrlState(DEFAULTS);
  const [limit, setLimit] = useState(PAGE);
  const parameters = {
    limit,
    ...(state.action && { action: state.action }),
    ...(state.actor && { actor: state.actor }),
    ...(state.address && { address: state.address }),
  };
  const found = query.useQuery("get", "/api/audit", { params: { query: parameters } });
  const rows = found.data?.rows ?? [];
  const selected = rows.find(({ id }) => String(id) === state.entry);
  return (
    <Stack gap="md">
      <Group gap={6}>
        {(["action", "actor", "address"] as const).map((name) => (
          <FilterSearch key={name} label={audit.filters[name]} value={state[name]} onChange={(value) => setState({ [name]: value.trim() })} width={180} />
        ))}
        <Text size="xs" c="dimmed" aria-live="polite">{found.data && audit.total(count(found.data.total))}</Text>
      </Group>
      {found.error ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : (
        <Section flush>
          <DataTable
            label={texts.settings.tabs.audit}
            columns={COLUMNS}
            rows={rows}
            rowId={({ id }) => String(id)}
            loading={found.isPending}
            height="max(360px, calc(100dvh - 260px))"
            onRowClick={({ id }) => setState({ entry: String(id) }, { replace: false })}
            selectedId={state.entry}
            empty={<EmptyState icon={IconHistory} title={audit.empty} hint={audit.emptyHint} />}
          />
        </Section>
      )}
      {found.data && found.data.total > limit && limit < MOST && (
        <Group justify="center">
          <Button variant="default" onClick={() => setLimit(MOST)}>{audit.more}</Button>
        </Group>
      )}
      <SideSheet opened={selected !== undefined} onClose={() => setState({ entry: null })} title={selected?.action} about={selected && exact(selected.at)}>
        {selected && <Entry row={selected} />}
      </SideSheet>
    </Stack>
  );
}

interface Changed {
  old?: unknown;
  new?: unknown;
}

function Entry({ row }: { row: Row }) {
  const changes = row.detail.changes as Record<string, Changed> | undefined;
  return (
    <Stack gap="md">
      <Facts rows={[[audit.columns.actor, row.actor], [audit.columns.address, row.address], [audit.columns.target, row.target]]} />
      {changes && Object.keys(changes).length > 0 ? (
        <Table verticalSpacing={6} layout="fixed">
          <Table.Thead>
            <Table.Tr>
              {[audit.member, audit.before, audit.after].map((title) => (
                <Table.Th key={title}>{title}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {Object.entries(changes).map(([member, changed]) => (
              <Table.Tr key={member}>
                <Table.Td>{member}</Table.Td>
                <Table.Td><Value of={changed.old} /></Table.Td>
                <Table.Td><Value of={changed.new} /></Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      ) : (
        Object.keys(row.detail).length > 0 && <CodeBlock label={audit.raw} code={JSON.stringify(row.detail, null, 2)} />
      )}
    </Stack>
  );
}

function Value({ of }: { of: unknown }) {
  if (of === undefined || of === null) return <Text c="dimmed">–</Text>;
  return <Code style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{typeof of === "string" ? of : JSON.stringify(of)}</Code>;
}
