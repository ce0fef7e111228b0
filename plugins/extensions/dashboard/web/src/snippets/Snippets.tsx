import { Tabs } from "@mantine/core";

import { CodeBlock } from "~/ui/copying";
import { type Call, SNIPPETS } from "./snippets";

/** The same call in several languages and programs. */
export function Snippets({ call }: { call: Call }) {
  return (
    <Tabs defaultValue={SNIPPETS[0]!.id} keepMounted={false}>
      <Tabs.List>
        {SNIPPETS.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {SNIPPETS.map(({ id, label, code }) => (
        <Tabs.Panel key={id} value={id} pt="sm">
          <CodeBlock code={code(call)} label={label} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
