/** What is served and why, and what the next start uses. */
import { Alert, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { query } from "~/api/client";
import { size } from "~/format/numbers";
import { texts } from "~/texts";
import { Facts } from "~/ui/Facts";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { StatusDot } from "~/ui/status";
import type { Engine } from "./engine";

const { state, engines } = texts.database;

export function State({ engine }: { engine: Engine }) {
  const system = query.useQuery("get", "/api/system");
  const measured = system.data?.database;
  const { servingFallback, databaseEngineError: error, activeEngine, snapshots } = engine;
  const { postgresHost: host, postgresPort: port } = engine;
  const isPostgres = activeEngine === "postgres";
  return (
    <Section
      title={
        <Group gap="sm">
          {state.title}
          <StatusDot tone={servingFallback ? "warn" : "good"}>
            <Text span size="xs">{servingFallback ? state.fallback : state.healthy}</Text>
          </StatusDot>
        </Group>
      }
    >
      <Stack gap="sm">
        {error && (
          <Alert color="orange" variant="light" icon={<IconAlertTriangle size={18} />} title={state.error}>
            {error}
          </Alert>
        )}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing={0}>
          <Facts
            rows={[
              [state.engine, <Text key="engine" span fw={600}>{engines[activeEngine]}</Text>],
              [state.version, measured?.version],
              [state.size, measured?.size != null && size(measured.size)],
              [state.latency, measured?.latencyMs != null && `${measured.latencyMs} ms`],
            ]}
          />
          <Facts
            rows={[
              [state.server, isPostgres && `${String(host)}:${String(port)}`],
              [state.name, isPostgres && String(engine.postgresDatabase)],
              [state.user, isPostgres && String(engine.postgresUser)],
              [state.tls, isPostgres && String(engine.postgresSslmode)],
              [state.since, isPostgres && engine.databaseCutoverAt && <RelativeTime key="since" at={engine.databaseCutoverAt} />],
              [state.nextStart, nextStart(engine)],
              [state.snapshots, snapshots.length > 0 && String(snapshots.length)],
            ]}
          />
        </SimpleGrid>
        {engine.versionMismatch && <Text size="xs" c="var(--warn)">{state.mismatch}</Text>}
      </Stack>
    </Section>
  );
}

/** The managed file wins over variables, and both over the settings. */
function nextStart({ startupEnv, databaseEngine }: Engine): string {
  const chosen = startupEnv.effective.engine;
  if (chosen === null) return state.bySettings(engineName(databaseEngine));
  const isFile = Object.values(startupEnv.keys).some(({ source }) => source === "file");
  return (isFile ? state.byFile : state.byVariables)(engineName(chosen));
}

function engineName(engine: string): string {
  return engine === "postgres" || engine === "sqlite" ? engines[engine] : engine;
}
