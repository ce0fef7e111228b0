import { ActionIcon, Box, Button, Group, Menu, Text, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconDots, IconPlayerPause, IconPlayerPlay, IconPlugConnected, IconPlugConnectedX, IconTestPipe, IconTrash } from "@tabler/icons-react";
import { useCallback, useMemo, useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query, type Shape } from "~/api/client";
import { useProviderNames } from "~/api/names";
import { compact, money } from "~/format/numbers";
import { clock } from "~/format/times";
import { texts } from "~/texts";
import { confirm, notifyDone, notifyError } from "~/ui/confirm";
import { type Column, DataTable } from "~/ui/DataTable";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot, type Tone } from "~/ui/status";
import { Step } from "~/ui/Step";
import { VendorMark } from "~/ui/VendorMark";
import type { Connection } from "./AccountForm";
import { endCooldown, move, remove, setActive } from "./changes";

const providers = texts.providers;
type Rest = Shape<"RestRow">;

const TONES: Record<Connection["testStatus"], Tone> = {
  active: "good",
  unknown: "idle",
  unavailable: "warn",
  error: "bad",
  expired: "bad",
  reauth_required: "bad",
};

interface State {
  provider: string;
  search: string;
  account: string;
}

interface Props {
  of: { data?: { connections: Connection[] }; isPending: boolean; error: unknown; refetch: () => unknown };
  state: State;
  onChange: (change: Partial<State>, options?: { replace?: boolean }) => void;
}

/** Does something to an account; a failure is shown in its row. */
type Act = (account: Connection, work: () => Promise<void>) => void;

/** Every account: its state, order and use. */
export function Accounts({ of, state, onChange }: Props) {
  const nameOf = useProviderNames();
  const rests = useRests();
  const used = query.useQuery("get", "/api/usage/stats", { params: { query: { period: "7d" } } }, { staleTime: 30_000 });
  const [isTesting, setTesting] = useState(false);
  const [failed, setFailed] = useState<{ id: string; message: string } | null>(null);
  const act = useCallback<Act>((account, work) => {
    setFailed(null);
    work().catch((failure: unknown) => setFailed({ id: account.id, message: messageOf(failure) }));
  }, []);
  const all = of.data?.connections;
  const options = [...new Set(all?.map((each) => each.provider))].map((value) => ({ value, label: nameOf(value) }));
  const term = state.search.toLowerCase();
  const shown = useMemo(
    () =>
      all?.filter(
        (each) =>
          (!state.provider || each.provider === state.provider) &&
          [each.name, each.email, nameOf(each.provider)].some((text) => text?.toLowerCase().includes(term)),
      ),
    [all, state.provider, term, nameOf],
  );
  const columns = useMemo<Column<Connection>[]>(
    () => [
      {
        id: "account",
        header: providers.columns.account,
        accessorFn: (each) => `${nameOf(each.provider)} ${String(each.priority).padStart(4, "0")}`,
        meta: { width: "minmax(116px, 2fr)" },
        cell: ({ row: { original } }) => (
          <Group gap={10} wrap="nowrap">
            <VendorMark id={original.provider} name={nameOf(original.provider)} />
            <Box miw={0}>
              <Text span fw={500} truncate display="block">
                {nameOf(original.provider)}
                <Text span c="dimmed" ml={8}>
                  {original.name}
                </Text>
              </Text>
            </Box>
          </Group>
        ),
      },
      {
        id: "status",
        header: providers.columns.status,
        accessorFn: (each) => (each.isActive ? each.testStatus : "paused"),
        meta: { width: "minmax(96px, 1fr)" },
        cell: ({ row: { original } }) => <AccountState account={original} rest={rests.get(original.id)} />,
      },
      {
        id: "priority",
        header: providers.columns.priority,
        accessorFn: (each) => each.priority,
        meta: { width: "92px", from: 620 },
        cell: ({ row: { original } }) => <Order all={all ?? []} account={original} act={act} />,
      },
      {
        id: "used",
        header: providers.columns.used,
        accessorFn: (each) => useOf(used.data, each.id).requests,
        meta: { align: "right", width: "96px", from: 700 },
        cell: ({ getValue }) => compact(getValue()),
      },
      {
        id: "spend",
        header: providers.columns.spend,
        accessorFn: (each) => useOf(used.data, each.id).cost,
        meta: { align: "right", width: "84px", from: 780 },
        cell: ({ getValue }) => money(getValue()),
      },
      {
        id: "actions",
        header: "",
        enableSorting: false,
        meta: { align: "right", width: "32px" },
        cell: ({ row: { original } }) => <Actions account={original} isResting={rests.has(original.id)} act={act} />,
      },
    ],
    [all, nameOf, rests, used.data, act],
  );

  async function testAll() {
    setTesting(true);
    try {
      const { data } = await api.POST("/api/providers/test-batch", { body: { mode: "all" } });
      if (data) notifyDone(providers.testedAll(data.summary.passed, data.summary.total));
    } catch (failure) {
      notifyError(failure);
    } finally {
      setTesting(false);
      void refresh("/api/providers", "/api/models/availability", "/api/health");
    }
  }

  return (
    <Section
      flush
      title={providers.accounts}
      actions={
        <Group gap="xs">
          {(all?.length ?? 0) > 6 && (
            <>
              <FilterSearch value={state.search} onChange={(search) => onChange({ search })} width={160} />
              <FilterSelect label={texts.requests.filters.provider} value={state.provider} options={options} onChange={(provider) => onChange({ provider })} width={140} />
            </>
          )}
          {state.provider && (all?.length ?? 0) <= 6 && (
            <Button variant="subtle" color="gray" onClick={() => onChange({ provider: "" })}>
              {nameOf(state.provider)} ×
            </Button>
          )}
          {(all?.length ?? 0) > 0 && (
            <Button variant="default" leftSection={<IconTestPipe size={14} />} loading={isTesting} onClick={testAll}>
              {providers.testAll}
            </Button>
          )}
        </Group>
      }
    >
      {of.error && !all ? (
        <Box p="md">
          <ErrorState error={of.error} onRetry={() => of.refetch()} />
        </Box>
      ) : (
        <DataTable
          label={providers.accounts}
          columns={columns}
          rows={shown ?? []}
          rowId={(each) => each.id}
          loading={of.isPending}
          height={(shown?.length ?? 0) > 100 ? 560 : null}
          onRowClick={(each) => onChange({ account: each.id }, { replace: false })}
          selectedId={state.account}
          note={(each) =>
            each.id === failed?.id && (
              <Text c="var(--bad)" size="xs" role="alert">
                {providers.notChanged(failed.message)}
              </Text>
            )
          }
          empty={
            all?.length === 0 ? (
              <EmptyState icon={IconPlugConnected} title={providers.noAccounts} hint={providers.noAccountsHint} />
            ) : undefined
          }
        />
      )}
    </Section>
  );
}

function useOf(stats: Shape<"Picture"> | undefined, id: string): { requests: number; cost: number } {
  for (const part of Object.values(stats?.byAccount ?? {})) if (part.connectionId === id) return part;
  return stats?.byAccount[id] ?? { requests: 0, cost: 0 };
}

/** The rests of accounts, by account; the longest of each. */
export function useRests(): Map<string, Rest> {
  const rests = query.useQuery("get", "/api/models/availability", {}, { refetchInterval: 10_000 });
  return useMemo(() => {
    const found = new Map<string, Rest>();
    for (const rest of rests.data?.models ?? []) {
      const before = found.get(rest.connectionId);
      if (!before || (rest.until ?? "") > (before.until ?? "")) found.set(rest.connectionId, rest);
    }
    return found;
  }, [rests.data]);
}

export function AccountState({ account, rest }: { account: Connection; rest?: Rest }) {
  if (!account.isActive) return <StatusDot tone="idle">{providers.status.paused}</StatusDot>;
  if (rest?.until)
    return (
      <Tooltip label={rest.lastError} multiline maw={360} disabled={!rest.lastError}>
        <span>
          <StatusDot tone="warn">{`${providers.status.cooldown} ${providers.until(clock(rest.until))}`}</StatusDot>
        </span>
      </Tooltip>
    );
  const why = account.lastError;
  return (
    <Tooltip label={why} multiline maw={360} disabled={!why}>
      <span>
        <StatusDot tone={TONES[account.testStatus]}>{providers.status[account.testStatus]}</StatusDot>
      </span>
    </Tooltip>
  );
}

function Order({ all, account, act }: { all: readonly Connection[]; account: Connection; act: Act }) {
  const name = account.name ?? account.id;
  const same = all.filter((each) => each.provider === account.provider);
  const place = same.findIndex((each) => each.id === account.id);
  return (
    <Group gap={2} wrap="nowrap" onClick={(event) => event.stopPropagation()}>
      <Text span w={20}>
        {account.priority}
      </Text>
      <Step size="xs" label={`${providers.moveUp}: ${name}`} isLast={place <= 0} onClick={() => act(account, () => move(all, account, -1))}>
        <IconArrowUp size={12} />
      </Step>
      <Step size="xs" label={`${providers.moveDown}: ${name}`} isLast={place >= same.length - 1} onClick={() => act(account, () => move(all, account, 1))}>
        <IconArrowDown size={12} />
      </Step>
    </Group>
  );
}

function Actions({ account, isResting, act }: { account: Connection; isResting: boolean; act: Act }) {
  const name = account.name ?? account.id;
  return (
    <Box onClick={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()}>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size="sm" aria-label={`${texts.common.more}: ${name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={account.isActive ? <IconPlayerPause size={14} /> : <IconPlayerPlay size={14} />}
            onClick={() => act(account, () => setActive(account, !account.isActive))}
          >
            {account.isActive ? providers.pause : providers.resume}
          </Menu.Item>
          {isResting && (
            <Menu.Item leftSection={<IconPlugConnectedX size={14} />} onClick={() => act(account, () => endCooldown(account))}>
              {providers.clear}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.Item
            color="red"
            leftSection={<IconTrash size={14} />}
            onClick={() =>
              confirm({
                title: providers.deleteTitle(name),
                body: providers.deleteBody,
                action: texts.common.delete,
                run: () => remove(account),
              })
            }
          >
            {texts.common.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Box>
  );
}
