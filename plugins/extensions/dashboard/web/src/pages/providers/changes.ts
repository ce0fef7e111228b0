/** What is done to accounts. Each throws what the gateway answers instead of doing it. */
import { refresh } from "~/api/cache";
import { api } from "~/api/client";
import { optimistic } from "~/api/optimistic";
import { texts } from "~/texts";
import { notifyDone, notifyError } from "~/ui/confirm";
import type { Connection } from "./AccountForm";

const providers = texts.providers;
type List = { connections: Connection[] };
/** What depends on which accounts there are. */
const ALSO = ["/api/vendors", "/v1/models", "/api/models", "/api/health"] as const;

function changed(change: (before: Connection[]) => Connection[], work: () => Promise<unknown>): Promise<void> {
  return optimistic<List>({
    path: "/api/providers",
    change: (before) => ({ ...before, connections: change(before.connections) }),
    work,
    also: ALSO,
  });
}

/** Pauses an account or lets it go on, with a way back. */
export async function setActive(account: Connection, isActive: boolean): Promise<void> {
  await changed(
    (all) => all.map((each) => (each.id === account.id ? { ...each, isActive } : each)),
    () => api.PATCH("/api/providers/{id}", { params: { path: { id: account.id } }, body: { isActive } }),
  );
  const name = account.name ?? account.id;
  notifyDone(isActive ? providers.resumed(name) : providers.paused(name), () => void setActive(account, !isActive).catch(notifyError));
}

/** Moves an account before or after its neighbour of the same provider. */
export async function move(all: readonly Connection[], account: Connection, step: -1 | 1): Promise<void> {
  const ids = all.filter((each) => each.provider === account.provider).map((each) => each.id);
  const place = ids.indexOf(account.id);
  const other = ids[place + step];
  if (other === undefined) return;
  ids[place] = other;
  ids[place + step] = account.id;
  const order = new Map(ids.map((id, at) => [id, at + 1]));
  await changed(
    (before) =>
      before
        .map((each) => ({ ...each, priority: order.get(each.id) ?? each.priority }))
        .sort((a, b) => a.provider.localeCompare(b.provider) || a.priority - b.priority),
    () => api.PUT("/api/providers/reorder", { body: { provider: account.provider, ids } }),
  );
}

export function remove(account: Connection): Promise<unknown> {
  return api.DELETE("/api/providers/{id}", { params: { path: { id: account.id } } }).then(() => {
    notifyDone(providers.deleted(account.name ?? account.id));
    return refresh("/api/providers", ...ALSO);
  });
}

/** Lets an account be used that rests after a failure. */
export async function endCooldown(account: Connection): Promise<void> {
  await api.POST("/api/models/availability", {
    body: { action: "clearCooldown", provider: account.provider, model: "__all", connectionId: account.id },
  });
  await refresh("/api/providers", "/api/models/availability", "/api/health");
  notifyDone(providers.cleared);
}
