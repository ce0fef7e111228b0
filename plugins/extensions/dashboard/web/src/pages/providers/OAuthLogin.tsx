/** A login that the vendor offers to third parties: in a window of its own, or with a code to type in. */
import { Alert, Anchor, Button, Code, Group, Loader, Stack, Text } from "@mantine/core";
import { IconDeviceMobile, IconExternalLink, IconLogin2 } from "@tabler/icons-react";
import { useEffect, useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, type Shape } from "~/api/client";
import { CALLBACK, listenForReturn } from "~/session/callback";
import { texts } from "~/texts";
import type { Connection } from "./AccountForm";

const { oauth: words } = texts.providers;
type Device = Shape<"DeviceAnswer">;

interface Props {
  vendor: { id: string; name: string; loginFlows: readonly string[] };
  /** Of the new account, with its further fields. */
  name: string;
  data: Record<string, unknown>;
  /** The account whose tokens are replaced; none for a new one. */
  account?: Connection;
  onDone: (account: Connection) => void;
}

type Login = { kind: "browser"; state: string; url: string } | { kind: "code"; device: Device };

export function OAuthLogin({ vendor, name, data, account, onDone }: Props) {
  const [login, setLogin] = useState<Login | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const params = { path: { provider: vendor.id } };
  const meta = account ? { connectionId: account.id } : { name: name.trim(), providerSpecificData: data };

  async function begin(work: () => Promise<Login>) {
    setBusy(true);
    setError(null);
    try {
      setLogin(await work());
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  function inWindow() {
    // Opened by the click itself, because browsers keep later windows shut.
    const opened = window.open("", "_blank");
    return begin(async () => {
      try {
        const redirect_uri = window.location.origin + CALLBACK;
        const { data: begun } = await api.GET("/api/oauth/{provider}/authorize", { params: { ...params, query: { redirect_uri } } });
        if (opened) {
          // The vendor's page must not reach this one.
          opened.opener = null;
          opened.location.replace(begun!.authUrl);
        }
        return { kind: "browser", state: begun!.state, url: begun!.authUrl };
      } catch (failure) {
        opened?.close();
        throw failure;
      }
    });
  }

  const withCode = () =>
    begin(async () => {
      const { data: device } = await api.GET("/api/oauth/{provider}/device-code", { params });
      return { kind: "code", device: device! };
    });

  async function finish(saved: unknown) {
    await refresh("/api/providers", "/api/vendors", "/v1/models", "/api/health", "/api/models");
    onDone(saved as Connection);
  }

  function end(reason: string | null) {
    setLogin(null);
    setError(reason);
  }

  function cancel() {
    const body = login?.kind === "browser" ? { state: login.state } : { deviceCode: login?.device.device_code };
    end(null);
    // Otherwise it ends by itself in a few minutes.
    api.POST("/api/oauth/{provider}/cancel", { params, body }).catch(() => {});
  }

  useEffect(() => {
    if (login?.kind !== "browser") return;
    return listenForReturn(login.state, async ({ code, error: refused }) => {
      if (!code) return end(words.refused(refused ?? ""));
      try {
        const body = { code, state: login.state, meta };
        const { data: done } = await api.POST("/api/oauth/{provider}/exchange", { params, body });
        await finish(done!.connection);
      } catch (failure) {
        end(messageOf(failure));
      }
    });
    // The form beside it may change while a person signs in.
  }, [login, name, data]);

  useEffect(() => {
    if (login?.kind !== "code") return;
    let timer: number | undefined;
    let isOver = false;
    const poll = async () => {
      try {
        const body = { deviceCode: login.device.device_code, extraData: meta };
        const { data: done } = await api.POST("/api/oauth/{provider}/poll", { params, body });
        if (isOver) return;
        if (done!.success) await finish(done!.connection);
        else if (done!.pending) timer = window.setTimeout(poll, login.device.interval * 1000);
        else end(words.refused(done!.errorDescription ?? done!.error ?? ""));
      } catch (failure) {
        if (!isOver) end(messageOf(failure));
      }
    };
    timer = window.setTimeout(poll, login.device.interval * 1000);
    return () => {
      isOver = true;
      window.clearTimeout(timer);
    };
  }, [login]);

  return (
    <Stack gap="xs">
      {login === null ? (
        <>
          <Group gap="xs" grow>
            {vendor.loginFlows.includes("browser") && (
              <Button variant="light" leftSection={<IconLogin2 size={14} />} loading={busy} onClick={inWindow}>
                {words.start(vendor.name)}
              </Button>
            )}
            {vendor.loginFlows.includes("code") && (
              <Button variant="light" leftSection={<IconDeviceMobile size={14} />} loading={busy} onClick={withCode}>
                {words.startWithCode}
              </Button>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {words.hint}
          </Text>
        </>
      ) : (
        <Alert variant="light" p="xs" icon={<Loader size={14} />} role="status">
          <Stack gap={6} align="flex-start">
            {login.kind === "browser" ? (
              <Text>{words.waiting}</Text>
            ) : (
              <>
                <Text>{words.typeIn}</Text>
                <Code fz="lg">{login.device.user_code}</Code>
              </>
            )}
            <Group gap="md">
              <Anchor
                href={login.kind === "browser" ? login.url : (login.device.verification_uri_complete ?? login.device.verification_uri)}
                target="_blank"
                rel="noreferrer"
                size="xs"
              >
                {words.open} <IconExternalLink size={11} />
              </Anchor>
              <Anchor component="button" type="button" size="xs" onClick={cancel}>
                {texts.common.cancel}
              </Anchor>
            </Group>
          </Stack>
        </Alert>
      )}
      {error && (
        <Alert color="red" variant="light" p="xs" role="alert">
          {error}
        </Alert>
      )}
    </Stack>
  );
}
