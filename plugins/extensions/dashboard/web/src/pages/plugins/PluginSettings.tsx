/** The settings of a plugin: a form made of their JSON Schema. */
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query } from "~/api/client";
import { texts } from "~/texts";
import { confirm, notifyDone } from "~/ui/confirm";
import { type Property, resolve, SchemaField } from "~/ui/SchemaField";
import { Loaded } from "~/ui/states";

const plugins = texts.plugins;
const common = texts.common;
const PATH = "/api/plugins/{name}/settings";
type Values = Record<string, unknown>;

export function PluginSettings({ name }: { name: string }) {
  const params = { params: { path: { name } } };
  const stored = query.useQuery("get", PATH, params);
  const schema = query.useQuery("get", `${PATH}/schema`, params);
  return (
    <Loaded of={stored}>
      {(settings) => (
        <Loaded of={schema}>
          {(document) => (
            <Form key={JSON.stringify(settings.settings)} name={name} settings={settings} document={document as Property} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

interface FormProps {
  name: string;
  settings: { settings: Values; fields: readonly { name: string; secret: boolean; source: string; variable: string }[]; restartRequired: boolean; problems: readonly string[] };
  document: Property;
}

function Form({ name, settings, document, }: FormProps) {
  const [changes, setChanges] = useState<Values>({});
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const root = resolve(document, document);

  async function save() {
    setBusy(true);
    setError(null);
    try {
      await api.PATCH(PATH, { params: { path: { name } }, body: changes as Record<string, never> });
      await refresh("/api/plugins");
      notifyDone(plugins.saved);
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Stack gap="sm">
      {settings.restartRequired && <Alert color="orange">{plugins.restartRequired}</Alert>}
      {settings.problems.map((problem) => (
        <Alert key={problem} color="red">{problem}</Alert>
      ))}
      {settings.fields.map((field) => (
        <SchemaField
          key={field.name}
          name={field.name}
          property={resolve(root.properties?.[field.name] ?? {}, document)}
          secret={field.secret}
          hint={field.secret && settings.settings[field.name] ? plugins.secretKept : plugins.source(field.source)}
          value={field.name in changes ? changes[field.name] : field.secret ? "" : settings.settings[field.name]}
          onChange={(value) => setChanges((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {error && <Text c="var(--bad)" role="alert">{error}</Text>}
      <Group justify="flex-end" gap="xs">
        <Button variant="subtle" color="gray" onClick={() => askToReset(name)}>{plugins.reset}</Button>
        <Button onClick={() => void save()} loading={busy} disabled={Object.keys(changes).length === 0}>{common.save}</Button>
      </Group>
    </Stack>
  );
}

function askToReset(name: string): void {
  confirm({
    title: plugins.reset,
    body: plugins.resetBody,
    action: plugins.reset,
    run: async () => {
      await api.DELETE(PATH, { params: { path: { name } } });
      await refresh("/api/plugins");
    },
  });
}
