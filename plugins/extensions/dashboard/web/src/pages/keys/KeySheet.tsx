/** One key: what it may do and has done, and what can be done with it. */
import { Alert, Autocomplete, Box, Button, Group, Progress, Stack, Text, Title } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";

import { api, messageOf, query, type Shape } from "~/api/client";
import { refresh } from "~/api/cache";
import { optimistic } from "~/api/optimistic";
import { compact, count, money } from "~/format/numbers";
import { texts } from "~/texts";
import { useAction } from "~/ui/action";
import { confirm, notifyDone, notifyError } from "~/ui/confirm";
import { CopyField } from "~/ui/copying";
import { Facts } from "~/ui/Facts";
import { RelativeTime } from "~/ui/RelativeTime";
import { SideSheet } from "~/ui/SideSheet";
import { Loaded } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { draftOf, type KeyRow } from "./draft";
import { Summary } from "./KeyEditor";
import { limitsOf, shareOf, stateOf, TONES } from "./state";

const keys = texts.keys;
const EVERY_MS = 10_000;

interface Props {
  row: KeyRow;
  onClose: () => void;
  onEdit: () => void;
}

export function KeySheet({ row, onClose, onEdit }: Props) {
  const [shown, setShown] = useState<string | null>(null);
  const [act, failure] = useAction();
  const path = { params: { path: { id: row.id } } };
  const state = stateOf(row);

  async function reveal() {
    const { data } = await api.GET("/api/keys/{id}/reveal", path);
    setShown(data?.key ?? null);
  }

  function remove() {
    confirm({
      title: keys.remove(row.name),
      body: keys.removeHint,
      action: texts.common.delete,
      run: async () => {
        await api.DELETE("/api/keys/{id}", path);
        onClose();
        await refresh("/api/keys");
        notifyDone(keys.removed(row.name));
      },
    });
  }

  return (
    <SideSheet
      opened
      onClose={onClose}
      title={row.name}
      about={<StatusDot tone={TONES[state]}>{keys.states[state]}</StatusDot>}
      actions={
        <>
          <Button variant="default" leftSection={<IconPencil size={14} />} onClick={onEdit}>
            {texts.common.edit}
          </Button>
          <Button variant="default" onClick={() => void act(() => setActive(row, !row.isActive))}>
            {row.isActive ? keys.pause : keys.resume}
          </Button>
          <Button variant="default" component={Link} to={`/requests?key=${row.id}`}>
            {keys.requests}
          </Button>
          <Button variant="light" color="red" leftSection={<IconTrash size={14} />} onClick={remove}>
            {texts.common.delete}
          </Button>
        </>
      }
    >
      <Stack gap="lg">
        {failure}
        {shown ? (
          <CopyField value={shown} />
        ) : (
          <Group gap="xs">
            <Text ff="monospace" size="xs">
              {row.maskedKey}
            </Text>
            <Button variant="subtle" onClick={() => void act(reveal)}>
              {keys.reveal}
            </Button>
          </Group>
        )}
        <Box>
          <Title order={3} mb={6}>
            {keys.mayDo}
          </Title>
          <Summary draft={draftOf(row)} />
        </Box>
        <Usage id={row.id} />
        <Box>
          <Title order={3} mb={6}>
            {keys.totals}
          </Title>
          <Facts
            rows={[
              [keys.columns.spend, money(row.usage.totalCost)],
              [keys.columns.requests, count(row.usage.totalRequests)],
              [keys.columns.tokens, compact(row.usage.totalTokens)],
              ["", row.usage.unpricedRequests > 0 && keys.unpriced(count(row.usage.unpricedRequests))],
            ]}
          />
        </Box>
        <Check id={row.id} />
      </Stack>
    </SideSheet>
  );
}

/** Pauses a key or lets it go on, with a way back. Throws what the gateway answers instead. */
async function setActive(row: KeyRow, isActive: boolean): Promise<void> {
  await optimistic<{ keys: KeyRow[] }>({
    path: "/api/keys",
    change: (before) => ({ ...before, keys: before.keys.map((each) => (each.id === row.id ? { ...each, isActive } : each)) }),
    work: () => api.PUT("/api/keys/{id}", { params: { path: { id: row.id } }, body: { isActive } }),
  });
  notifyDone(isActive ? keys.resumed(row.name) : keys.paused(row.name), () => void setActive(row, !isActive).catch(notifyError));
}

function Usage({ id }: { id: string }) {
  const usage = query.useQuery("get", "/api/keys/usage", { params: { query: { apiKeyId: id } } }, { refetchInterval: EVERY_MS });
  return (
    <Box>
      <Title order={3} mb={6}>
        {keys.usage}
      </Title>
      <Loaded of={usage} lines={2}>
        {(data) => {
          const limits = limitsOf(data.usage[id]);
          if (limits.length === 0) return <Text c="dimmed">{keys.noLimits}</Text>;
          return (
            <Stack gap="sm">
              {limits.map((row) => (
                <LimitBar key={row.field} row={row} />
              ))}
            </Stack>
          );
        }}
      </Loaded>
    </Box>
  );
}

export function LimitBar({ row }: { row: Shape<"LimitRow"> }) {
  const share = shareOf(row);
  const format = row.money ? money : compact;
  return (
    <Box>
      <Group justify="space-between" gap="xs">
        <Text size="xs">{row.label}</Text>
        <Text size="xs" c="dimmed" className="tabular">
          {keys.of(format(Number(row.used)), format(Number(row.limit)))}
          {row.resetAt && (
            <>
              , {keys.resets} <RelativeTime at={row.resetAt} size="xs" />
            </>
          )}
        </Text>
      </Group>
      <Progress value={Math.min(100, share * 100)} color={share >= 1 ? "red" : share >= 0.8 ? "orange" : "iris"} size="sm" mt={4} aria-label={row.label} />
    </Box>
  );
}

function Check({ id }: { id: string }) {
  const [model, setModel] = useState("");
  const [answer, setAnswer] = useState<Shape<"KeyCheck"> | null>(null);
  const [error, setError] = useState<string | null>(null);
  const catalog = query.useQuery("get", "/api/keys/policy-catalog");
  const names = [...new Set([...(catalog.data?.combos ?? []), ...(catalog.data?.models ?? []).map((each) => each.id)])];

  async function ask() {
    setError(null);
    try {
      const { data } = await api.GET("/api/keys/{id}/check", { params: { path: { id }, query: { model } } });
      setAnswer(data ?? null);
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  return (
    <Box>
      <Title order={3} mb={6}>
        {keys.check}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <Group gap="xs" align="flex-end">
          <Autocomplete
            flex={1}
            aria-label={keys.checkModel}
            placeholder={keys.checkModel}
            data={names}
            limit={30}
            value={model}
            onChange={(text) => {
              setModel(text);
              setAnswer(null);
            }}
          />
          <Button type="submit" disabled={!model}>
            {keys.checkRun}
          </Button>
        </Group>
      </form>
      {error && (
        <Text c="var(--bad)" mt="xs" role="alert">
          {error}
        </Text>
      )}
      {answer && (
        <Alert mt="xs" color={answer.allowed ? "green" : "red"} variant="light" title={answer.allowed ? keys.allowed : keys.refused(answer.status)}>
          {answer.message ?? answer.members.map((member) => member.name).join(", ")}
        </Alert>
      )}
    </Box>
  );
}
