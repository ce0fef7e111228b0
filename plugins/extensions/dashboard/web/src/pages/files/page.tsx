/** What clients keep at the gateway: files, and batches of requests. */
import { Tabs } from "@mantine/core";
import { IconFiles, IconStackPush } from "@tabler/icons-react";

import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { useUrlState } from "~/url/state";
import { Batches } from "./Batches";
import { Files } from "./Files";

const files = texts.files;
const DEFAULTS = { tab: "files" };
/** A filter of one list means nothing to the other. */
const NONE = { search: null, purpose: null, status: null, batch: null, page: null };

export default function FilesPage() {
  const [{ tab }, setState] = useUrlState<Record<string, string>>(DEFAULTS);
  return (
    <Page title={files.title} about={files.about}>
      <Tabs value={tab} onChange={(chosen) => setState({ tab: chosen, ...NONE }, { replace: false })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="files" leftSection={<IconFiles size={14} />}>
            {files.tabs.files}
          </Tabs.Tab>
          <Tabs.Tab value="batches" leftSection={<IconStackPush size={14} />}>
            {files.tabs.batches}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="files">
          <Files />
        </Tabs.Panel>
        <Tabs.Panel value="batches">
          <Batches />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
