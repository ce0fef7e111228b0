/** The gateway's own settings: who gets in, how it reaches out, what it keeps, what was done. */
import { Tabs } from "@mantine/core";
import { IconArchive, IconClockHour4, IconHistory, IconLock, IconServer, IconWorld } from "@tabler/icons-react";

import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { useUrlState } from "~/url/state";
import { Audit } from "./Audit";
import { Backup } from "./Backup";
import { Network } from "./Network";
import { Retention } from "./Retention";
import { Security } from "./Security";
import { System } from "./System";

const settings = texts.settings;
const DEFAULTS = { tab: "security" };
const TABS = [
  { value: "security", icon: IconLock, panel: Security },
  { value: "network", icon: IconWorld, panel: Network },
  { value: "retention", icon: IconClockHour4, panel: Retention },
  { value: "backup", icon: IconArchive, panel: Backup },
  { value: "audit", icon: IconHistory, panel: Audit },
  { value: "system", icon: IconServer, panel: System },
] as const;

export default function SettingsPage() {
  const [{ tab }, setState] = useUrlState(DEFAULTS);
  return (
    <Page title={settings.title}>
      <Tabs value={tab} onChange={(chosen) => setState({ tab: chosen }, { replace: false })} keepMounted={false}>
        <Tabs.List mb="md">
          {TABS.map(({ value, icon: Symbol }) => (
            <Tabs.Tab key={value} value={value} leftSection={<Symbol size={14} />}>
              {settings.tabs[value]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {TABS.map(({ value, panel: Panel }) => (
          <Tabs.Panel key={value} value={value}>
            <Panel />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
