/** Saving the gateway's data as a file, all or some of it, and putting such a file back. */
import { Alert, Button, Checkbox, Group, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";

import { api, messageOf } from "~/api/client";
import { size } from "~/format/numbers";
import { PASSWORD_HEADER, PasswordGate } from "~/session/PasswordGate";
import { texts } from "~/texts";
import { save } from "~/ui/download";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { Restore } from "./Restore";

const { save: words, part } = texts.backup;
const JSON_TYPE = "application/json";
const SELECTIVE = "/api/settings/database/selective";

export function Backup() {
  return (
    <PasswordGate>
      {(password) => (
        <Stack gap="md">
          <Save password={password} />
          <SavePart password={password} />
          <Restore password={password} />
        </Stack>
      )}
    </PasswordGate>
  );
}

/** What became of the last act of a section. */
export function useOutcome() {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ isGood: boolean; text: string } | null>(null);

  async function run(work: () => Promise<string>) {
    setBusy(true);
    setOutcome(null);
    try {
      setOutcome({ isGood: true, text: await work() });
    } catch (failure) {
      setOutcome({ isGood: false, text: messageOf(failure) });
    } finally {
      setBusy(false);
    }
  }

  const shown = outcome && (
    <Alert color={outcome.isGood ? "green" : "red"} variant="light" p="xs" role={outcome.isGood ? "status" : "alert"}>
      {outcome.text}
    </Alert>
  );
  return { busy, shown, run, forget: () => setOutcome(null) };
}

function Save({ password }: { password: string }) {
  const [secrets, setSecrets] = useState(false);
  const { busy, shown, run } = useOutcome();

  const download = () =>
    run(async () => {
      const { data, response } = await api.GET("/api/settings/database", {
        params: { query: { includeSecrets: secrets } },
        headers: { [PASSWORD_HEADER]: password },
        parseAs: "text",
      });
      const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
      const content = String(data);
      save(name ?? "model-gateway.json", JSON_TYPE, content);
      return words.saved(size(content.length));
    });

  return (
    <Section title={words.title} about={words.about}>
      <Stack gap="sm" align="flex-start">
        <Switch label={words.secrets} description={words.secretsHint} checked={secrets} onChange={(event) => setSecrets(event.target.checked)} />
        <Button leftSection={<IconDownload size={14} />} onClick={() => void download()} loading={busy}>
          {words.start}
        </Button>
        {shown}
      </Stack>
    </Section>
  );
}

interface Choice {
  id: string;
  name: string;
  count: number;
}
interface Catalog {
  providers: Choice[];
  combos: Choice[];
}

function SavePart({ password }: { password: string }) {
  const [providers, setProviders] = useState<string[]>([]);
  const [combos, setCombos] = useState<string[]>([]);
  const [secrets, setSecrets] = useState(false);
  const { busy, shown, run, forget } = useOutcome();
  const catalog = useQuery({
    queryKey: ["post", SELECTIVE, "catalog"],
    queryFn: async () => {
      const { data } = await api.POST(SELECTIVE, { body: { action: "catalog", password } });
      return data as unknown as Catalog;
    },
  });

  const download = () =>
    run(async () => {
      const body = { password, selection: { providers, combos }, includeSecrets: secrets, acknowledgeSecretExport: secrets };
      const { data } = await api.POST(SELECTIVE, { body: { ...body, action: "export" } });
      const tables = Object.values((data as { tables: Record<string, { rows: unknown[] }> }).tables);
      save(`model-gateway-selection-${new Date().toISOString().slice(0, 10)}.json`, JSON_TYPE, JSON.stringify(data));
      return part.saved(tables.reduce((sum, { rows }) => sum + rows.length, 0));
    });

  return (
    <Section title={part.title} about={part.about}>
      <Loaded of={catalog}>
        {(found) =>
          found.providers.length + found.combos.length === 0 ? (
            <Text c="dimmed">{part.none}</Text>
          ) : (
            <Stack gap="sm" align="flex-start">
              <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg" w="100%">
                <Choices
                  title={part.providers}
                  of={found.providers}
                  describe={part.accounts}
                  chosen={providers}
                  onChange={(chosen) => {
                    setProviders(chosen);
                    forget();
                  }}
                />
                <Choices
                  title={part.combos}
                  of={found.combos}
                  describe={part.models}
                  chosen={combos}
                  onChange={(chosen) => {
                    setCombos(chosen);
                    forget();
                  }}
                />
              </SimpleGrid>
              <Switch label={part.secrets} checked={secrets} onChange={(event) => setSecrets(event.target.checked)} />
              <Button
                variant="default"
                leftSection={<IconDownload size={14} />}
                onClick={() => void download()}
                loading={busy}
                disabled={providers.length + combos.length === 0}
              >
                {part.start}
              </Button>
              {shown}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}

interface ChoicesProps {
  title: string;
  of: Choice[];
  describe: (count: number) => string;
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

function Choices({ title, of, describe, chosen, onChange }: ChoicesProps) {
  if (of.length === 0) return null;
  return (
    <Checkbox.Group label={title} value={chosen} onChange={onChange}>
      <Stack gap={6} mt={6} mah={240} style={{ overflowY: "auto" }}>
        {of.map(({ id, name, count }) => (
          <Group key={id} gap={8} wrap="nowrap">
            <Checkbox size="xs" value={id} label={name} />
            <Text span size="xs" c="dimmed">{describe(count)}</Text>
          </Group>
        ))}
      </Stack>
    </Checkbox.Group>
  );
}
