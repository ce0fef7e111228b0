/** One model: what is known of it, its alias, whether it is listed, and a test. */
import { Badge, Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import { api, messageOf } from "~/api/client";
import { refresh } from "~/api/cache";
import { count, duration } from "~/format/numbers";
import { texts } from "~/texts";
import { useAction } from "~/ui/action";
import { notifyDone, notifyError } from "~/ui/confirm";
import { CopyField } from "~/ui/copying";
import { Facts } from "~/ui/Facts";
import { SideSheet } from "~/ui/SideSheet";
import { StatusDot } from "~/ui/status";
import type { ModelFacts } from "./rows";
import type { Batch } from "./testing";

const models = texts.models;
const LISTS = ["/api/models", "/v1/models"] as const;

/** Disables a model or enables it, with a way back. Throws what the gateway answers instead. */
async function setDisabled(model: ModelFacts, isDisabled: boolean): Promise<void> {
  if (isDisabled) await api.POST("/api/models/disabled", { body: { providerAlias: model.prefix, ids: [model.id] } });
  else await api.DELETE("/api/models/disabled", { params: { query: { providerAlias: model.prefix, id: model.id } } });
  await refresh(...LISTS);
  notifyDone(isDisabled ? models.disabled(model.full) : models.enabled(model.full), () => void setDisabled(model, !isDisabled).catch(notifyError));
}

interface Props {
  model: ModelFacts;
  batch: Batch;
  onClose: () => void;
}

export function ModelSheet({ model, batch, onClose }: Props) {
  const outcome = batch.outcomes.get(model.full);
  const [act, failure] = useAction();
  const { price } = model;
  const dollars = (value: number | undefined) => (value === undefined ? null : `$${value}`);

  async function removeOwn() {
    await api.DELETE("/api/models/custom", { params: { query: { providerAlias: model.prefix, id: model.id } as never } });
    await refresh(...LISTS);
    notifyDone(models.removed(model.full));
    onClose();
  }

  return (
    <SideSheet
      opened
      onClose={onClose}
      title={model.name}
      about={
        <Group gap={6}>
          {model.full}
          {model.isDisabled && <Badge color="gray">{models.disabledMark}</Badge>}
        </Group>
      }
      actions={
        <>
          <Button variant="default" loading={batch.planned > 0} disabled={model.isDisabled} onClick={() => void batch.run([model])}>
            {models.test}
          </Button>
          <Button variant="default" onClick={() => void act(() => setDisabled(model, !model.isDisabled))}>
            {model.isDisabled ? models.enable : models.disable}
          </Button>
          <Button variant="default" component={Link} to={`/requests?model=${encodeURIComponent(model.id)}`}>
            {texts.shell.pages.requests}
          </Button>
          {model.isOwn && (
            <Button variant="light" color="red" onClick={() => void act(removeOwn)}>
              {models.removeOwn}
            </Button>
          )}
        </>
      }
    >
      <Stack gap="lg">
        {failure}
        {outcome && (
          <StatusDot tone={outcome.ok ? "good" : "bad"}>{outcome.ok ? models.works(duration(outcome.latencyMs)) : outcome.error}</StatusDot>
        )}
        <CopyField label={models.call} value={model.full} />
        <Facts
          rows={[
            [models.facts.provider, model.provider],
            [models.facts.kind, model.kind],
            [models.facts.context, model.context === null ? null : models.tokens(count(model.context))],
            [models.facts.output, model.output === null ? null : models.tokens(count(model.output))],
            [models.columns.abilities, model.abilities.length > 0 && model.abilities.map((each) => models.abilities[each]).join(", ")],
            [models.facts.input, price ? dollars(price.input) : models.noPrice],
            [models.facts.cached, dollars(price?.cached)],
            [models.facts.out, dollars(price?.output)],
          ]}
        />
        <Alias model={model} />
      </Stack>
    </SideSheet>
  );
}

function Alias({ model }: { model: ModelFacts }) {
  const [alias, setAlias] = useState(model.alias ?? "");
  const [error, setError] = useState<string | null>(null);

  async function save() {
    setError(null);
    try {
      const wanted = alias.trim();
      if (wanted) await api.PUT("/api/models/alias", { body: { alias: wanted, model: model.full } });
      if (model.alias && model.alias !== wanted) await api.DELETE("/api/models/alias", { params: { query: { alias: model.alias } } });
      await refresh(...LISTS);
      notifyDone(wanted ? models.aliasSaved(wanted, model.full) : models.aliasRemoved(model.alias ?? ""));
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Group gap="xs" align="flex-end">
        <TextInput flex={1} label={models.alias} description={models.aliasHint} value={alias} onChange={(event) => setAlias(event.currentTarget.value)} error={error} />
        <Button type="submit" disabled={alias.trim() === (model.alias ?? "")}>
          {texts.common.save}
        </Button>
      </Group>
    </form>
  );
}
