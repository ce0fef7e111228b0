/** The process that answers, and the last lines of its log. */
import { Box, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useEffect } from "react";

import { refresh } from "~/api/cache";
import { query, type Shape } from "~/api/client";
import { useEvents } from "~/api/live";
import { size } from "~/format/numbers";
import { clock, exact } from "~/format/times";
import { texts } from "~/texts";
import { Facts } from "~/ui/Facts";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { StatusDot, type Tone } from "~/ui/status";
import { useUrlState } from "~/url/state";

const { system } = texts.settings;
const EVERY_MS = 10_000;
const DEFAULTS = { level: "", lines: "" };
const LEVELS = (["info", "warning", "error"] as const).map((value) => ({ value, label: system.levels[value] }));

export function System() {
  const state = query.useQuery("get", "/api/system", {}, { refetchInterval: EVERY_MS });
  return (
    <Stack gap="md">
      <Loaded of={state} lines={8}>{(found) => <State of={found} />}</Loaded>
      <Log />
    </Stack>
  );
}

function State({ of: found }: { of: Shape<"SystemState"> }) {
  const { memory, disk, database, plugins } = found;
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
      <Section title={system.state}>
        <Facts
          rows={[
            [system.version, found.version],
            [system.uptime, <RelativeTime key="up" at={found.startedAt} />],
            [system.inFlight, found.inFlight],
            [system.plugins, system.pluginsOf(plugins.loaded, plugins.found)],
            [system.memory, memory.used !== null && system.of(size(memory.used), size(memory.size))],
            [system.python, found.python],
            [system.platform, found.platform],
          ]}
        />
      </Section>
      <Section title={system.disk}>
        <Facts
          rows={[
            [system.free, system.of(size(disk.free), size(disk.size))],
            [system.path, disk.path],
            [system.journal, size(disk.journal)],
            [system.backups, size(disk.backups)],
          ]}
        />
      </Section>
      <Section title={system.database}>
        <Facts
          rows={[
            [system.engine, `${database.engine} ${database.version ?? ""}`],
            [system.size, database.size !== null && size(database.size)],
            [system.latency, database.latencyMs !== null && `${database.latencyMs} ms`],
            [texts.common.failed, database.error],
          ]}
        />
      </Section>
    </SimpleGrid>
  );
}

type Level = "debug" | "info" | "warning" | "error";
const TONES: Record<string, Tone> = { DEBUG: "idle", INFO: "idle", WARNING: "warn", ERROR: "bad", CRITICAL: "bad" };

function Log() {
  const [{ level, lines: search }, setState] = useUrlState(DEFAULTS);
  const newest = useEvents<Shape<"LogLine">>("/api/log/stream");
  const found = query.useQuery("get", "/api/log", { params: { query: { level: (level || "debug") as Level, search } } });
  useEffect(() => {
    // Also when the stream opens: what was written before that is in no event.
    if (newest.state === "open") void refresh("/api/log");
  }, [newest.value, newest.state]);
  return (
    <Section
      title={system.log}
      about={system.logAbout}
      actions={
        <>
          <FilterSelect label={system.level} value={level} options={LEVELS} onChange={(value) => setState({ level: value })} />
          <FilterSearch label={system.searchLog} value={search} onChange={(lines) => setState({ lines })} />
        </>
      }
    >
      <Loaded of={found}>
        {({ lines }) =>
          lines.length === 0 ? (
            <Text c="dimmed">{system.emptyLog}</Text>
          ) : (
            <Box mah={420} style={{ overflow: "auto" }} tabIndex={0} role="log" aria-label={system.log}>
              {lines.map((line) => (
                <Group key={line.number} gap="sm" wrap="nowrap" align="flex-start" py={2}>
                  <Text size="xs" c="dimmed" className="tabular" title={exact(line.at)} style={{ flex: "none" }}>{clock(line.at)}</Text>
                  <StatusDot tone={TONES[line.level] ?? "idle"} label={line.level} />
                  <Box miw={0}>
                    <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>{line.message}</Text>
                    {line.trace && <Text size="xs" ff="monospace" c="dimmed" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{line.trace}</Text>}
                  </Box>
                </Group>
              ))}
            </Box>
          )
        }
      </Loaded>
    </Section>
  );
}
