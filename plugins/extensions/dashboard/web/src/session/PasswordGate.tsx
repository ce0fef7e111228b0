/** Asks for the password that some routes want besides the session, and keeps it until the page is left. */
import { Alert, Button, Center, Group, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { IconLock, IconLockOpen } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";

import { refresh } from "~/api/cache";
import { api, ApiError, messageOf, query } from "~/api/client";
import { texts } from "~/texts";
import { EmptyState, Loaded } from "~/ui/states";

const { gate } = texts.database;
export const PASSWORD_HEADER = "x-gateway-password";

export function PasswordGate({ children }: { children: (password: string) => ReactNode }) {
  const status = query.useQuery("get", "/api/auth/status");
  const [password, setPassword] = useState<string | null>(null);
  if (password !== null) return <>{children(password)}</>;
  return (
    <Loaded of={status}>
      {({ authenticated }) =>
        authenticated ? (
          <Asking onOpen={setPassword} />
        ) : (
          <EmptyState
            icon={IconLock}
            title={gate.none}
            hint={gate.noneHint}
            action={<Button component={Link} to="/settings">{gate.set}</Button>}
          />
        )
      }
    </Loaded>
  );
}

function Asking({ onOpen }: { onOpen: (password: string) => void }) {
  const [entered, setEntered] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function open() {
    setBusy(true);
    setError(null);
    try {
      await api.GET("/api/settings/database/engine", { headers: { [PASSWORD_HEADER]: entered } });
      onOpen(entered);
    } catch (failure) {
      setError(refusalOf(failure));
      setBusy(false);
      // Behind the same status may be a session that has ended.
      void refresh("/api/auth/status");
    }
  }

  return (
    <Center py={48}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}
      >
        <Stack gap="sm" w="min(360px, calc(100vw - 48px))">
          <Group gap="xs">
            <IconLock size={18} stroke={1.6} />
            <Title order={2}>{gate.title}</Title>
          </Group>
          <Text c="dimmed">{gate.about}</Text>
          <PasswordInput
            label={gate.password}
            value={entered}
            onChange={(event) => setEntered(event.currentTarget.value)}
            autoComplete="current-password"
          />
          {error && (
            <Alert color="red" variant="light" p="xs" role="alert">
              {error}
            </Alert>
          )}
          <Group>
            <Button type="submit" leftSection={<IconLockOpen size={14} />} loading={busy} disabled={!entered}>
              {gate.open}
            </Button>
          </Group>
        </Stack>
      </form>
    </Center>
  );
}

/** Why a route that wants the password refuses, as people read it. */
function refusalOf(failure: unknown): string {
  if (!(failure instanceof ApiError)) return messageOf(failure);
  const left = failure.body.remainingBeforeLock;
  return typeof left === "number" ? gate.wrong(left) : failure.message;
}
