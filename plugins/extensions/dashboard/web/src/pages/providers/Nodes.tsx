import { ActionIcon, Box, Button, Code, Group, Text } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMemo } from "react";

import { refresh } from "~/api/cache";
import { api, query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import { confirm } from "~/ui/confirm";
import { type Column, DataTable } from "~/ui/DataTable";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { VendorMark } from "~/ui/VendorMark";

const providers = texts.providers;
type Node = Shape<"Nodes">["nodes"][number];

export function Nodes({ onAdd }: { onAdd: () => void }) {
  const nodes = query.useQuery("get", "/api/provider-nodes");
  const columns = useMemo<Column<Node>[]>(
    () => [
      {
        id: "name",
        header: providers.nodeForm.name,
        accessorFn: (node) => node.name,
        meta: { width: "minmax(140px, 1.5fr)" },
        cell: ({ row: { original } }) => (
          <Group gap={10} wrap="nowrap">
            <VendorMark id={original.id} name={original.name} />
            <Text span fw={500} truncate>
              {original.name}
            </Text>
          </Group>
        ),
      },
      {
        id: "prefix",
        header: providers.nodeForm.prefix,
        accessorFn: (node) => node.prefix,
        meta: { width: "minmax(80px, 1fr)" },
        cell: ({ getValue }) => <Code>{getValue()}/</Code>,
      },
      { id: "type", header: providers.nodeForm.type, accessorFn: (node) => node.type, meta: { width: "minmax(120px, 1fr)", from: 560 } },
      { id: "url", header: providers.nodeForm.baseUrl, accessorFn: (node) => node.baseUrl, meta: { width: "minmax(160px, 2fr)", from: 720 } },
      {
        id: "actions",
        header: "",
        enableSorting: false,
        meta: { align: "right", width: "32px" },
        cell: ({ row: { original } }) => (
          <ActionIcon
            size="sm"
            aria-label={`${texts.common.delete} ${original.name}`}
            onClick={() =>
              confirm({
                title: providers.deleteNodeTitle(original.name),
                body: providers.deleteNodeBody,
                action: texts.common.delete,
                word: original.prefix,
                run: async () => {
                  await api.DELETE("/api/provider-nodes/{id}", { params: { path: { id: original.id } } });
                  await refresh("/api/provider-nodes", "/api/providers", "/v1/models", "/api/models");
                },
              })
            }
          >
            <IconTrash size={14} />
          </ActionIcon>
        ),
      },
    ],
    [],
  );
  const list = nodes.data?.nodes;
  return (
    <Section
      flush
      title={providers.nodes}
      about={providers.nodesHint}
      actions={
        <Button variant="default" onClick={onAdd}>
          {providers.addNode}
        </Button>
      }
    >
      {list && list.length > 0 ? (
        <DataTable label={providers.nodes} columns={columns} rows={list} rowId={(node) => node.id} />
      ) : (
        <Box px="md" pb="md">
          <Loaded of={nodes} lines={1}>
            {() => <Text c="dimmed">{providers.noNodes}</Text>}
          </Loaded>
        </Box>
      )}
    </Section>
  );
}
