/** Pages in place of a page. */
import { Button } from "@mantine/core";
import { IconError404 } from "@tabler/icons-react";
import { Link } from "react-router";

import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { EmptyState, ErrorState, Placeholder } from "~/ui/states";

export function MissingPage() {
  return (
    <Page title={texts.shell.missing}>
      <EmptyState
        icon={IconError404}
        title={texts.shell.missing}
        hint={texts.shell.missingHint}
        action={
          <Button component={Link} to="/overview">
            {texts.shell.home}
          </Button>
        }
      />
    </Page>
  );
}

export function CrashedPage({ error }: { error: unknown }) {
  return (
    <Page title={texts.shell.crashed}>
      <ErrorState title={texts.shell.crashed} error={error} onRetry={() => window.location.reload()} />
    </Page>
  );
}

/** The frame of a page whose script is under way. */
export function WaitingPage({ title = texts.common.loading }: { title?: string }) {
  return (
    <Page title={title}>
      <Placeholder lines={8} />
    </Page>
  );
}
