/** The only models of a provider that are listed; without a choice all are. */
import { Button, Group, Stack, TagsInput, Text } from "@mantine/core";
import { useState } from "react";

import { api, messageOf, query } from "~/api/client";
import { refresh } from "~/api/cache";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { Dialog } from "~/ui/Dialog";

const models = texts.models;
/** Suggestions at once; further ones are found by typing. */
const SUGGESTED = 50;

interface Props {
  prefix: string;
  /** The models that are listed now. */
  known: readonly string[];
  onClose: () => void;
}

export function VisibleModels({ prefix, known, onClose }: Props) {
  const stored = query.useQuery("get", "/api/models/enabled", { params: { query: { providerAlias: prefix } } });
  const [changed, setChanged] = useState<string[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const before = stored.data?.ids ?? [];
  const chosen = changed ?? before;

  async function save(ids: string[]) {
    setError(null);
    try {
      await api.PUT("/api/models/enabled", { body: { providerAlias: prefix, ids } });
      await refresh("/api/models", "/v1/models");
      notifyDone(ids.length > 0 ? models.visibleSaved(prefix, ids.length) : models.allVisible(prefix));
      onClose();
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  return (
    <Dialog onClose={onClose} title={models.visibleOf(prefix)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save(chosen);
        }}
      >
        <Stack>
          <Text c="dimmed">{models.visibleHint}</Text>
          <TagsInput
            label={models.visible}
            data={[...new Set([...known, ...before])]}
            limit={SUGGESTED}
            value={chosen}
            onChange={setChanged}
            disabled={stored.isPending}
            placeholder={chosen.length === 0 ? models.allShown : undefined}
            clearable
            data-autofocus
          />
          {(error || stored.error) && (
            <Text c="var(--bad)" role="alert">
              {error ?? messageOf(stored.error)}
            </Text>
          )}
          <Group justify="flex-end">
            <Button variant="default" disabled={before.length === 0} onClick={() => void save([])}>
              {models.showAll}
            </Button>
            <Button type="submit" disabled={changed === null}>
              {texts.common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
