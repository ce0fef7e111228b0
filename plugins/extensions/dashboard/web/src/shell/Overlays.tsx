/** Dialogs and short messages above every page. */
import "@mantine/notifications/styles.css";

import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";

export function Overlays() {
  return (
    <ModalsProvider>
      <Notifications position="bottom-right" limit={4} />
    </ModalsProvider>
  );
}
