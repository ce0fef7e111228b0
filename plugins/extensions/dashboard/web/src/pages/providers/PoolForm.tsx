import { Button, Group, Stack, Switch, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api } from "~/api/client";
import { texts } from "~/texts";
import { useAction } from "~/ui/action";
import { notifyDone } from "~/ui/confirm";
import { Dialog } from "~/ui/Dialog";
import type { Pool } from "./Pools";

const words = texts.providers.pools;

/** Makes a proxy pool, or changes one. */
export function PoolForm({ pool, onClose }: { pool: Pool | null; onClose: () => void }) {
  const form = useForm({
    initialValues: {
      name: pool?.name ?? "",
      proxyUrl: pool?.proxyUrl ?? "",
      noProxy: pool?.noProxy ?? "",
      strictProxy: pool?.strictProxy ?? true,
    },
  });
  const [act, failure] = useAction();
  const [isBusy, setBusy] = useState(false);

  const save = () =>
    act(async () => {
      setBusy(true);
      try {
        const body = form.values;
        if (pool) await api.PUT("/api/proxy-pools/{id}", { params: { path: { id: pool.id } }, body });
        else await api.POST("/api/proxy-pools", { body });
        await refresh("/api/proxy-pools");
        notifyDone(words.saved(body.name));
        onClose();
      } finally {
        setBusy(false);
      }
    });

  return (
    <Dialog onClose={onClose} title={pool ? words.edit(pool.name) : words.add}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack gap="sm">
          <TextInput label={words.name} data-autofocus required maxLength={200} {...form.getInputProps("name")} />
          <TextInput label={words.url} description={words.urlHint} required placeholder="http://127.0.0.1:3128" {...form.getInputProps("proxyUrl")} />
          <TextInput label={words.noProxy} description={words.noProxyHint} {...form.getInputProps("noProxy")} />
          <Switch label={words.strict} description={words.strictHint} {...form.getInputProps("strictProxy", { type: "checkbox" })} />
          {failure}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {texts.common.cancel}
            </Button>
            <Button type="submit" loading={isBusy}>
              {pool ? texts.common.save : texts.common.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
