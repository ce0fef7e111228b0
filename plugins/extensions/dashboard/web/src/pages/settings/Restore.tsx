/** Putting a file back: what is in it is shown before anything is done. */
import { Alert, Button, FileButton, Group, Stack, Switch, Table, Text } from "@mantine/core";
import { IconCheck, IconUpload } from "@tabler/icons-react";
import { useMemo, useState } from "react";

import { cache } from "~/api/cache";
import { api, messageOf } from "~/api/client";
import { count } from "~/format/numbers";
import { exact } from "~/format/times";
import { texts } from "~/texts";
import { confirm } from "~/ui/confirm";
import { Facts } from "~/ui/Facts";
import { Section } from "~/ui/Section";
import { hasUsage, LARGEST, type Read, readFile, type Selection, sizesOf, type Whole, withoutUsage } from "./backup";

const { load } = texts.backup;
const SELECTIVE = "/api/settings/database/selective";

interface Planned {
  id: string;
  name: string | null;
  action: keyof typeof load.actions;
  provider?: string;
}
type Plan = Record<"nodes" | "connections" | "combos", Planned[]>;
type Done = { title: string; warnings: readonly string[] };

export function Restore({ password }: { password: string }) {
  const [read, setRead] = useState<Read | null>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [name, setName] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [done, setDone] = useState<Done | null>(null);

  async function choose(file: File | null) {
    if (!file) return;
    setRead(null);
    setPlan(null);
    setDone(null);
    setError(null);
    setName(file.name);
    try {
      const found = readFile(await file.text());
      if (!found) throw new Error(load.unreadable);
      if (found.kind === "selection") setPlan(await preview(found.file, password));
      setRead(found);
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  async function finish(result: Done) {
    setRead(null);
    setPlan(null);
    setDone(result);
    await cache.invalidateQueries();
  }

  return (
    <Section title={load.title} about={load.about}>
      <Stack gap="sm" align="flex-start">
        <Group gap="sm">
          <FileButton accept="application/json,.json" onChange={(file) => void choose(file)} inputProps={{ "aria-label": load.choose }}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<IconUpload size={14} />}>
                {read ? load.other : load.choose}
              </Button>
            )}
          </FileButton>
          {name && <Text c="dimmed" truncate maw={320}>{name}</Text>}
        </Group>
        {error && (
          <Alert color="red" variant="light" p="xs" role="alert">
            {error}
          </Alert>
        )}
        {done && (
          <Alert color="green" variant="light" icon={<IconCheck size={18} />} title={done.title} role="status">
            {done.warnings.length > 0 && (
              <Stack gap={4}>
                <Text fw={600}>{load.warnings}</Text>
                {done.warnings.map((warning) => <Text key={warning}>{warning}</Text>)}
              </Stack>
            )}
          </Alert>
        )}
        {read?.kind === "whole" && <WholeFile key={read.file.exportedAt} file={read.file} password={password} onDone={finish} />}
        {read?.kind === "selection" && plan && <SelectionFile file={read.file} plan={plan} password={password} onDone={finish} />}
      </Stack>
    </Section>
  );
}

async function preview(bundle: Selection, password: string): Promise<Plan> {
  const { data } = await api.POST(SELECTIVE, { body: { action: "preview", password, bundle } });
  return data as unknown as Plan;
}

interface FileProps<F> {
  file: F;
  password: string;
  onDone: (done: Done) => Promise<void>;
}

function WholeFile({ file, password, onDone }: FileProps<Whole>) {
  const [isShort, setShort] = useState(false);
  const sent = useMemo(() => (isShort ? withoutUsage(file) : file), [file, isShort]);
  const sizes = useMemo(() => sizesOf(sent), [sent]);
  const rows = sizes.reduce((sum, each) => sum + each.rows, 0);
  const isTooLarge = useMemo(() => new Blob([JSON.stringify(sent)]).size > LARGEST, [sent]);

  const replace = async () => {
    const { data } = await api.POST("/api/settings/database", { body: { ...sent, password } });
    await onDone({ title: load.done, warnings: data?.warnings ?? [] });
  };

  return (
    <Stack gap="sm" w="100%" maw={560} role="group" aria-label={load.whole}>
      <Facts
        rows={[
          [load.written, exact(file.exportedAt)],
          [load.schema, String(file.schemaVersion)],
          [load.secrets, file.secretsIncluded ? load.withSecrets : load.withoutSecrets],
          [load.content, load.rows(count(rows), count(sizes.length))],
        ]}
      />
      <Text size="xs" c="dimmed">{sizes.map((each) => `${each.name} ${count(each.rows)}`).join(" · ")}</Text>
      {hasUsage(file) && <Switch label={load.usage} description={load.usageHint} checked={isShort} onChange={(event) => setShort(event.target.checked)} />}
      {isTooLarge && <Alert color="orange" variant="light" p="xs">{load.tooLarge}</Alert>}
      <Group>
        <Button
          color="red.9"
          disabled={isTooLarge}
          onClick={() => confirm({ title: load.replaceTitle, body: load.replaceBody, action: load.replace, word: load.word, run: replace })}
        >
          {load.replace}
        </Button>
      </Group>
    </Stack>
  );
}

const TONES: Record<Planned["action"], string> = { create: "var(--good)", replace: "var(--warn)", keep: "dimmed", export: "dimmed" };
const KINDS = ["nodes", "connections", "combos"] as const;

function SelectionFile({ file, plan, password, onDone }: FileProps<Selection> & { plan: Plan }) {
  const rows = KINDS.flatMap((kind) => plan[kind].map((each) => ({ ...each, kind })));

  const apply = async () => {
    await api.POST(SELECTIVE, { body: { action: "apply", password, bundle: file } });
    await onDone({ title: load.applied, warnings: [] });
  };

  return (
    <Stack gap="sm" w="100%" maw={560} role="group" aria-label={load.selection}>
      <Facts
        rows={[
          [load.written, exact(file.exportedAt)],
          [load.secrets, file.secretsIncluded ? load.withSecrets : load.withoutSecretsPart],
        ]}
      />
      {rows.length === 0 ? (
        <Text c="dimmed">{load.nothing}</Text>
      ) : (
        <Table verticalSpacing={4} aria-label={load.selection}>
          <Table.Tbody>
            {rows.map(({ kind, id, name, provider, action }) => (
              <Table.Tr key={`${kind}-${id}`}>
                <Table.Td c="dimmed">{load.kinds[kind]}</Table.Td>
                <Table.Td>{[provider, name ?? id].filter(Boolean).join(" / ")}</Table.Td>
                <Table.Td ta="right">
                  <Text span size="xs" c={TONES[action]}>{load.actions[action]}</Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group>
        <Button
          disabled={rows.length === 0}
          onClick={() => confirm({ title: load.applyTitle, body: load.applyBody, action: load.apply, destroys: rows.some(({ action }) => action === "replace"), run: apply })}
        >
          {load.apply}
        </Button>
      </Group>
    </Stack>
  );
}
