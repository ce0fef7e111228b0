/** The assisted login: a person signs in on the vendor's own pages, and the gateway keeps the cookie. */
import { Alert, Anchor, Button, Group, Loader, Stack, Text } from "@mantine/core";
import { IconExternalLink, IconLogin2 } from "@tabler/icons-react";
import { useEffect, useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import { RelativeTime } from "~/ui/RelativeTime";
import type { Connection } from "./AccountForm";

const { webLogin: words } = texts.providers;
const POLL_MS = 1_000;
type Started = Shape<"StartedAnswer">;

interface Props {
  vendor: { id: string; name: string };
  /** Of the new account. */
  name: string;
  /** The account whose cookie is replaced; none for a new one. */
  account?: Connection;
  onDone: (account: Connection) => void;
}

export function WebLogin({ vendor, name, account, onDone }: Props) {
  const [login, setLogin] = useState<Started | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function start() {
    setBusy(true);
    setError(null);
    // Opened by the click itself, because browsers keep later windows shut.
    const opened = window.open("", "_blank");
    try {
      const { data } = await api.POST("/api/providers/web-login/start", { body: { provider: vendor.id } });
      if (opened && data) {
        // The vendor's page must not reach this one.
        opened.opener = null;
        opened.location.replace(data.url);
      }
      setLogin(data ?? null);
    } catch (failure) {
      opened?.close();
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Stack gap="xs">
      {login ? (
        <Waiting
          login={login}
          name={name}
          account={account}
          onDone={onDone}
          onEnd={(reason) => {
            setLogin(null);
            setError(reason);
          }}
        />
      ) : (
        <Button variant="light" leftSection={<IconLogin2 size={14} />} loading={busy} onClick={start}>
          {words.start(vendor.name)}
        </Button>
      )}
      {error && (
        <Alert color="red" variant="light" p="xs" role="alert">
          {error}
        </Alert>
      )}
      {!login && (
        <Text size="xs" c="dimmed">
          {words.hint}
        </Text>
      )}
    </Stack>
  );
}

interface WaitingProps {
  login: Started;
  name: string;
  account?: Connection;
  onDone: (account: Connection) => void;
  /** The login is over without an account; `null` where a person wanted that. */
  onEnd: (reason: string | null) => void;
}

function Waiting({ login, name, account, onDone, onEnd }: WaitingProps) {
  const status = query.useQuery(
    "get",
    "/api/providers/web-login/status",
    { params: { query: { id: login.id } } },
    // Also while the window of the vendor covers this one.
    { refetchInterval: POLL_MS, refetchIntervalInBackground: true, staleTime: 0, gcTime: 0 },
  );
  const state = status.data?.state ?? "waiting";
  const isOver = status.error !== null;

  useEffect(() => {
    if (isOver) onEnd(messageOf(status.error));
    if (state === "captured") void finish();
    // Each happens once in a login.
  }, [isOver, state]);

  function cancel() {
    onEnd(null);
    // Otherwise it ends by itself in a few minutes.
    api.POST("/api/providers/web-login/cancel", { body: { id: login.id } }).catch(() => {});
  }

  async function finish() {
    try {
      const { data } = await api.POST("/api/providers/web-login/finish", {
        body: { id: login.id, ...(account ? { connectionId: account.id } : { name: name.trim() }) },
      });
      await refresh("/api/providers", "/api/vendors", "/v1/models", "/api/health", "/api/models");
      onDone(data!.connection as Connection);
    } catch (failure) {
      onEnd(messageOf(failure));
    }
  }

  return (
    <Alert variant="light" p="xs" icon={<Loader size={14} />} role="status">
      <Stack gap={6} align="flex-start">
        <Text>{words.states[state] ?? state}</Text>
        <Group gap="md">
          {state === "waiting" && (
            <Anchor href={login.url} target="_blank" rel="noreferrer" size="xs">
              {words.open} <IconExternalLink size={11} />
            </Anchor>
          )}
          <Text size="xs" c="dimmed" component="span">
            {words.ends} <RelativeTime at={status.data?.expiresAt ?? login.expiresAt} />
          </Text>
          <Anchor component="button" type="button" size="xs" onClick={cancel}>
            {texts.common.cancel}
          </Anchor>
        </Group>
      </Stack>
    </Alert>
  );
}
