/** Accounts at vendors, nodes of one's own, and everyone an account can be at. */
import { Button, Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";

import { query } from "~/api/client";
import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { useUrlState } from "~/url/state";
import { AccountForm } from "./AccountForm";
import { AccountSheet } from "./AccountSheet";
import { Accounts } from "./Accounts";
import { Gallery, type Vendor } from "./Gallery";
import { NodeForm } from "./NodeForm";
import { Nodes } from "./Nodes";
import { Pools } from "./Pools";

const providers = texts.providers;
const DEFAULTS = { provider: "", search: "", account: "" };

export default function ProvidersPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const [vendor, setVendor] = useState<Vendor | null>(null);
  const [addsNode, { open: openNode, close: closeNode }] = useDisclosure(false);
  const accounts = query.useQuery("get", "/api/providers", {}, { refetchInterval: 15_000 });
  const taken = accounts.data?.connections.flatMap((each) => (each.provider === vendor?.id ? [each.name] : []));
  return (
    <Page
      title={providers.title}
      actions={
        <Button leftSection={<IconPlus size={14} />} component="a" href="#vendors">
          {providers.add}
        </Button>
      }
    >
      <Accounts of={accounts} state={state} onChange={setState} />
      <Nodes onAdd={openNode} />
      <Pools />
      <Section title={providers.gallery} about={providers.galleryHint} id="vendors">
        <Gallery onPick={setVendor} />
      </Section>
      <Modal opened={vendor !== null} onClose={() => setVendor(null)} title={vendor && providers.form.addTitle(vendor.name)}>
        {vendor && (
          <AccountForm
            vendor={vendor}
            usualName={freeName(taken ?? [])}
            onDone={(account) => {
              setVendor(null);
              setState({ account: account.id, provider: null, search: null });
            }}
          />
        )}
      </Modal>
      <Modal opened={addsNode} onClose={closeNode} title={providers.nodeForm.title}>
        <NodeForm onDone={closeNode} />
      </Modal>
      <AccountSheet
        account={accounts.data?.connections.find((each) => each.id === state.account)}
        onClose={() => setState({ account: null })}
      />
    </Page>
  );
}

/** `main`, or `main-2` where that is taken. */
export function freeName(taken: readonly (string | null)[]): string {
  if (!taken.includes("main")) return "main";
  let number = 2;
  while (taken.includes(`main-${number}`)) number += 1;
  return `main-${number}`;
}
