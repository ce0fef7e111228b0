/** Whose files and batches there are. */
import { query } from "~/api/client";
import { texts } from "~/texts";

const files = texts.files;
const LOCAL = "local";

interface Owned {
  owner: string;
  ownerName: string | null;
}

export function nameOf({ owner, ownerName }: Owned): string {
  return ownerName ?? (owner === LOCAL ? files.local : files.goneKey);
}

/** For a filter: this machine, every key, and owners of files whose key is gone. */
export function useOwners(): { value: string; label: string }[] {
  const keys = query.useQuery("get", "/api/keys");
  const usage = query.useQuery("get", "/api/files/usage");
  const known = new Map<string, string>([[LOCAL, files.local]]);
  for (const { id, name } of keys.data?.keys ?? []) known.set(id, name);
  for (const each of usage.data?.owners ?? [])
    if (!known.has(each.owner)) known.set(each.owner, `${nameOf(each)} (${each.owner.slice(0, 8)})`);
  return [...known].map(([value, label]) => ({ value, label }));
}
