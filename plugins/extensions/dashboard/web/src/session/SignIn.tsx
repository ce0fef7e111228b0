/** Signing in: the password, the second factor, the first password, an OpenID provider. */
import { Alert, Anchor, Box, Button, Card, Divider, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";

import { api, ApiError, messageOf, type Shape } from "~/api/client";
import { duration } from "~/format/numbers";
import { Mark } from "~/shell/Mark";
import { texts } from "~/texts";
import { CodeBlock } from "~/ui/copying";
import classes from "./SignIn.module.css";

const session = texts.session;
/** What a gateway without a password of its own accepts, to hand out the right to set one. */
const BUILT_IN = "123456";
const SHORTEST = 6;
const HOME = "/dashboard/overview";

type Step = "password" | "code" | "first" | "no-secret" | "not-local";

interface Props {
  status: Shape<"Status">;
  /** Whether a session was open in this page before. */
  isExpired: boolean;
  /** `isFirst` is true after the first password was set. */
  onDone: (isFirst: boolean) => void;
}

export function SignIn({ status, isExpired, onDone }: Props) {
  const [step, setStep] = useState<Step>(status.usingDefaultPassword ? "first" : "password");
  const [proof, setProof] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  /** Runs a step, and goes on to the one that its failure asks for. */
  async function run(work: () => Promise<void>) {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === "no_jwt_secret") setStep("no-secret");
      else if (failure instanceof ApiError && failure.body.mustChangePassword) {
        if (typeof failure.body.proof === "string") {
          setProof(failure.body.proof);
          setStep("first");
        } else setStep("not-local");
      } else setError(failure);
    } finally {
      setBusy(false);
    }
  }

  const signIn = (password: string) =>
    run(async () => {
      const { data } = await api.POST("/api/auth/login", { body: { password } });
      if (data?.mfaRequired) setStep("code");
      else onDone(false);
    });

  const verify = (code: string) =>
    run(async () => {
      await api.POST("/api/auth/mfa/verify", { body: { code } });
      onDone(false);
    });

  const setFirst = (newPassword: string) =>
    run(async () => {
      const right = proof ?? (await proofOf(BUILT_IN));
      if (right === null) {
        // Another published password was set at the start: it has to be typed once.
        setStep("password");
        return;
      }
      setProof(right);
      const { data } = await api.POST("/api/auth/change-password", { body: { proof: right, newPassword } });
      if (data?.mfaRequired) setStep("code");
      else onDone(true);
    });

  return (
    <Box className={classes.page} component="main">
      <Stack gap="lg" w="100%" maw={380}>
        <Box mx="auto">
          <Mark size={28} />
        </Box>
        <Card p="lg">
          {isExpired && (
            <Alert variant="light" mb="md" p="xs">
              {session.expired}
            </Alert>
          )}
          <OidcError />
          {step === "password" && (
            <Stack>
              {status.authMode !== "oidc" && <PasswordForm busy={busy} error={error} onSubmit={signIn} />}
              {status.oidcConfigured && (
                <>
                  {status.authMode !== "oidc" && <Divider label={session.or} />}
                  <Button
                    component="a"
                    size="sm"
                    variant={status.authMode === "oidc" ? "filled" : "default"}
                    href={`/api/auth/oidc/start?returnTo=${encodeURIComponent(returnPath())}`}
                  >
                    {session.oidc(status.oidcLoginLabel)}
                  </Button>
                </>
              )}
            </Stack>
          )}
          {step === "code" && <CodeForm busy={busy} error={error} onSubmit={verify} onBack={() => setStep("password")} />}
          {step === "first" && <FirstForm busy={busy} error={error} onSubmit={setFirst} />}
          {step === "no-secret" && (
            <Note title={session.noSecret} about={session.noSecretHint}>
              <CodeBlock code={'export JWT_SECRET="$(openssl rand -hex 32)"\nmodel-gateway'} />
            </Note>
          )}
          {step === "not-local" && <Note title={session.notLocal} about={session.notLocalHint} />}
        </Card>
      </Stack>
    </Box>
  );
}

/** The right to set the first password; null when that is not the password. */
async function proofOf(password: string): Promise<string | null> {
  try {
    await api.POST("/api/auth/login", { body: { password } });
    return null;
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
    if (typeof failure.body.proof === "string") return failure.body.proof;
    if (failure.status === 401) return null;
    throw failure;
  }
}

function returnPath(): string {
  const { pathname, search } = window.location;
  return pathname === "/dashboard/login" || !pathname.startsWith("/dashboard/") ? HOME : pathname + search;
}

function OidcError() {
  const code = new URLSearchParams(window.location.search).get("error");
  const text = code === null ? undefined : session.errors[code];
  if (!text) return null;
  return (
    <Alert color="red" variant="light" mb="md" p="xs" role="alert">
      {text}
    </Alert>
  );
}

function Note({ title, about, children }: { title: string; about: string; children?: ReactNode }) {
  return (
    <Stack gap="sm">
      <Title order={2}>{title}</Title>
      <Text c="dimmed">{about}</Text>
      {children}
    </Stack>
  );
}

interface FormProps {
  busy: boolean;
  error: unknown;
  onSubmit: (text: string) => void;
}

function PasswordForm({ busy, error, onSubmit }: FormProps) {
  const [password, setPassword] = useState("");
  const wait = useWait(error);
  return (
    <form onSubmit={submitting(() => onSubmit(password))}>
      <Stack>
        <Title order={2}>{session.signIn}</Title>
        <PasswordInput
          label={session.password}
          size="sm"
          autoComplete="current-password"
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={refusal(error, wait)}
        />
        <Button type="submit" size="sm" loading={busy} disabled={!password || wait > 0}>
          {session.signIn}
        </Button>
        <details className={classes.help}>
          <summary>{session.forgottenLabel}</summary>
          <Text size="xs" c="dimmed" my={6}>
            {session.forgotten}
          </Text>
          <CodeBlock code="model-gateway reset-password" />
        </details>
      </Stack>
    </form>
  );
}

function CodeForm({ busy, error, onSubmit, onBack }: FormProps & { onBack: () => void }) {
  const [code, setCode] = useState("");
  const wait = useWait(error);
  return (
    <form onSubmit={submitting(() => onSubmit(code.trim()))}>
      <Stack>
        <Title order={2}>{session.signIn}</Title>
        <TextInput
          label={session.code}
          description={session.codeHint}
          size="sm"
          autoComplete="one-time-code"
          inputMode="text"
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={refusal(error, wait)}
        />
        <Button type="submit" size="sm" loading={busy} disabled={!code.trim() || wait > 0}>
          {session.verify}
        </Button>
        <Anchor component="button" type="button" size="xs" onClick={onBack}>
          {texts.common.back}
        </Anchor>
      </Stack>
    </form>
  );
}

function FirstForm({ busy, error, onSubmit }: FormProps) {
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const wait = useWait(error);
  const isShort = password.length > 0 && password.length < SHORTEST;
  const differs = again.length > 0 && again !== password;
  return (
    <form onSubmit={submitting(() => onSubmit(password))}>
      <Stack>
        <Box>
          <Title order={2}>{session.first}</Title>
          <Text c="dimmed" size="xs" mt={4}>
            {session.firstHint}
          </Text>
        </Box>
        <PasswordInput
          label={session.newPassword}
          size="sm"
          autoComplete="new-password"
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          error={isShort ? session.short : refusal(error, wait)}
        />
        <PasswordInput
          label={session.repeat}
          size="sm"
          autoComplete="new-password"
          value={again}
          onChange={(event) => setAgain(event.currentTarget.value)}
          error={differs ? session.differ : null}
        />
        <Button type="submit" size="sm" loading={busy} disabled={password.length < SHORTEST || password !== again || wait > 0}>
          {session.setPassword}
        </Button>
      </Stack>
    </form>
  );
}

function submitting(work: () => void) {
  return (event: FormEvent) => {
    event.preventDefault();
    work();
  };
}

function refusal(error: unknown, wait: number): string | null {
  if (error === null) return null;
  if (wait > 0) return session.locked(duration(wait * 1000));
  const left = error instanceof ApiError ? error.body.remainingBeforeLock : undefined;
  return typeof left === "number" ? `${messageOf(error)}. ${session.wrong(left)}` : messageOf(error);
}

/** Seconds until the next attempt is possible, counted down. */
function useWait(error: unknown): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const seconds = error instanceof ApiError ? Number(error.body.retryAfter ?? 0) : 0;
    setLeft(seconds);
    if (seconds === 0) return undefined;
    const end = Date.now() + seconds * 1000;
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000))), 250);
    return () => clearInterval(timer);
  }, [error]);
  return left;
}
