/** Adds a model that no list has. */
import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import { api, messageOf } from "~/api/client";
import { refresh } from "~/api/cache";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { Dialog } from "~/ui/Dialog";

const models = texts.models;

interface Props {
  prefixes: readonly string[];
  kinds: readonly string[];
  onClose: () => void;
}

export function AddModel({ prefixes, kinds, onClose }: Props) {
  const [prefix, setPrefix] = useState<string | null>(null);
  const [id, setId] = useState("");
  const [name, setName] = useState("");
  const [kind, setKind] = useState<string>("llm");
  const [error, setError] = useState<string | null>(null);

  async function add() {
    setError(null);
    try {
      await api.POST("/api/models/custom", { body: { providerAlias: prefix, id: id.trim(), name: name.trim() || null, kind } });
      await refresh("/api/models", "/v1/models");
      notifyDone(models.added(`${prefix}/${id.trim()}`));
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  return (
    <Dialog onClose={onClose} title={models.add}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <Stack>
          <Text c="dimmed">{models.addHint}</Text>
          <Select label={models.provider} data={[...prefixes]} value={prefix} onChange={setPrefix} searchable required data-autofocus />
          <TextInput label={models.id} value={id} onChange={(event) => setId(event.currentTarget.value)} required />
          <TextInput label={models.name} value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <Select label={models.kind} data={[...new Set(["llm", ...kinds])]} value={kind} onChange={(value) => setKind(value ?? "llm")} allowDeselect={false} />
          {error && (
            <Text c="var(--bad)" role="alert">
              {error}
            </Text>
          )}
          <Group justify="flex-end">
            <Button type="submit" disabled={!prefix || !id.trim()}>
              {texts.common.add}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
