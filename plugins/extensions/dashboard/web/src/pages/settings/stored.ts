/** The settings document: read by every panel, changed one member at a time. */
import { refresh } from "~/api/cache";
import { api, query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import { notifyDone, notifyError } from "~/ui/confirm";

export type Document = Shape<"SettingsDocument">;
export type Change = Shape<"SettingsChange">;

export function useSettings() {
  return query.useQuery("get", "/api/settings");
}

/** Changes settings. Throws what the gateway refuses. */
export async function change(changes: Change): Promise<void> {
  await api.PATCH("/api/settings", { body: changes });
  await refresh("/api/settings", "/api/auth", "/api/data-retention");
}

/** The same for a switch: a refusal is shown beside the page. */
export function changeQuietly(changes: Change): void {
  change(changes).then(
    () => notifyDone(texts.settings.saved),
    (error: unknown) => notifyError(error),
  );
}
