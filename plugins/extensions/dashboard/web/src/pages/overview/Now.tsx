import { Badge, Box, Group, Text } from "@mantine/core";

import type { LiveState, Picture } from "~/api/live";
import { useProviderNames } from "~/api/names";
import { compact, count } from "~/format/numbers";
import { texts } from "~/texts";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { Sparkline } from "~/ui/Sparkline";
import { StatusDot } from "~/ui/status";
import classes from "./Now.module.css";

const overview = texts.overview;
const SHOWN = 8;

/** What is under way, the last ten minutes, and the newest calls. */
export function Now({ live }: { live: { state: LiveState; value: Picture | null } }) {
  const nameOf = useProviderNames();
  const picture = live.value;
  const minutes = picture?.last10Minutes ?? [];
  return (
    <Section
      title={overview.now}
      actions={
        <StatusDot tone={live.state === "open" ? "good" : "bad"}>
          {live.state === "open" ? texts.shell.live : texts.shell.lost}
        </StatusDot>
      }
    >
      <Group align="flex-end" gap="lg" wrap="nowrap" mb="sm">
        <Box flex="none">
          <Text size="xs" c="dimmed">
            {overview.underWay}
          </Text>
          <Text className={classes.counter} aria-live="polite">
            {count(picture?.activeRequests.reduce((sum, each) => sum + each.count, 0))}
          </Text>
        </Box>
        <Box flex={1} miw={0}>
          <Text size="xs" c="dimmed">
            {overview.lastTen}: {count(minutes.reduce((sum, each) => sum + each.requests, 0))}
          </Text>
          <Sparkline points={minutes.map((each) => each.requests)} />
        </Box>
      </Group>
      {picture && picture.activeRequests.length > 0 && (
        <Group gap={6} mb="sm">
          {picture.activeRequests.slice(0, SHOWN).map((each) => (
            <Badge key={`${each.account} ${each.model}`} color="iris">
              {nameOf(each.provider)} / {each.model} × {each.count}
            </Badge>
          ))}
        </Group>
      )}
      <Text size="xs" c="dimmed" mb={4}>
        {overview.newest}
      </Text>
      <ul className={classes.list}>
        {picture?.recentRequests.slice(0, SHOWN).map((call, place) => (
          <li key={`${call.timestamp} ${place}`}>
            <StatusDot tone={call.status === "ok" ? "good" : call.status === "client_gone" ? "idle" : "bad"} label={call.status} />
            <Text span truncate flex={1}>
              {call.model ?? "–"}
              {call.provider && (
                <Text span size="xs" c="dimmed" ml={8}>
                  {nameOf(call.provider)}
                </Text>
              )}
            </Text>
            <Text span size="xs" c="dimmed" className="tabular">
              {compact(call.promptTokens)} → {compact(call.completionTokens)}
            </Text>
            <RelativeTime at={call.timestamp} size="xs" c="dimmed" w={84} ta="right" />
          </li>
        ))}
      </ul>
    </Section>
  );
}
