/** One call: its course, tokens, cost, losses and, where they are kept, its contents. */
import { Alert, Box, Button, Code, Group, Stack, Tabs, Text, Tooltip } from "@mantine/core";
import { IconExternalLink, IconMessageOff } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";

import { query } from "~/api/client";
import { useProviderNames } from "~/api/names";
import { pretty, readAnswer, readRequest } from "~/chat/conversation";
import { Turns } from "~/chat/Turns";
import { count, money, NONE } from "~/format/numbers";
import { exact } from "~/format/times";
import { keepDraft } from "~/pages/playground/draft";
import { optionsOf } from "~/pages/playground/messages";
import { texts } from "~/texts";
import { CodeBlock, CopyButton } from "~/ui/copying";
import { Facts } from "~/ui/Facts";
import { RelativeTime } from "~/ui/RelativeTime";
import { SideSheet } from "~/ui/SideSheet";
import { EmptyState, ErrorState, Placeholder } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { TONES } from "./columns";
import { curlOf, type Kept } from "./curl";
import type { HistoryRow } from "./history";
import { Waterfall } from "./Waterfall";

const { sheet, statuses } = texts.requests;

interface Props {
  requestId: string;
  /** The row, where the table has it already. */
  row: HistoryRow | undefined;
  onClose: () => void;
}

export function RequestSheet({ requestId, row, onClose }: Props) {
  const isOpen = requestId !== "";
  const search = { params: { query: { requestId, limit: 1 } } };
  const found = query.useQuery("get", "/api/usage/history", search, { enabled: isOpen && row === undefined });
  const call = row ?? found.data?.rows[0];
  return (
    <SideSheet
      opened={isOpen}
      onClose={onClose}
      width={720}
      title={call?.model ?? call?.requestedModel ?? texts.requests.title}
      about={
        call && (
          <Group gap="sm">
            <StatusDot tone={TONES[call.status]}>{statuses[call.status]}</StatusDot>
            <RelativeTime at={call.timestamp} size="xs" />
          </Group>
        )
      }
    >
      {call ? (
        <Contents call={call} />
      ) : found.error ? (
        <ErrorState error={found.error} onRetry={() => found.refetch()} />
      ) : found.data ? (
        <EmptyState icon={IconMessageOff} title={sheet.gone} />
      ) : (
        isOpen && <Placeholder lines={8} />
      )}
    </SideSheet>
  );
}

function Contents({ call }: { call: HistoryRow }) {
  const navigate = useNavigate();
  const detail = query.useQuery("get", "/api/usage/request-details", {
    params: { query: { requestId: call.requestId, pageSize: 1 } },
  });
  const settings = query.useQuery("get", "/api/settings");
  const kept = detail.data?.details[0] as Kept | undefined;
  const body = kept?.request?.body;
  const isKept = kept?.request != null;
  const command = isKept ? curlOf(call, kept) : null;
  const isChat = isKept && readRequest(body).length > 0;
  return (
    <Tabs defaultValue="overview">
      <Group justify="space-between" mb="md">
        <Tabs.List>
          <Tabs.Tab value="overview">{sheet.overview}</Tabs.Tab>
          <Tabs.Tab value="conversation">{sheet.conversation}</Tabs.Tab>
          {isKept && <Tabs.Tab value="raw">{sheet.raw}</Tabs.Tab>}
        </Tabs.List>
        {isKept && (
          <Group gap="xs">
            {command && <CopyButton label={sheet.curl} hint={sheet.curlHint} value={command} />}
            {isChat && (
              <Button
                variant="default"
                leftSection={<IconExternalLink size={14} />}
                onClick={() => {
                  keepDraft({ model: call.requestedModel, turns: readRequest(body), options: optionsOf(body) });
                  void navigate(`/playground?models=${encodeURIComponent(call.requestedModel)}`);
                }}
              >
                {sheet.playground}
              </Button>
            )}
          </Group>
        )}
      </Group>
      <Tabs.Panel value="overview">
        <Overview call={call} />
      </Tabs.Panel>
      <Tabs.Panel value="conversation">
        {detail.isPending ? (
          <Placeholder lines={8} />
        ) : detail.error ? (
          <ErrorState error={detail.error} onRetry={() => detail.refetch()} />
        ) : isKept ? (
          <Conversation kept={kept} />
        ) : (
          <EmptyState
            icon={IconMessageOff}
            title={settings.data?.enableRequestLogs === false ? sheet.notKept : sheet.notThis}
            hint={sheet.notKeptHint}
          />
        )}
      </Tabs.Panel>
      {isKept && (
        <Tabs.Panel value="raw">
          <Bodies kept={kept} />
        </Tabs.Panel>
      )}
    </Tabs>
  );
}

function Overview({ call }: { call: HistoryRow }) {
  const nameOf = useProviderNames();
  const { tokens } = call;
  const seconds = (call.latencyMs - (call.ttftMs ?? 0)) / 1000;
  const speed = call.stream && call.status === "ok" && seconds > 0.05 ? tokens.output / seconds : null;
  return (
    <Stack gap="lg">
      {call.error && (
        <Alert color="red" variant="light" title={call.errorCode ?? sheet.error}>
          {call.error}
        </Alert>
      )}
      <Block title={sheet.attempts}>
        <Waterfall call={call} />
      </Block>
      <Block title={sheet.tokens} hint={tokens.estimated ? sheet.estimated : undefined}>
        <Facts
          rows={[
            [sheet.input, count(tokens.input)],
            [sheet.cached, tokens.cached > 0 && count(tokens.cached)],
            [sheet.cacheCreation, tokens.cacheCreation > 0 && count(tokens.cacheCreation)],
            [sheet.output, count(tokens.output)],
            [sheet.reasoning, tokens.reasoning > 0 && count(tokens.reasoning)],
            [sheet.units, Object.keys(call.units).length > 0 && Object.entries(call.units).map(([unit, value]) => `${count(value)} ${unit}`).join(", ")],
            [sheet.speed, speed && sheet.perSecond(speed.toFixed(1))],
            [sheet.cost, call.costKnown ? money(call.cost) : sheet.unpriced],
          ]}
        />
      </Block>
      {call.dropped.length > 0 && (
        <Block title={sheet.dropped} hint={sheet.droppedHint}>
          <Group gap={6}>
            {call.dropped.map((name) => (
              <Code key={name}>{name}</Code>
            ))}
          </Group>
        </Block>
      )}
      <Block title={texts.requests.title.slice(0, -1)}>
        <Facts
          rows={[
            [sheet.requested, call.requestedModel],
            [sheet.sent, call.provider ? `${nameOf(call.provider)} / ${call.model ?? NONE}` : NONE],
            [sheet.account, call.accountName],
            [sheet.combo, call.comboName],
            [sheet.key, call.keyName],
            [sheet.endpoint, call.endpoint],
            [sheet.httpStatus, call.httpStatus],
            [sheet.finished, exact(call.timestamp)],
            [
              sheet.id,
              <Group key="id" gap={4} wrap="nowrap">
                <Text span ff="monospace" size="xs">
                  {call.requestId}
                </Text>
                <CopyButton value={call.requestId} />
              </Group>,
            ],
          ]}
        />
      </Block>
    </Stack>
  );
}

function Block({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <Box component="section">
      <Tooltip label={hint} disabled={!hint}>
        <Text component="h3" fw={600} mb={4} w="fit-content">
          {title}
        </Text>
      </Tooltip>
      {children}
    </Box>
  );
}

function Conversation({ kept }: { kept: Kept }) {
  const turns = [...readRequest(kept.request?.body), ...readAnswer(kept.response?.body)];
  const isCut = kept.request?._truncated || kept.response?._truncated;
  return (
    <Stack>
      {isCut && <Alert variant="light">{sheet.cut}</Alert>}
      {turns.length > 0 ? <Turns turns={turns} /> : <Bodies kept={kept} />}
    </Stack>
  );
}

const PARTS = ["request", "providerRequest", "providerResponse", "response"] as const;

function Bodies({ kept }: { kept: Kept }) {
  return (
    <Stack>
      {PARTS.map(
        (part) =>
          kept[part] && (
            <Block key={part} title={sheet.parts[part]}>
              <CodeBlock code={pretty(kept[part])} label={sheet.parts[part]} />
            </Block>
          ),
      )}
    </Stack>
  );
}
