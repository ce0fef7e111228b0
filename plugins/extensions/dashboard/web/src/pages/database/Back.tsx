/** Going back to SQLite, which discards what was written since the move. */
import { Alert, Button, Group, Select, Stack, Text } from "@mantine/core";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useState } from "react";

import { cache, refresh } from "~/api/cache";
import { api, ApiError, messageOf } from "~/api/client";
import { duration } from "~/format/numbers";
import { exact } from "~/format/times";
import { PASSWORD_HEADER } from "~/session/PasswordGate";
import { texts } from "~/texts";
import { confirm } from "~/ui/confirm";
import { Section } from "~/ui/Section";
import type { ChangeProps } from "./change";
import type { Engine } from "./engine";

const { back } = texts.database;
const PATH = "/api/settings/database/rollback";
const NEEDS_FORCE = 409;

export function Back({ password, engine, isBusy, onChanging, onDone }: ChangeProps & { engine: Engine }) {
  const [snapshot, setSnapshot] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const headers = { [PASSWORD_HEADER]: password };
  const chosen = snapshot ? { snapshotPath: snapshot } : {};

  async function act(work: () => Promise<void>) {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(`${back.failed}: ${messageOf(failure)}`);
    } finally {
      setBusy(false);
      void refresh("/api/settings/database", "/api/system");
    }
  }

  /** The gateway says what would be lost, and does nothing until it is forced. */
  const ask = () =>
    act(async () => {
      try {
        await api.POST(PATH, { body: { ...chosen, force: false }, headers });
      } catch (failure) {
        if (!(failure instanceof ApiError) || failure.status !== NEEDS_FORCE || failure.body.warning === undefined) throw failure;
        const { warning, discardedSince } = failure.body;
        confirm({
          title: back.confirmTitle,
          body: (
            <Stack gap="xs">
              <Text>{String(warning)}</Text>
              {typeof discardedSince === "string" && <Text fw={600}>{back.since(exact(discardedSince))}</Text>}
            </Stack>
          ),
          action: back.action,
          word: back.word,
          run: async () => void act(force),
        });
      }
    });

  async function force() {
    onChanging(true);
    try {
      const { data } = await api.POST(PATH, { body: { ...chosen, force: true }, headers });
      onDone([back.done(duration(data?.durationMs)), data?.warning].filter(Boolean).join(" "));
      await cache.invalidateQueries();
    } finally {
      onChanging(false);
    }
  }

  const names = engine.snapshots.map((path) => ({ value: path, label: nameOf(path) }));
  return (
    <Section title={back.title} about={back.about}>
      <Stack gap="sm" maw={560}>
        {names.length === 0 ? (
          <Text c="dimmed">{back.none}</Text>
        ) : (
          <>
            <Select label={back.snapshot} placeholder={back.newest} data={names} value={snapshot} onChange={setSnapshot} clearable />
            <Group>
              <Button variant="default" c="var(--bad)" leftSection={<IconArrowBackUp size={14} />} onClick={() => void ask()} loading={busy} disabled={isBusy}>
                {back.start}
              </Button>
            </Group>
          </>
        )}
        {error && (
          <Alert color="red" variant="light" role="alert">
            {error}
          </Alert>
        )}
      </Stack>
    </Section>
  );
}

/** The moment in a snapshot's name; the name itself where there is none. */
function nameOf(path: string): string {
  const name = path.split(/[\\/]/).at(-1) ?? path;
  const found = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)/.exec(name);
  return found ? exact(`${found[1]}T${found[2]}:${found[3]}:${found[4]}Z`).slice(0, 19) : name;
}
