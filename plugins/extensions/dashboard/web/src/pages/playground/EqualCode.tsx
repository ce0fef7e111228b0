import { Tabs } from "@mantine/core";

import { quoted } from "~/pages/requests/curl";
import { CodeBlock } from "~/ui/copying";

interface Props {
  path: string;
  body: Record<string, unknown>;
}

/** The same call from a terminal, Python and JavaScript. */
export function EqualCode({ path, body }: Props) {
  const samples = codeOf(path, body);
  return (
    <Tabs defaultValue="curl">
      <Tabs.List mb="sm">
        {Object.keys(samples).map((name) => (
          <Tabs.Tab key={name} value={name}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.entries(samples).map(([name, code]) => (
        <Tabs.Panel key={name} value={name}>
          <CodeBlock code={code} lines={40} label={name} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export function codeOf(path: string, body: Record<string, unknown>, origin: string = window.location.origin): Record<string, string> {
  const json = JSON.stringify(body, null, 2);
  return {
    curl: `curl ${origin}${path} \\\n  -H "Authorization: Bearer $GATEWAY_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(json)}`,
    Python: `import json
import os
import urllib.request

body = json.loads(r"""${json.replaceAll('"""', '\\u0022\\u0022\\u0022')}""")
request = urllib.request.Request(
    "${origin}${path}",
    json.dumps(body).encode(),
    {"Authorization": f"Bearer {os.environ['GATEWAY_KEY']}", "Content-Type": "application/json"},
)
with urllib.request.urlopen(request) as answer:
    print(answer.read().decode())`,
    JavaScript: `const answer = await fetch("${origin}${path}", {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.GATEWAY_KEY}\`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${json.replaceAll("\n", "\n  ")}),
});
console.log(await answer.text());`,
  };
}
