/** The routes of this gateway, made of its own OpenAPI document: nothing is fetched from elsewhere. */
import { Badge, Box, Button, Group, Stack, Table, Text, Title } from "@mantine/core";
import { IconApi, IconDownload } from "@tabler/icons-react";
import { useMemo } from "react";

import { query } from "~/api/client";
import { count } from "~/format/numbers";
import { texts } from "~/texts";
import { CodeBlock } from "~/ui/copying";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { SideSheet } from "~/ui/SideSheet";
import { EmptyState, Loaded } from "~/ui/states";
import { useUrlState } from "~/url/state";
import { curlOf, type Document, listOperations, type Operation, outline } from "./document";

const reference = texts.reference;
const DEFAULTS = { search: "", tag: "", route: "" };
const COLORS: Record<string, string> = { GET: "blue", POST: "grape", PUT: "indigo", PATCH: "indigo", DELETE: "red" };

const COLUMNS: Column<Operation>[] = [
  {
    accessorKey: "method",
    header: reference.columns.method,
    cell: ({ row: { original } }) => <Method name={original.method} />,
    meta: { width: "84px" },
  },
  {
    accessorKey: "path",
    header: reference.columns.path,
    cell: ({ row: { original } }) => <Text ff="monospace" size="xs" truncate>{original.path}</Text>,
    meta: { width: "minmax(0, 3fr)" },
  },
  {
    accessorKey: "summary",
    header: reference.columns.purpose,
    cell: ({ row: { original } }) => <Text c="dimmed" truncate>{original.summary}</Text>,
    meta: { width: "minmax(0, 3fr)", from: 560 },
  },
  { accessorKey: "access", header: reference.access, meta: { width: "120px", from: 760 } },
];

function Method({ name }: { name: string }) {
  return <Badge variant="light" color={COLORS[name] ?? "gray"} w={68}>{name}</Badge>;
}

export default function ReferencePage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const found = query.useQuery("get", "/api/openapi.json", {}, { staleTime: Infinity });
  return (
    <Page
      title={reference.title}
      about={reference.about}
      actions={
        <Button component="a" href="/api/openapi.json" download="openapi.json" variant="default" leftSection={<IconDownload size={14} />}>
          {reference.document}
        </Button>
      }
    >
      <Loaded of={found} lines={12}>
        {(document) => <Routes document={document as unknown as Document} state={state} setState={setState} />}
      </Loaded>
    </Page>
  );
}

interface RoutesProps {
  document: Document;
  state: { readonly [Name in keyof typeof DEFAULTS]: string };
  setState: (change: Partial<Record<keyof typeof DEFAULTS, string | null>>, options?: { replace?: boolean }) => void;
}

function Routes({ document, state, setState }: RoutesProps) {
  const all = useMemo(() => listOperations(document), [document]);
  const tags = useMemo(() => [...new Set(all.map(({ tag }) => tag))].sort().map((tag) => ({ value: tag, label: tag })), [all]);
  const term = state.search.trim().toLowerCase();
  const rows = useMemo(
    () => all.filter((each) => (!state.tag || each.tag === state.tag) && `${each.id} ${each.summary}`.toLowerCase().includes(term)),
    [all, state.tag, term],
  );
  const selected = all.find(({ id }) => id === state.route);
  return (
    <>
      <Group gap={6}>
        <FilterSearch label={reference.search} value={state.search} onChange={(search) => setState({ search })} />
        <FilterSelect label={reference.all} value={state.tag} options={tags} onChange={(tag) => setState({ tag })} />
        <Text size="xs" c="dimmed" aria-live="polite">{reference.total(count(rows.length))}</Text>
      </Group>
      <Section flush>
        <DataTable
          label={reference.title}
          columns={COLUMNS}
          rows={rows}
          rowId={({ id }) => id}
          height="max(360px, calc(100dvh - 240px))"
          onRowClick={({ id }) => setState({ route: id }, { replace: false })}
          selectedId={state.route}
          empty={<EmptyState icon={IconApi} title={reference.none} />}
        />
      </Section>
      <SideSheet
        opened={selected !== undefined}
        onClose={() => setState({ route: null })}
        title={selected?.summary}
        about={selected && <Group gap={6}><Method name={selected.method} /><Text ff="monospace" size="xs">{selected.path}</Text></Group>}
      >
        {selected && <Details operation={selected} document={document} />}
      </SideSheet>
    </>
  );
}

function Details({ operation, document }: { operation: Operation; document: Document }) {
  return (
    <Stack gap="md">
      <Box>
        <Text fw={500}>{reference.access}: {operation.access}</Text>
        <Text c="dimmed" size="xs">{document["x-gateway-access"]?.[operation.access]}</Text>
      </Box>
      {operation.parameters.length > 0 && (
        <Stack gap={4}>
          <Title order={3}>{reference.parameters}</Title>
          <Table verticalSpacing={4}>
            <Table.Tbody>
              {operation.parameters.map((each) => (
                <Table.Tr key={`${each.in}-${each.name}`}>
                  <Table.Td><Text ff="monospace" size="xs">{each.name}</Text></Table.Td>
                  <Table.Td><Text size="xs" c="dimmed">{each.in}{each.required ? `, ${reference.required}` : ""}</Text></Table.Td>
                  <Table.Td><Text size="xs">{each.description}</Text></Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Stack>
      )}
      {operation.body && <Shape title={reference.body} text={outline(operation.body, document)} />}
      {operation.answer && <Shape title={reference.answer} text={outline(operation.answer, document)} />}
      <Shape title={reference.curl} text={curlOf(operation, window.location.origin)} />
    </Stack>
  );
}

function Shape({ title, text }: { title: string; text: string }) {
  return (
    <Stack gap={4}>
      <Title order={3}>{title}</Title>
      <CodeBlock code={text} label={title} />
    </Stack>
  );
}
