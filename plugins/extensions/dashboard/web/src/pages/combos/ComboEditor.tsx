/** Makes a combo, or changes one, and tries it. */
import { Alert, Autocomplete, Button, Group, List, Radio, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useState } from "react";

import { api, messageOf, type Shape } from "~/api/client";
import { refresh } from "~/api/cache";
import { texts } from "~/texts";
import { confirm, notifyDone } from "~/ui/confirm";
import { Dialog } from "~/ui/Dialog";
import { useAbilities } from "./catalog";
import { type Combo, membersOf, warningsOf } from "./draft";
import { Members } from "./Members";

const combos = texts.combos;
export type Strategies = NonNullable<Shape<"SettingsChange">["comboStrategies"]>;
type Strategy = Strategies[string];

interface Props {
  combo: Combo | null;
  strategies: Strategies;
  general: string;
  onClose: () => void;
}

export function ComboEditor({ combo, strategies, general, onClose }: Props) {
  const own: Strategy | undefined = combo ? strategies[combo.name] : undefined;
  const [name, setName] = useState(combo?.name ?? "");
  const [members, setMembers] = useState(combo ? membersOf(combo) : []);
  const [strategy, setStrategy] = useState<string>(own?.fallbackStrategy ?? "");
  const [judge, setJudge] = useState(own?.judgeModel ?? "");
  const [added, setAdded] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const { known, names } = useAbilities();
  const used = strategy || general;
  const warnings = warningsOf(members, known);

  function add(model: string) {
    if (!model || members.some((each) => each.model === model)) return;
    setMembers((before) => [...before, { model, weight: 1 }]);
    // After the field has put the chosen name into itself.
    setTimeout(() => setAdded(""));
  }

  async function save() {
    setBusy(true);
    setError(null);
    try {
      const body = {
        name: name.trim(),
        models: members.map((member) => member.model),
        members: members.map(({ model, weight, connectionId }) => ({ model, weight, ...(connectionId ? { connectionId } : {}) })) as never,
      };
      if (combo) await api.PUT("/api/combos/{id}", { params: { path: { id: combo.id } }, body });
      else await api.POST("/api/combos", { body });
      const { [combo?.name ?? ""]: _, ...others } = strategies;
      const chosen = { ...own, fallbackStrategy: (strategy || null) as Strategy["fallbackStrategy"], judgeModel: judge || null };
      await api.PATCH("/api/settings", { body: { comboStrategies: { ...others, [body.name]: chosen } } });
      await refresh("/api/combos", "/api/settings", "/api/models", "/v1/models");
      notifyDone(combos.saved(body.name));
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  }

  function remove() {
    if (!combo) return;
    confirm({
      title: combos.remove(combo.name),
      body: combos.removeHint,
      action: texts.common.delete,
      run: async () => {
        await api.DELETE("/api/combos/{id}", { params: { path: { id: combo.id } } });
        await refresh("/api/combos", "/api/models", "/v1/models");
        notifyDone(combos.removed(combo.name));
        onClose();
      },
    });
  }

  return (
    <Dialog onClose={onClose} title={combo ? combos.edit(combo.name) : combos.create} size={720}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack gap="md">
          <TextInput label={combos.name} description={combos.nameHint} value={name} onChange={(event) => setName(event.currentTarget.value)} maxLength={128} required data-autofocus />
          <Stack gap={6}>
            <Title order={3}>{combos.members}</Title>
            <Text size="xs" c="dimmed">
              {combos.membersHint}
            </Text>
            <Members members={members} onChange={setMembers} weights={used === "weighted"} />
            <Autocomplete
              aria-label={combos.add}
              placeholder={combos.add}
              data={names.filter((each) => members.every((member) => member.model !== each))}
              limit={40}
              value={added}
              onChange={setAdded}
              onOptionSubmit={add}
              onKeyDown={(event) => {
                if (event.key !== "Enter") return;
                event.preventDefault();
                add(added.trim());
              }}
            />
          </Stack>
          {warnings.length > 0 && (
            <Alert color="orange" variant="light" icon={<IconAlertTriangle size={16} />}>
              <List size="sm">
                {warnings.map((warning) => (
                  <List.Item key={warning}>{warning}</List.Item>
                ))}
              </List>
            </Alert>
          )}
          <Radio.Group label={combos.strategy} value={strategy} onChange={setStrategy}>
            <Stack gap={6} mt={6}>
              <Radio size="xs" value="" label={combos.general(combos.strategies[general]?.[0] ?? general)} />
              {Object.entries(combos.strategies).map(([value, [label, about]]) => (
                <Radio key={value} size="xs" value={value} label={label} description={about} />
              ))}
            </Stack>
          </Radio.Group>
          {used === "fusion" && <Select label={combos.judge} data={[...new Set([...names, ...(judge ? [judge] : [])])]} value={judge || null} onChange={(value) => setJudge(value ?? "")} searchable clearable limit={100} />}
          {error && (
            <Text c="var(--bad)" role="alert">
              {error}
            </Text>
          )}
          <Group justify="space-between">
            {combo ? (
              <Button variant="subtle" color="red" onClick={remove}>
                {texts.common.delete}
              </Button>
            ) : (
              <span />
            )}
            <Group gap="xs">
              <Button variant="default" onClick={onClose}>
                {texts.common.cancel}
              </Button>
              <Button type="submit" loading={busy} disabled={!name.trim() || members.length === 0}>
                {combos.save}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
