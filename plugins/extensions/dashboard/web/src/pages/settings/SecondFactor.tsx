/** The second factor: set up with a code to scan, switched off with one that was typed. */
import { Box, Button, Code, Group, PasswordInput, PinInput, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query, type Shape } from "~/api/client";
import { useSession } from "~/session/session";
import { texts } from "~/texts";
import { CopyButton, CopyField } from "~/ui/copying";
import { Section } from "~/ui/Section";
import { StatusDot } from "~/ui/status";

const { mfa, password } = texts.settings;
type Step = { name: "idle" } | { name: "password" } | { name: "scan"; setup: Shape<"Setup"> } | { name: "codes"; codes: readonly string[] } | { name: "disable" };

export function SecondFactor() {
  const { isSignedIn } = useSession();
  const status = query.useQuery("get", "/api/auth/status");
  const [step, setStep] = useState<Step>({ name: "idle" });
  const [secret, setSecret] = useState("");
  const [code, setCode] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const isOn = status.data?.mfaEnabled === true;

  async function act(work: () => Promise<Step>) {
    setBusy(true);
    setError(null);
    try {
      setStep(await work());
      setCode("");
      await refresh("/api/auth", "/api/settings");
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  const prepare = async (): Promise<Step> => {
    const { data } = await api.POST("/api/auth/mfa/setup", { body: { password: secret } });
    return { name: "scan", setup: data! };
  };
  const enable = async (setup: Shape<"Setup">): Promise<Step> => {
    const { data } = await api.POST("/api/auth/mfa/enable", { body: { password: secret, code, secret: setup.secret } });
    setSecret("");
    return { name: "codes", codes: data!.backupCodes };
  };
  const disable = async (): Promise<Step> => {
    await api.POST("/api/auth/mfa/disable", { body: { password: secret, code } });
    setSecret("");
    return { name: "idle" };
  };

  return (
    <Section
      title={
        <Group gap="sm">
          {mfa.title}
          <StatusDot tone={isOn ? "good" : "idle"}>
            <Text span size="xs">{isOn ? mfa.on : mfa.off}</Text>
          </StatusDot>
        </Group>
      }
      about={isSignedIn ? mfa.about : mfa.signedIn}
      actions={
        isSignedIn &&
        step.name === "idle" && (
          <Button variant="default" onClick={() => setStep(isOn ? { name: "disable" } : { name: "password" })}>
            {isOn ? mfa.disable : mfa.enable}
          </Button>
        )
      }
    >
      <Stack gap="sm" maw={480}>
        {step.name === "password" && (
          <>
            <Typed value={secret} onChange={setSecret} />
            <Buttons busy={busy} disabled={!secret} label={texts.common.next} onAct={() => void act(prepare)} onCancel={() => setStep({ name: "idle" })} />
          </>
        )}
        {step.name === "scan" && (
          <>
            <Text>{mfa.scan}</Text>
            {/* The picture is drawn by the gateway; no other host is asked. */}
            <Box component="img" src={step.setup.qrCode} alt={mfa.scan} w={184} h={184} bg="white" p={8} style={{ borderRadius: 8 }} />
            <CopyField label={mfa.secret} value={step.setup.secret} />
            <CodeInput onChange={setCode} />
            <Buttons busy={busy} disabled={code.length !== 6} label={mfa.confirm} onAct={() => void act(() => enable(step.setup))} onCancel={() => setStep({ name: "idle" })} />
          </>
        )}
        {step.name === "codes" && (
          <>
            <Text fw={600}>{mfa.codes}</Text>
            <Text c="dimmed">{mfa.codesAbout}</Text>
            <SimpleGrid cols={2} spacing={4}>
              {step.codes.map((each) => (
                <Code key={each}>{each}</Code>
              ))}
            </SimpleGrid>
            <Group>
              <CopyButton value={step.codes.join("\n")} label={texts.common.copy} />
              <Button onClick={() => setStep({ name: "idle" })}>{mfa.stored}</Button>
            </Group>
          </>
        )}
        {step.name === "disable" && (
          <>
            <Text>{mfa.disableBody}</Text>
            <Typed value={secret} onChange={setSecret} />
            <CodeInput onChange={setCode} />
            <Buttons busy={busy} disabled={!secret || code.length !== 6} label={mfa.disable} onAct={() => void act(disable)} onCancel={() => setStep({ name: "idle" })} />
          </>
        )}
        {error && <Text c="var(--bad)" role="alert">{error}</Text>}
      </Stack>
    </Section>
  );
}

function Typed({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  return <PasswordInput label={password.current} value={value} onChange={(event) => onChange(event.currentTarget.value)} autoComplete="current-password" maw={360} />;
}

function CodeInput({ onChange }: { onChange: (code: string) => void }) {
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>{mfa.code}</Text>
      <PinInput length={6} type="number" oneTimeCode onChange={onChange} aria-label={mfa.code} />
    </Stack>
  );
}

interface ButtonsProps {
  busy: boolean;
  disabled: boolean;
  label: string;
  onAct: () => void;
  onCancel: () => void;
}

function Buttons({ busy, disabled, label, onAct, onCancel }: ButtonsProps) {
  return (
    <Group gap="xs">
      <Button onClick={onAct} loading={busy} disabled={disabled}>{label}</Button>
      <Button variant="default" onClick={onCancel}>{texts.common.cancel}</Button>
    </Group>
  );
}
