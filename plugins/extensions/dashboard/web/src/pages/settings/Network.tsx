/** The outbound proxy, and signing in with an identity provider. */
import { Button, Group, PasswordInput, Select, Stack, Switch, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import { api, messageOf } from "~/api/client";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { change, type Change, type Document, useSettings } from "./stored";

const { proxy, oidc, saved } = texts.settings;
const common = texts.common;
const MODES = (["password", "oidc", "both"] as const).map((value) => ({ value, label: oidc.modes[value] }));

export function Network() {
  const settings = useSettings();
  return (
    <Loaded of={settings} lines={8}>
      {(document) => (
        <Stack gap="md">
          <Proxy document={document} />
          <Oidc document={document} />
        </Stack>
      )}
    </Loaded>
  );
}

/** Members that were changed and not saved yet, and what became of saving them. */
function useChanges() {
  const [changes, setChanges] = useState<Change>({});
  const [message, setMessage] = useState<{ text: string; isGood: boolean } | null>(null);
  const [busy, setBusy] = useState(false);

  async function run(work: () => Promise<string>) {
    setBusy(true);
    setMessage(null);
    try {
      setMessage({ text: await work(), isGood: true });
    } catch (failure) {
      setMessage({ text: messageOf(failure), isGood: false });
    } finally {
      setBusy(false);
    }
  }

  return {
    changes,
    busy,
    message,
    run,
    set: (more: Change) => setChanges((before) => ({ ...before, ...more })),
    save: () =>
      run(async () => {
        await change(changes);
        setChanges({});
        notifyDone(saved);
        return saved;
      }),
  };
}

function Outcome({ message }: { message: { text: string; isGood: boolean } | null }) {
  if (!message) return null;
  return (
    <Text c={message.isGood ? "var(--good)" : "var(--bad)"} role={message.isGood ? "status" : "alert"}>
      {message.text}
    </Text>
  );
}

function Proxy({ document }: { document: Document }) {
  const { changes, busy, message, run, set, save } = useChanges();
  const now = { ...document, ...changes };
  const url = now.outboundProxyUrl ?? "";

  const test = () =>
    run(async () => {
      const { data } = await api.POST("/api/settings/proxy-test", { body: { proxyUrl: url } });
      if (!data?.ok) throw new Error(String(data?.error ?? common.failed));
      return proxy.tested(Math.round(Number(data.elapsedMs ?? 0)));
    });

  return (
    <Section title={proxy.title} about={proxy.about}>
      <Stack gap="sm" maw={480}>
        <Switch label={proxy.enabled} checked={now.outboundProxyEnabled === true} onChange={(event) => set({ outboundProxyEnabled: event.currentTarget.checked })} />
        <TextInput label={proxy.url} description={proxy.urlHint} value={url} onChange={(event) => set({ outboundProxyUrl: event.currentTarget.value })} />
        <TextInput label={proxy.except} description={proxy.exceptHint} value={now.outboundNoProxy ?? ""} onChange={(event) => set({ outboundNoProxy: event.currentTarget.value })} />
        <Outcome message={message} />
        <Group gap="xs">
          <Button onClick={() => void save()} loading={busy} disabled={Object.keys(changes).length === 0}>{common.save}</Button>
          <Button variant="default" onClick={() => void test()} disabled={!url || busy}>{proxy.test}</Button>
        </Group>
      </Stack>
    </Section>
  );
}

function Oidc({ document }: { document: Document }) {
  const { changes, busy, message, run, set, save } = useChanges();
  const now = { ...document, ...changes };
  const secret = typeof changes.oidcClientSecret === "string" ? changes.oidcClientSecret : "";

  const test = () =>
    run(async () => {
      const { data } = await api.POST("/api/auth/oidc/test", {
        body: { issuerUrl: now.oidcIssuerUrl ?? "", clientId: now.oidcClientId ?? "", clientSecret: secret, scopes: now.oidcScopes ?? "" },
      });
      return oidc.tested(data?.issuer ?? "");
    });

  return (
    <Section title={oidc.title} about={oidc.about}>
      <Stack gap="sm" maw={480}>
        <Select label={oidc.mode} data={MODES} value={now.authMode ?? "password"} allowDeselect={false} onChange={(mode) => set({ authMode: (mode ?? "password") as Document["authMode"] })} />
        <TextInput label={oidc.issuer} placeholder="https://" value={now.oidcIssuerUrl ?? ""} onChange={(event) => set({ oidcIssuerUrl: event.currentTarget.value })} />
        <TextInput label={oidc.client} value={now.oidcClientId ?? ""} onChange={(event) => set({ oidcClientId: event.currentTarget.value })} />
        <PasswordInput label={oidc.secret} description={oidc.secretHint} value={secret} autoComplete="off" onChange={(event) => set({ oidcClientSecret: event.currentTarget.value })} />
        <TextInput label={oidc.scopes} value={now.oidcScopes ?? ""} onChange={(event) => set({ oidcScopes: event.currentTarget.value })} />
        <TextInput label={oidc.label} value={now.oidcLoginLabel ?? ""} onChange={(event) => set({ oidcLoginLabel: event.currentTarget.value })} />
        <Outcome message={message} />
        <Group gap="xs">
          <Button onClick={() => void save()} loading={busy} disabled={Object.keys(changes).length === 0}>{common.save}</Button>
          <Button variant="default" onClick={() => void test()} disabled={busy || !now.oidcIssuerUrl || !now.oidcClientId}>{oidc.test}</Button>
        </Group>
      </Stack>
    </Section>
  );
}
