/** One plugin: what is known of it, its problems, its switch and its settings. */
import { Alert, Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

import { refresh } from "~/api/cache";
import { api, query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import { useAction } from "~/ui/action";
import { confirm, notifyDone, notifyError } from "~/ui/confirm";
import { Facts } from "~/ui/Facts";
import { SideSheet } from "~/ui/SideSheet";
import { Loaded } from "~/ui/states";
import { PluginState, Tier } from "./page";
import { PluginSettings } from "./PluginSettings";

const plugins = texts.plugins;
const common = texts.common;

export function PluginSheet({ name, onClose }: { name: string; onClose: () => void }) {
  const found = query.useQuery("get", "/api/plugins/{name}", { params: { path: { name } } }, { enabled: name !== "" });
  return (
    <SideSheet opened={name !== ""} onClose={onClose} title={name}>
      <Loaded of={found}>{(sheet) => <Details sheet={sheet} />}</Loaded>
    </SideSheet>
  );
}

function Details({ sheet }: { sheet: Shape<"Sheet"> }) {
  const { summary, home, license } = sheet.package;
  const [act, failure] = useAction();
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Group gap="sm">
          <PluginState plugin={sheet} />
          <Tier tier={sheet.tier} />
        </Group>
        <Button variant="default" onClick={() => (sheet.enabled ? askToDisable(sheet.name) : void act(() => switchPlugin(sheet.name, true)))}>
          {sheet.enabled ? common.disable : common.enable}
        </Button>
      </Group>
      {failure}
      {sheet.problems.map((problem) => (
        <Alert key={problem.message} color={problem.fatal ? "red" : "orange"} icon={<IconAlertTriangle size={18} />}>
          {problem.message}
          {problem.advice && <Text c="dimmed" mt={4}>{problem.advice}</Text>}
        </Alert>
      ))}
      <Facts
        rows={[
          [plugins.columns.version, sheet.version],
          [plugins.facts.package, home ? <Anchor href={home} target="_blank" rel="noreferrer">{sheet.distribution}</Anchor> : sheet.distribution],
          [plugins.facts.summary, summary],
          [plugins.facts.license, license],
          [plugins.facts.origin, sheet.path ?? sheet.origin],
          [plugins.columns.brings, sheet.brings.length > 0 && sheet.brings.join(", ")],
          [plugins.facts.hooks, sheet.hooks.join(", ")],
          [plugins.facts.hosts, sheet.hosts.length > 0 && sheet.hosts.join(", ")],
          [plugins.facts.variables, sheet.variables.length > 0 && sheet.variables.join(", ")],
          [plugins.facts.protocol, sheet.protocol],
          [plugins.facts.seconds, `${Math.round(sheet.seconds * 1000)} ms`],
        ]}
      />
      <Stack gap="xs">
        <Title order={3}>{plugins.settings}</Title>
        {sheet.settings.length > 0 ? <PluginSettings name={sheet.name} /> : <Text c="dimmed">{plugins.noSettings}</Text>}
      </Stack>
    </Stack>
  );
}

async function switchPlugin(name: string, on: boolean): Promise<void> {
  const path = on ? "/api/plugins/{name}/enable" : "/api/plugins/{name}/disable";
  await api.POST(path, { params: { path: { name } } });
  await refresh("/api/plugins");
  notifyDone(plugins.switched(name, on), () => void switchPlugin(name, !on).catch(notifyError));
}

function askToDisable(name: string): void {
  confirm({
    title: plugins.disableTitle(name),
    body: plugins.disableBody,
    action: common.disable,
    run: () => switchPlugin(name, false),
  });
}
