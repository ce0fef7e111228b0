/** What was used and what it cost, grouped; and the prices that this comes from. */
import { Tabs } from "@mantine/core";

import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { useUrlState } from "~/url/state";
import { Costs } from "./Costs";
import { Prices } from "./Prices";

const usage = texts.usage;
const DEFAULTS = { tab: "usage" };

export default function UsagePage() {
  const [state, setState] = useUrlState(DEFAULTS);
  return (
    <Page title={usage.title} about={usage.about}>
      <Tabs value={state.tab} onChange={(tab) => setState({ tab })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="usage">{usage.tabs.usage}</Tabs.Tab>
          <Tabs.Tab value="prices">{usage.tabs.prices}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="usage">
          <Costs />
        </Tabs.Panel>
        <Tabs.Panel value="prices">
          <Prices />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
