/** How long usage and bodies are kept. */
import { Button, Group, NumberInput, Stack, Switch, Text } from "@mantine/core";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api, query } from "~/api/client";
import { count } from "~/format/numbers";
import { texts } from "~/texts";
import { confirm, notifyDone } from "~/ui/confirm";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { changeQuietly, useSettings } from "./stored";

const { retention } = texts.settings;

export function Retention() {
  const kept = query.useQuery("get", "/api/data-retention");
  const settings = useSettings();
  return (
    <Stack gap="md">
      <Section title={retention.title} about={retention.about}>
        <Loaded of={kept}>
          {({ enabled, days, lastRun }) => (
            <Stack gap="sm" maw={480}>
              <Switch label={retention.enabled} checked={enabled} onChange={(event) => changeQuietly({ dataRetentionEnabled: event.currentTarget.checked })} />
              <Amount key={days} label={retention.days} value={days} onSave={(value) => changeQuietly({ dataRetentionDays: value })} />
              <Text c="dimmed">
                {retention.last}: {lastRun ? <RelativeTime at={lastRun.ranAt} /> : retention.never}
              </Text>
              <Group>
                <Button variant="default" onClick={() => askToRun(days)}>{retention.run}</Button>
              </Group>
            </Stack>
          )}
        </Loaded>
      </Section>
      <Section title={retention.bodies} about={retention.bodiesAbout}>
        <Loaded of={settings}>
          {(document) => (
            <Stack gap="sm" maw={480}>
              <Switch
                label={retention.record}
                checked={document.enableObservability === true}
                onChange={(event) => changeQuietly({ enableObservability: event.currentTarget.checked })}
              />
              <Amount
                key={document.observabilityMaxRecords}
                label={retention.records}
                value={document.observabilityMaxRecords ?? 0}
                onSave={(value) => changeQuietly({ observabilityMaxRecords: value })}
              />
            </Stack>
          )}
        </Loaded>
      </Section>
    </Stack>
  );
}

/** A number that is saved when it is left, or with the enter key. */
function Amount({ label, value, onSave }: { label: string; value: number; onSave: (value: number) => void }) {
  const [entered, setEntered] = useState<number | string>(value);
  const save = () => {
    if (typeof entered === "number" && entered !== value) onSave(entered);
  };
  return (
    <NumberInput
      label={label}
      value={entered}
      onChange={setEntered}
      min={1}
      allowDecimal={false}
      w={160}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === "Enter") save();
      }}
    />
  );
}

function askToRun(days: number): void {
  confirm({
    title: retention.run,
    body: retention.runBody(days),
    action: retention.run,
    run: async () => {
      const { data } = await api.POST("/api/data-retention", { body: { days } });
      await refresh("/api/data-retention", "/api/usage");
      notifyDone(retention.deleted(count(data?.deleted?.usage ?? 0)));
    },
  });
}
