/** What is done to accounts. The page shows a change before the gateway has confirmed it. */
import { cache, refresh } from "~/api/cache";
import { api, query } from "~/api/client";
import { texts } from "~/texts";
import { notifyDone, notifyError } from "~/ui/confirm";
import type { Connection } from "./AccountForm";

const providers = texts.providers;
const { queryKey: LIST } = query.queryOptions("get", "/api/providers");
type List = { connections: Connection[] };

/** Shows a changed list at once, and the stored one again when the change fails. */
async function optimistic(change: (before: Connection[]) => Connection[], work: () => Promise<unknown>): Promise<boolean> {
  await cache.cancelQueries({ queryKey: LIST });
  const before = cache.getQueryData<List>(LIST);
  if (before) cache.setQueryData<List>(LIST, { connections: change(before.connections) });
  try {
    await work();
    return true;
  } catch (failure) {
    if (before) cache.setQueryData(LIST, before);
    notifyError(failure);
    return false;
  } finally {
    void refresh("/api/providers", "/api/vendors", "/v1/models", "/api/models", "/api/health");
  }
}

export async function setActive(account: Connection, isActive: boolean): Promise<void> {
  const isDone = await optimistic(
    (all) => all.map((each) => (each.id === account.id ? { ...each, isActive } : each)),
    () => api.PATCH("/api/providers/{id}", { params: { path: { id: account.id } }, body: { isActive } }),
  );
  const name = account.name ?? account.id;
  if (isDone) notifyDone(isActive ? providers.resumed(name) : providers.paused(name), () => void setActive(account, !isActive));
}

/** Moves an account before or after its neighbour of the same provider. */
export function move(all: readonly Connection[], account: Connection, step: -1 | 1): Promise<boolean> {
  const ids = all.filter((each) => each.provider === account.provider).map((each) => each.id);
  const place = ids.indexOf(account.id);
  const other = ids[place + step];
  if (other === undefined) return Promise.resolve(false);
  ids[place] = other;
  ids[place + step] = account.id;
  const order = new Map(ids.map((id, at) => [id, at + 1]));
  return optimistic(
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
    return refresh("/api/providers", "/api/vendors", "/v1/models", "/api/models", "/api/health");
  });
}

export async function endCooldown(account: Connection): Promise<void> {
  try {
    await api.POST("/api/models/availability", {
      body: { action: "clearCooldown", provider: account.provider, model: "__all" },
    });
    notifyDone(providers.cleared);
  } catch (failure) {
    notifyError(failure);
  }
  await refresh("/api/providers", "/api/models/availability", "/api/health");
}
