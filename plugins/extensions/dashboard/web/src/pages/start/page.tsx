/** The first run: an account or echo, a key, a request that works as it is copied. */
import { Anchor, Box, Button, Group, Modal, Stack, Text, TextInput, ThemeIcon } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheck } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { Link } from "react-router";

import { refresh } from "~/api/cache";
import { api, messageOf, query } from "~/api/client";
import { useModels } from "~/api/models";
import { useUsage } from "~/api/live";
import { AccountForm } from "~/pages/providers/AccountForm";
import { Gallery, type Vendor } from "~/pages/providers/Gallery";
import { Snippets } from "~/snippets/Snippets";
import { texts } from "~/texts";
import { CopyField } from "~/ui/copying";
import { ModelSelect } from "~/ui/ModelSelect";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { StatusDot } from "~/ui/status";

const start = texts.start;
const ECHO = "echo/echo";
const UNKNOWN_KEY = "YOUR_KEY";
const FURTHER = [
  ["/playground", start.nextPlayground],
  ["/keys", start.nextKeys],
  ["/combos", start.nextCombos],
] as const;

export default function StartPage() {
  const accounts = query.useQuery("get", "/api/providers");
  const keys = query.useQuery("get", "/api/keys");
  return (
    <Page title={start.title} about={start.about} narrow>
      <Loaded of={accounts} lines={8}>
        {({ connections }) => (
          <Loaded of={keys} lines={8}>
            {({ keys: [firstKey] }) => <Steps stored={connections.filter((each) => each.isActive).length} firstKey={firstKey?.name} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

interface StepsProps {
  /** How many accounts are there. */
  stored: number;
  /** The name of a key that is there. */
  firstKey: string | undefined;
}

function Steps({ stored, firstKey }: StepsProps) {
  const [usesEcho, setUsesEcho] = useState(false);
  const [isSkipped, setSkipped] = useState(false);
  const [key, setKey] = useState<string | null>(null);
  const hasVendor = usesEcho || stored > 0;
  const hasKey = key !== null || isSkipped || firstKey !== undefined;
  return (
    <>
      <Step number={1} title={start.stepVendor} isDone={hasVendor} summary={stored > 0 ? start.ready(stored) : start.echoReady}>
        <VendorStep onEcho={() => setUsesEcho(true)} isDone={hasVendor} />
      </Step>
      <Step
        number={2}
        title={start.stepKey}
        isDone={hasKey}
        summary={isSkipped ? start.skipped : start.haveKey(firstKey ?? start.keyUsual)}
      >
        {key === null && firstKey === undefined && !isSkipped && (
          <KeyStep onMade={setKey} onSkip={() => setSkipped(true)} />
        )}
        {key !== null && <CopyField value={key} description={start.keyOnce} />}
      </Step>
      <Step number={3} title={start.stepCall} isDone={false}>
        {hasVendor && hasKey ? (
          <CallStep apiKey={key ?? UNKNOWN_KEY} usesEcho={usesEcho || stored === 0} />
        ) : (
          <Text c="dimmed">{start.callHint}</Text>
        )}
      </Step>
      <Group gap="lg">
        <Text c="dimmed">{start.next}:</Text>
        {FURTHER.map(([to, label]) => (
          <Anchor key={to} component={Link} to={to}>
            {label}
          </Anchor>
        ))}
      </Group>
    </>
  );
}

interface StepProps {
  number: number;
  title: string;
  isDone: boolean;
  summary?: string;
  children: ReactNode;
}

function Step({ number, title, isDone, summary, children }: StepProps) {
  return (
    <Section>
      <Group gap="sm" wrap="nowrap" align="center" mb="sm">
        <ThemeIcon radius="xl" size={24} variant={isDone ? "filled" : "light"} color={isDone ? "green.8" : "iris"}>
          {isDone ? <IconCheck size={14} /> : <Text span size="xs" fw={600}>{number}</Text>}
        </ThemeIcon>
        <Group gap="0 12px" flex={1}>
          <Text component="h2" fw={600} size="md">
            {title}
          </Text>
          {isDone && summary && <Text c="dimmed">{summary}</Text>}
        </Group>
      </Group>
      <Box pl={{ base: 0, sm: 36 }}>{children}</Box>
    </Section>
  );
}

function VendorStep({ onEcho, isDone }: { onEcho: () => void; isDone: boolean }) {
  const [opened, { open, close }] = useDisclosure(false);
  const [vendor, setVendor] = useState<Vendor | null>(null);
  return (
    <>
      {!isDone && (
        <Text c="dimmed" mb="sm">
          {start.vendorHint}
        </Text>
      )}
      <Group gap="xs">
        <Button variant={isDone ? "default" : "filled"} onClick={open}>
          {start.addAccount}
        </Button>
        {!isDone && (
          <Button variant="default" onClick={onEcho}>
            {start.useEcho}
          </Button>
        )}
      </Group>
      <Modal
        opened={opened}
        onClose={() => {
          setVendor(null);
          close();
        }}
        size={vendor ? "md" : "xl"}
        title={vendor ? texts.providers.form.addTitle(vendor.name) : start.addAccount}
      >
        {vendor ? (
          <AccountForm
            vendor={vendor}
            onDone={() => {
              setVendor(null);
              close();
            }}
          />
        ) : (
          <Gallery onPick={setVendor} />
        )}
      </Modal>
    </>
  );
}

function KeyStep({ onMade, onSkip }: { onMade: (key: string) => void; onSkip: () => void }) {
  const [name, setName] = useState<string>(start.keyUsual);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function make() {
    setBusy(true);
    setError(null);
    try {
      const { data } = await api.POST("/api/keys", { body: { name, machineId: "any" } });
      onMade(data!.key);
      await refresh("/api/keys");
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <Text c="dimmed" mb="sm">
        {start.keyHint}
      </Text>
      <Group gap="xs" align="flex-start">
        <TextInput aria-label={start.keyName} value={name} onChange={(event) => setName(event.currentTarget.value)} error={error} w={200} />
        <Button type="submit" loading={busy} disabled={!name.trim()}>
          {start.makeKey}
        </Button>
        <Button variant="subtle" color="gray" onClick={onSkip}>
          {start.skipKey}
        </Button>
      </Group>
    </form>
  );
}

function CallStep({ apiKey, usesEcho }: { apiKey: string; usesEcho: boolean }) {
  const models = useModels();
  const [chosen, setChosen] = useState("");
  const accounts = query.useQuery("get", "/api/providers");
  const answering = new Set(accounts.data?.connections.flatMap((each) => (each.testStatus === "active" ? [each.provider] : [])));
  const first = models.data?.find(({ owner }) => answering.has(owner))?.id;
  const model = chosen || (usesEcho ? ECHO : (first ?? ECHO));
  return (
    <Stack gap="sm">
      <Group gap="xs" align="flex-end">
        <ModelSelect label={start.model} value={model} onChange={setChosen} w={280} />
      </Group>
      {apiKey === UNKNOWN_KEY && (
        <Text size="xs" c="dimmed">
          {start.replaceKey}
        </Text>
      )}
      <Snippets call={{ origin: window.location.origin, key: apiKey, model }} />
      <Arrival />
    </Stack>
  );
}

/** Says when a request comes that began after this page was opened. */
function Arrival() {
  const live = useUsage("today");
  const [opened] = useState(() => new Date().toISOString());
  const call = live.value?.recentRequests.find(({ timestamp }) => timestamp > opened);
  if (!call)
    return (
      <Text c="dimmed" component="div" aria-live="polite">
        <StatusDot tone="busy">{start.waiting}</StatusDot>
      </Text>
    );
  const isGood = call.status === "ok";
  return (
    <Group gap="sm" aria-live="polite">
      <Text component="div" c={isGood ? "var(--good)" : "var(--bad)"}>
        <StatusDot tone={isGood ? "good" : "bad"}>{isGood ? start.arrived(call.model ?? "") : start.failed(call.status)}</StatusDot>
      </Text>
      <Anchor component={Link} to="/requests">
        {start.watch}
      </Anchor>
    </Group>
  );
}
