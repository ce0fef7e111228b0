/** Password, second factor, sessions, and who needs any of them. */
import { Button, Group, PasswordInput, Stack, Switch, Text } from "@mantine/core";
import { useState } from "react";

import { api, messageOf, query } from "~/api/client";
import { refresh } from "~/api/cache";
import { texts } from "~/texts";
import { type Column, DataTable } from "~/ui/DataTable";
import { confirm, notifyDone, notifyError } from "~/ui/confirm";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import type { Shape } from "~/api/client";
import { SecondFactor } from "./SecondFactor";
import { change, changeQuietly, useSettings } from "./stored";

const { access, password, sessions } = texts.settings;
const SWITCHES = [
  ["requireLogin", access.requireLogin, access.requireLoginHint],
  ["requireApiKey", access.requireApiKey, access.requireApiKeyHint],
  ["newKeysInferenceOnly", access.inferenceOnly, access.inferenceOnlyHint],
  ["refuseUnpricedModels", access.refuseUnpriced, access.refuseUnpricedHint],
] as const;

export function Security() {
  const settings = useSettings();
  return (
    <Stack gap="md">
      <Section title={access.title}>
        <Loaded of={settings}>
          {(document) => (
            <Stack gap="sm">
              {SWITCHES.map(([name, label, hint]) => (
                <Switch
                  key={name}
                  label={label}
                  description={hint}
                  checked={document[name] === true}
                  onChange={(event) => changeQuietly({ [name]: event.currentTarget.checked })}
                />
              ))}
            </Stack>
          )}
        </Loaded>
      </Section>
      <Password />
      <SecondFactor />
      <Sessions />
    </Stack>
  );
}

function Password() {
  const [current, setCurrent] = useState("");
  const [fresh, setFresh] = useState("");
  const [again, setAgain] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const differs = again !== "" && again !== fresh;

  async function save() {
    setBusy(true);
    setError(null);
    try {
      await change({ currentPassword: current, newPassword: fresh });
      setCurrent("");
      setFresh("");
      setAgain("");
      notifyDone(password.changed);
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Section title={password.title} about={password.about}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack gap="sm" maw={360}>
          <PasswordInput label={password.current} value={current} onChange={(event) => setCurrent(event.currentTarget.value)} autoComplete="current-password" />
          <PasswordInput label={password.fresh} value={fresh} onChange={(event) => setFresh(event.currentTarget.value)} autoComplete="new-password" />
          <PasswordInput
            label={password.again}
            value={again}
            onChange={(event) => setAgain(event.currentTarget.value)}
            autoComplete="new-password"
            error={differs ? password.differs : undefined}
          />
          {error && <Text c="var(--bad)" role="alert">{error}</Text>}
          <Group>
            <Button type="submit" loading={busy} disabled={!current || !fresh || fresh !== again}>{password.change}</Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

type Listed = Shape<"ListedSession">;

const COLUMNS: Column<Listed>[] = [
  {
    id: "who",
    accessorFn: ({ name, email, method }) => name ?? email ?? method,
    header: sessions.who,
    cell: ({ row: { original }, getValue }) => (
      <Group gap={8} wrap="nowrap">
        <Text fw={500} truncate>{String(getValue())}</Text>
        {original.current && <StatusDot tone="good">{sessions.current}</StatusDot>}
      </Group>
    ),
    meta: { width: "minmax(0, 2fr)" },
  },
  { accessorKey: "address", header: sessions.address, meta: { width: "minmax(0, 1.2fr)", from: 420 } },
  {
    accessorKey: "userAgent",
    header: sessions.agent,
    cell: ({ getValue }) => <Text c="dimmed" truncate>{String(getValue())}</Text>,
    meta: { width: "minmax(0, 2fr)", from: 760 },
  },
  {
    accessorKey: "createdAt",
    header: sessions.since,
    cell: ({ row: { original } }) => <RelativeTime at={original.createdAt} />,
    meta: { width: "120px", from: 560 },
  },
  {
    id: "end",
    header: "",
    enableSorting: false,
    cell: ({ row: { original } }) => (
      <Button size="compact-xs" variant="default" onClick={() => void end(original.id).catch(notifyError)}>{sessions.end}</Button>
    ),
    meta: { width: "72px", align: "right" },
  },
];

async function end(id: string): Promise<void> {
  await api.DELETE("/api/auth/sessions/{id}", { params: { path: { id } } });
  await refresh("/api/auth");
  notifyDone(sessions.ended);
}

function Sessions() {
  const found = query.useQuery("get", "/api/auth/sessions");
  return (
    <Section
      flush
      title={sessions.title}
      about={sessions.about}
      actions={
        <Button
          variant="default"
          onClick={() =>
            confirm({
              title: sessions.endAll,
              body: sessions.endAllBody,
              action: sessions.endAll,
              run: async () => {
                await api.DELETE("/api/auth/sessions");
                window.location.reload();
              },
            })
          }
        >
          {sessions.endAll}
        </Button>
      }
    >
      <DataTable
        label={sessions.title}
        columns={COLUMNS}
        rows={found.data?.sessions ?? []}
        rowId={({ id }) => id}
        loading={found.isPending}
        empty={<Text c="dimmed" p="md">{sessions.none}</Text>}
      />
    </Section>
  );
}
