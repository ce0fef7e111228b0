/** Moving to PostgreSQL: test the server, look what would be done, then do it. */
import { Alert, Button, Group, ScrollArea, Select, Stack, Switch, Table, Text, TextInput } from "@mantine/core";
import { IconArrowRight, IconListCheck, IconTestPipe } from "@tabler/icons-react";
import { useState } from "react";

import { cache, refresh } from "~/api/cache";
import { api, messageOf, type Shape } from "~/api/client";
import { count, duration } from "~/format/numbers";
import { PASSWORD_HEADER } from "~/session/PasswordGate";
import { texts } from "~/texts";
import { confirm } from "~/ui/confirm";
import { Section } from "~/ui/Section";
import type { ChangeProps } from "./change";

const { move } = texts.database;
const MODES = ["disable", "require", "verify-full"] as const;
type Mode = (typeof MODES)[number];
type Plan = Shape<"CutoverAnswer">;
type Result = { isGood: boolean; text: string };

export function Move({ password, isBusy, onChanging, onDone }: ChangeProps) {
  const [url, setUrl] = useState("");
  const [mode, setMode] = useState<Mode | null>(null);
  const [details, setDetails] = useState(false);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const [working, setWorking] = useState<"test" | "plan" | "move" | null>(null);
  const headers = { [PASSWORD_HEADER]: password };
  const body = { url: url.trim(), ...(mode && { sslmode: mode }), includeRequestDetails: details };

  /** What was planned for another address counts for nothing. */
  function change(apply: () => void) {
    apply();
    setPlan(null);
    setResult(null);
  }

  async function run(kind: "test" | "plan" | "move", work: () => Promise<Result | null>) {
    setWorking(kind);
    setResult(null);
    try {
      setResult(await work());
    } catch (failure) {
      setResult({ isGood: false, text: messageOf(failure) });
    } finally {
      setWorking(null);
      void refresh("/api/settings/database", "/api/system");
    }
  }

  const test = () =>
    run("test", async () => {
      const { data } = await api.POST("/api/settings/database/test", { body: { url: body.url, sslmode: mode }, headers });
      if (!data?.ok) return { isGood: false, text: data?.error ?? texts.common.failed };
      return { isGood: true, text: move.tested(String(data.serverVersion), data.latencyMs) };
    });
  const look = () =>
    run("plan", async () => {
      setPlan(null);
      const { data } = await api.POST("/api/settings/database/cutover", { body: { ...body, dryRun: true }, headers });
      setPlan(data ?? null);
      return null;
    });
  const start = () =>
    run("move", async () => {
      onChanging(true);
      try {
        const { data } = await api.POST("/api/settings/database/cutover", { body, headers });
        onDone(move.moved(count(data?.rowsMigrated), duration(data?.durationMs)));
        await cache.invalidateQueries();
        return null;
      } finally {
        onChanging(false);
      }
    });

  const isIdle = working === null && !isBusy;
  return (
    <Section title={move.title} about={move.about}>
      <Stack gap="sm">
        <Stack gap="sm" maw={560}>
          <TextInput
            label={move.url}
            description={move.urlHint}
            value={url}
            onChange={(event) => change(() => setUrl(event.target.value))}
            autoComplete="off"
            spellCheck={false}
            disabled={!isIdle}
          />
          <Select
            label={move.tls}
            placeholder={move.tlsUsual}
            data={[...MODES]}
            value={mode}
            onChange={(chosen) => change(() => setMode(chosen as Mode | null))}
            clearable
            maw={220}
            disabled={!isIdle}
          />
          <Switch label={move.details} checked={details} onChange={(event) => change(() => setDetails(event.target.checked))} disabled={!isIdle} />
          <Group gap="xs">
            <Button variant="default" leftSection={<IconTestPipe size={14} />} onClick={() => void test()} loading={working === "test"} disabled={!url.trim() || !isIdle}>
              {move.test}
            </Button>
            <Button variant={plan ? "default" : "filled"} leftSection={<IconListCheck size={14} />} onClick={() => void look()} loading={working === "plan"} disabled={!url.trim() || !isIdle}>
              {move.plan}
            </Button>
            {plan?.ok && (
              <Button leftSection={<IconArrowRight size={14} />} onClick={() => ask(body.url, () => void start())} loading={working === "move"} disabled={!isIdle}>
                {move.start}
              </Button>
            )}
          </Group>
        </Stack>
        {result && (
          <Alert color={result.isGood ? "green" : "red"} variant="light" role={result.isGood ? "status" : "alert"}>
            {result.text}
          </Alert>
        )}
        {plan && <Planned plan={plan} />}
      </Stack>
    </Section>
  );
}

function Planned({ plan }: { plan: Plan }) {
  const tables = (plan.tables ?? []).filter(({ rows }) => Number(rows) > 0);
  return (
    <Stack gap="xs" role="group" aria-label={move.planTitle}>
      <Text fw={600}>{move.planTitle}</Text>
      <Text>
        {move.summary(count(plan.rows), count(plan.tables?.length), duration(plan.estimatedMs))}. {move.nothing}
      </Text>
      {!plan.ok && <Alert color="red" variant="light">{move.impossible}</Alert>}
      {(plan.misfits ?? []).length > 0 && (
        <Alert color="orange" variant="light" title={move.misfits}>
          {plan.misfits?.map((line) => <Text key={line} size="xs" ff="monospace">{line}</Text>)}
        </Alert>
      )}
      {tables.length > 0 && (
        <ScrollArea.Autosize mah={260} maw={420} tabIndex={0}>
          <Table verticalSpacing={3}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{move.tables}</Table.Th>
                <Table.Th ta="right">{move.rows}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {tables.map(({ name, rows }) => (
                <Table.Tr key={name}>
                  <Table.Td>{name}</Table.Td>
                  <Table.Td ta="right">{count(Number(rows))}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
      )}
    </Stack>
  );
}

/** Without its password, which is nobody's to read over a shoulder. */
function shown(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return `${host}${pathname}`;
  } catch {
    return texts.database.engines.postgres;
  }
}

function ask(url: string, start: () => void): void {
  confirm({
    title: move.confirmTitle,
    body: move.confirmBody(shown(url)),
    action: move.start,
    destroys: false,
    // The dialog closes; how far it is stands in the page.
    run: async () => start(),
  });
}
