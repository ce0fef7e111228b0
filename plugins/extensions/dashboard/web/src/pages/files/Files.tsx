/** The files of all keys: filtered by the address, downloaded and deleted. */
import { ActionIcon, Box, Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconDownload, IconFileOff, IconFiles, IconTrash } from "@tabler/icons-react";

import { refresh } from "~/api/cache";
import { api, query, type Shape } from "~/api/client";
import { size } from "~/format/numbers";
import { texts } from "~/texts";
import { confirm, notifyDone } from "~/ui/confirm";
import { CodeBlock } from "~/ui/copying";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { pageOf, Pager } from "~/ui/Pager";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { useUrlState } from "~/url/state";
import { nameOf, useOwners } from "./owners";
import { Space } from "./Space";

const files = texts.files;
const common = texts.common;
const DEFAULTS = { search: "", owner: "", purpose: "", page: "1" };
const PAGE = 50;
const EVERY_MS = 15_000;
type Row = Shape<"StoredFile">;

export function contentOf(id: string): string {
  return `/api/files/${encodeURIComponent(id)}/content`;
}

const COLUMNS: Column<Row>[] = [
  {
    accessorKey: "filename",
    header: files.columns.name,
    cell: ({ row: { original } }) => (
      <Tooltip label={original.id}>
        <Text span truncate fw={500} maw={{ base: 150, sm: "none" }} display="block">
          {original.filename}
        </Text>
      </Tooltip>
    ),
    meta: { width: "minmax(0, 2.4fr)" },
  },
  { accessorKey: "purpose", header: files.columns.purpose, cell: ({ getValue }) => <Text span c="dimmed" truncate>{String(getValue())}</Text>, meta: { width: "112px", from: 720 } },
  {
    accessorKey: "bytes",
    header: files.columns.size,
    cell: ({ getValue }) => size(getValue() as number),
    meta: { width: "76px", align: "right" },
  },
  { id: "owner", header: files.columns.owner, cell: ({ row: { original } }) => <Text span truncate>{nameOf(original)}</Text>, meta: { from: 520 } },
  { accessorKey: "createdAt", header: files.columns.created, cell: ({ row: { original } }) => <RelativeTime at={original.createdAt} />, meta: { width: "112px", from: 420 } },
  { accessorKey: "expiresAt", header: files.columns.expires, cell: ({ row: { original } }) => <RelativeTime at={original.expiresAt} none={files.never} />, meta: { width: "112px", from: 860 } },
  { id: "actions", header: "", cell: ({ row: { original } }) => <Actions file={original} />, meta: { width: "76px", align: "right" } },
];

export function Files() {
  const [state, setState] = useUrlState(DEFAULTS);
  const owners = useOwners();
  const usage = query.useQuery("get", "/api/files/usage", {}, { refetchInterval: EVERY_MS });
  const page = pageOf(state.page);
  const { search, owner, purpose } = state;
  const found = query.useQuery(
    "get",
    "/api/files",
    { params: { query: { search, owner, purpose, limit: PAGE, offset: (page - 1) * PAGE } } },
    { refetchInterval: EVERY_MS, placeholderData: (before) => before },
  );
  const isFiltered = search !== "" || owner !== "" || purpose !== "";
  const clear = { search: null, owner: null, purpose: null, page: null };

  return (
    <Stack gap="md">
      {usage.data && usage.data.files > 0 && <Space usage={usage.data} owner={owner} onOwner={(chosen) => setState({ owner: chosen, page: null })} />}
      <Group gap={6}>
        <FilterSearch label={files.search} value={search} onChange={(text) => setState({ search: text.trim(), page: null })} />
        <FilterSelect label={files.owner} value={owner} options={owners} onChange={(chosen) => setState({ owner: chosen, page: null })} />
        <FilterSelect
          label={files.purpose}
          value={purpose}
          options={(usage.data?.purposes ?? []).map((value) => ({ value, label: value }))}
          onChange={(chosen) => setState({ purpose: chosen, page: null })}
        />
        {found.data && isFiltered && (
          <Text size="xs" c="dimmed" aria-live="polite">
            {files.usage.total(size(found.data.bytes), String(found.data.total))}
          </Text>
        )}
      </Group>
      {found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Section flush>
          <DataTable
            label={files.tabs.files}
            columns={COLUMNS}
            rows={found.data?.rows ?? []}
            rowId={({ id }) => id}
            loading={found.isPending}
            sortable={false}
            empty={
              isFiltered ? (
                <EmptyState
                  icon={IconFileOff}
                  title={files.noMatch}
                  hint={files.noMatchHint}
                  action={<Button variant="default" onClick={() => setState(clear)}>{common.clearFilters}</Button>}
                />
              ) : (
                <EmptyState icon={IconFiles} title={files.none} hint={files.noneHint} action={<Upload />} />
              )
            }
          />
          {found.data && <Pager page={page} size={PAGE} total={found.data.total} onChange={(next) => setState({ page: String(next) }, { replace: false })} />}
        </Section>
      )}
    </Stack>
  );
}

/** The command by which the first file comes here. */
export function Upload({ more = "" }: { more?: string }) {
  const { origin } = window.location;
  const code = `curl ${origin}/v1/files \\\n  -H "Authorization: Bearer $GATEWAY_KEY" \\\n  -F purpose=batch -F file=@requests.jsonl${more}`;
  return (
    <Box maw="min(560px, calc(100vw - 96px))" ta="left">
      <CodeBlock code={code} label={files.none} />
    </Box>
  );
}

function Actions({ file }: { file: Row }) {
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      <ActionIcon component="a" href={contentOf(file.id)} download={file.filename} aria-label={files.download(file.filename)}>
        <IconDownload size={16} stroke={1.6} />
      </ActionIcon>
      <ActionIcon onClick={() => askToDelete(file)} aria-label={files.delete(file.filename)}>
        <IconTrash size={16} stroke={1.6} />
      </ActionIcon>
    </Group>
  );
}

function askToDelete(file: Row): void {
  confirm({
    title: files.deleteTitle,
    body: files.deleteBody(file.filename, nameOf(file)),
    action: common.delete,
    run: async () => {
      await api.DELETE("/api/files/{id}", { params: { path: { id: file.id } } });
      await refresh("/api/files");
      notifyDone(files.deleted(file.filename));
    },
  });
}
