/** A page of a plugin: its script fills an element and calls the management API by way of us. */
import { useComputedColorScheme } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useParams } from "react-router";

import { query, readError } from "~/api/client";
import { MissingPage } from "~/shell/fallbacks";
import { Page } from "~/ui/Page";
import { ErrorState, Loaded } from "~/ui/states";

/** What the script's `mount` gets besides the element. */
interface GatewayForPages {
  request: (method: string, path: string, body?: unknown) => Promise<unknown>;
  scheme: "light" | "dark";
}

interface PageModule {
  mount: (element: HTMLElement, gateway: GatewayForPages) => void | (() => void);
}

export default function PluginPage() {
  const { "*": rest = "" } = useParams();
  const pages = query.useQuery("get", "/api/pages");
  return (
    <Loaded of={pages}>
      {(data) => {
        // Only scripts that the gateway lists are run, whatever the address says.
        const page = data.pages.find((each) => each.script === `/${rest}`);
        return page ? <Mounted key={page.script} {...page} /> : <MissingPage />;
      }}
    </Loaded>
  );
}

function Mounted({ title, script }: { title: string; script: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<unknown>(null);
  const scheme = useComputedColorScheme("light");

  useEffect(() => {
    let leave: (() => void) | undefined;
    let isGone = false;
    const element = document.createElement("div");
    place.current?.replaceChildren(element);
    import(/* @vite-ignore */ script)
      .then((module: PageModule) => {
        if (!isGone) leave = module.mount(element, { request, scheme }) ?? undefined;
      })
      .catch(setError);
    return () => {
      isGone = true;
      leave?.();
    };
  }, [script, scheme]);

  return (
    <Page title={title}>
      {error !== null && <ErrorState error={error} />}
      <div ref={place} />
    </Page>
  );
}

async function request(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await readError(response);
  return response.json();
}
