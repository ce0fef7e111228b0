/** Proxies that accounts share: added, tested, changed and deleted. */
import { ActionIcon, Box, Button, Group, Text, Tooltip } from "@mantine/core";
import { IconTestPipe, IconTrash } from "@tabler/icons-react";
import { useCallback, useMemo, useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query, type Shape } from "~/api/client";
import { count, duration } from "~/format/numbers";
import { texts } from "~/texts";
import { confirm, notifyDone } from "~/ui/confirm";
import { type Column, DataTable } from "~/ui/DataTable";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { StatusDot, type Tone } from "~/ui/status";
import { PoolForm } from "./PoolForm";

const words = texts.providers.pools;
const PATH = "/api/proxy-pools";
export type Pool = Shape<"PoolShape">;
type State = keyof typeof words.states;
const TONES: Record<State, Tone> = { active: "good", error: "bad", unknown: "idle", paused: "idle" };
const NEW_ONE = "new";

export function Pools() {
  const pools = query.useQuery("get", PATH, { params: { query: { includeUsage: true } } });
  const [edited, setEdited] = useState<Pool | typeof NEW_ONE | null>(null);
  const [tested, setTested] = useState<string | null>(null);
  const [failed, setFailed] = useState<{ id: string; message: string } | null>(null);

  const test = useCallback(async ({ id, name }: Pool) => {
    setFailed(null);
    setTested(id);
    try {
      const { data } = await api.POST("/api/proxy-pools/{id}/test", { params: { path: { id } } });
      if (data?.ok) notifyDone(words.works(name, duration(data.elapsedMs)));
      else setFailed({ id, message: words.fails(data?.error ?? "") });
    } catch (failure) {
      setFailed({ id, message: messageOf(failure) });
    } finally {
      setTested(null);
      void refresh(PATH);
    }
  }, []);

  const columns = useMemo<Column<Pool>[]>(
    () => [
      {
        id: "name",
        header: words.name,
        accessorFn: (pool) => pool.name,
        meta: { width: "minmax(100px, 1.5fr)" },
        cell: ({ getValue }) => (
          <Text span fw={500}>
            {getValue()}
          </Text>
        ),
      },
      { id: "url", header: words.url, accessorFn: (pool) => withoutSecret(pool.proxyUrl), meta: { width: "minmax(140px, 2fr)", from: 480 } },
      {
        id: "state",
        header: words.state,
        accessorFn: stateOf,
        meta: { width: "96px" },
        cell: ({ row: { original } }) => <StatusDot tone={TONES[stateOf(original)]}>{words.states[stateOf(original)]}</StatusDot>,
      },
      { id: "accounts", header: words.accounts, accessorFn: (pool) => pool.boundConnectionCount ?? 0, cell: ({ getValue }) => count(getValue()), meta: { align: "right", width: "76px", from: 620 } },
      {
        id: "actions",
        header: "",
        enableSorting: false,
        meta: { align: "right", width: "64px" },
        cell: ({ row: { original } }) => (
          <Group gap={4} wrap="nowrap" justify="flex-end" onClick={(event) => event.stopPropagation()}>
            <Tooltip label={words.test(original.name)}>
              <ActionIcon size="sm" aria-label={words.test(original.name)} loading={tested === original.id} onClick={() => void test(original)}>
                <IconTestPipe size={14} />
              </ActionIcon>
            </Tooltip>
            <ActionIcon size="sm" aria-label={`${texts.common.delete} ${original.name}`} onClick={() => askToRemove(original)}>
              <IconTrash size={14} />
            </ActionIcon>
          </Group>
        ),
      },
    ],
    [test, tested],
  );
  const list = pools.data?.proxyPools;
  return (
    <Section
      flush
      title={words.title}
      about={words.about}
      actions={
        <Button variant="default" onClick={() => setEdited(NEW_ONE)}>
          {words.add}
        </Button>
      }
    >
      {list && list.length > 0 ? (
        <DataTable
          label={words.title}
          columns={columns}
          rows={list}
          rowId={(pool) => pool.id}
          onRowClick={setEdited}
          note={(pool) => {
            const isNew = pool.id === failed?.id;
            const why = isNew ? failed.message : pool.lastError && words.fails(pool.lastError);
            return (
              why && (
                <Text c="var(--bad)" size="xs" role={isNew ? "alert" : undefined}>
                  {why}
                </Text>
              )
            );
          }}
        />
      ) : (
        <Box px="md" pb="md">
          <Loaded of={pools} lines={1}>
            {() => <Text c="dimmed">{words.none}</Text>}
          </Loaded>
        </Box>
      )}
      {edited && <PoolForm pool={edited === NEW_ONE ? null : edited} onClose={() => setEdited(null)} />}
    </Section>
  );
}

function stateOf(pool: Pool): State {
  if (pool.testStatus === "error") return "error";
  if (!pool.isActive) return "paused";
  return pool.testStatus === "active" ? "active" : "unknown";
}

/** An address without its user and password. */
export function withoutSecret(url: string): string {
  return url.replace(/^([a-z0-9]+:\/\/)[^/@]*@/i, "$1");
}

function askToRemove({ id, name }: Pool): void {
  confirm({
    title: words.remove(name),
    body: words.removeHint,
    action: texts.common.delete,
    run: async () => {
      await api.DELETE("/api/proxy-pools/{id}", { params: { path: { id } } });
      await refresh(PATH);
      notifyDone(words.removed(name));
    },
  });
}
