/** Makes a key, or changes one: every field of its policy, with what they come to in words. */
import { Alert, Box, Button, Group, List, MultiSelect, NumberInput, SimpleGrid, Stack, Switch, TagsInput, Text, TextInput, Title } from "@mantine/core";
import { useState } from "react";

import { api, messageOf, query } from "~/api/client";
import { refresh } from "~/api/cache";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { Dialog } from "~/ui/Dialog";
import { Segments } from "~/ui/Segments";
import { type AccessMode, bodyOf, type Draft, draftOf, type KeyRow, LIMITS, type LimitName, MONEY, NEW, sentences } from "./draft";

const keys = texts.keys;

interface Props {
  /** Null for a new one. */
  row: KeyRow | null;
  onClose: () => void;
  /** Called with the text of a new key. */
  onMade: (made: { name: string; key: string; notices: readonly string[] }) => void;
}

export function KeyEditor({ row, onClose, onMade }: Props) {
  const [draft, setDraft] = useState<Draft>(row ? draftOf(row) : NEW);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const catalog = query.useQuery("get", "/api/keys/policy-catalog");
  const accounts = query.useQuery("get", "/api/providers");
  const change = (values: Partial<Draft>) => setDraft((before) => ({ ...before, ...values }));

  async function save() {
    setBusy(true);
    try {
      if (row) {
        await api.PUT("/api/keys/{id}", { params: { path: { id: row.id } }, body: bodyOf(draft) });
        notifyDone(keys.saved(draft.name));
      } else {
        const { data } = await api.POST("/api/keys", { body: { ...bodyOf(draft), machineId: "any" } });
        if (data) onMade({ name: data.name, key: data.key, notices: data.notices ?? [] });
      }
      await refresh("/api/keys");
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  }

  const names = catalog.data?.models.map((model) => model.id) ?? [];
  return (
    <Dialog onClose={onClose} title={row ? keys.editTitle(row.name) : keys.create} size={860}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <TextInput label={keys.name} description={keys.nameHint} value={draft.name} onChange={(event) => change({ name: event.currentTarget.value })} maxLength={200} required data-autofocus />
            <TextInput type="date" label={keys.expires} description={keys.expiresHint} value={draft.expires} onChange={(event) => change({ expires: event.currentTarget.value })} />
          </SimpleGrid>
          <Stack gap="xs">
            <Title order={3}>{keys.access}</Title>
            <Segments
              label={keys.access}
              value={draft.mode}
              onChange={(mode) => change({ mode })}
              data={(Object.keys(keys.accessModes) as AccessMode[]).map((value) => ({ value, label: keys.accessModes[value] }))}
            />
            {draft.mode !== "all" && (
              <TagsInput label={keys.patterns} description={keys.patternsHint} data={[...new Set(names)]} limit={50} value={draft.patterns} onChange={(patterns) => change({ patterns })} clearable />
            )}
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <MultiSelect label={keys.combos} description={keys.combosHint} data={[...new Set([...(catalog.data?.combos ?? []), ...draft.combos])]} value={draft.combos} onChange={(combos) => change({ combos })} searchable clearable />
              <MultiSelect
                label={keys.accounts}
                description={keys.accountsHint}
                data={(accounts.data?.connections ?? []).map((each) => ({ value: each.id, label: `${each.provider}: ${each.name ?? each.id}` }))}
                value={draft.accounts}
                onChange={(chosen) => change({ accounts: chosen })}
                searchable
                clearable
              />
            </SimpleGrid>
            <Switch label={keys.auto} checked={draft.auto} onChange={(event) => change({ auto: event.currentTarget.checked })} />
            <Switch label={keys.inferenceOnly} description={keys.inferenceOnlyHint} checked={draft.inferenceOnly} onChange={(event) => change({ inferenceOnly: event.currentTarget.checked })} />
          </Stack>
          <Stack gap="xs">
            <Box>
              <Title order={3}>{keys.limits}</Title>
              <Text size="xs" c="dimmed">
                {keys.limitsHint}
              </Text>
            </Box>
            <SimpleGrid cols={{ base: 2, sm: 3, md: 4 }}>
              {LIMITS.map((name) => (
                <Limit key={name} name={name} value={draft.limits[name]} onChange={(value) => change({ limits: { ...draft.limits, [name]: value } })} />
              ))}
            </SimpleGrid>
          </Stack>
          <TagsInput label={keys.groups} value={draft.groups} onChange={(groups) => change({ groups })} />
          <Alert color="iris" variant="light" title={keys.mayDo}>
            <Summary draft={draft} />
          </Alert>
          {error && (
            <Text c="var(--bad)" role="alert">
              {error}
            </Text>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" loading={busy} disabled={draft.name.trim() === ""}>
              {row ? texts.common.save : texts.common.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

export function Summary({ draft }: { draft: Draft }) {
  return (
    <List size="sm" spacing={2} data-testid="summary">
      {sentences(draft).map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  );
}

function Limit({ name, value, onChange }: { name: LimitName; value: number | undefined; onChange: (value: number | undefined) => void }) {
  const isMoney = MONEY.has(name);
  return (
    <NumberInput
      label={keys.fields[name]}
      value={value ?? ""}
      onChange={(entered) => onChange(entered === "" ? undefined : Number(entered))}
      min={0}
      allowDecimal={isMoney}
      prefix={isMoney ? "$" : undefined}
      thousandSeparator=","
      hideControls
    />
  );
}
