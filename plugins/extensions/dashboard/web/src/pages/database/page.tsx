/** The database: which one is served, moving to PostgreSQL and back, and what was tried. */
import { Alert, Progress, Stack, Text } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { useState } from "react";

import { PasswordGate } from "~/session/PasswordGate";
import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";
import { Back } from "./Back";
import { stepOf, useEngine } from "./engine";
import { Log } from "./Log";
import { Move } from "./Move";
import { State } from "./State";

const database = texts.database;

export default function DatabasePage() {
  return (
    <Page title={database.title} about={database.about}>
      <PasswordGate>{(password) => <Database password={password} />}</PasswordGate>
    </Page>
  );
}

function Database({ password }: { password: string }) {
  const [isChanging, setChanging] = useState(false);
  const [done, setDone] = useState<string | null>(null);
  const engine = useEngine(password, isChanging);
  return (
    <Loaded of={engine} lines={10}>
      {(found) => {
        const step = stepOf(found.progress);
        const isSqlite = found.activeEngine === "sqlite";
        const change = {
          password,
          isBusy: step !== null,
          onDone: setDone,
          onChanging: (begins: boolean) => {
            setChanging(begins);
            if (begins) setDone(null);
          },
        };
        return (
          <Stack gap="md">
            {step && (
              <Section title={isSqlite ? database.move.running : database.back.running}>
                <Text size="xs" mb={6} aria-live="polite">{step.label}</Text>
                <Progress value={step.value} animated aria-label={step.label} />
              </Section>
            )}
            {done && (
              <Alert color="green" variant="light" icon={<IconCheck size={18} />} role="status">
                {done}
              </Alert>
            )}
            <State engine={found} />
            {isSqlite ? <Move {...change} /> : <Back {...change} engine={found} />}
            <Log password={password} />
          </Stack>
        );
      }}
    </Loaded>
  );
}
