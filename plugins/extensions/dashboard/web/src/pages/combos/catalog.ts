/** What each model can do, from the list that programs read too. */
import { useMemo } from "react";

import { query } from "~/api/client";
import type { Ability } from "./draft";

interface ListedModel {
  id: string;
  kind?: string;
  context_length?: number | null;
  capabilities?: { vision?: boolean };
}

const LONG_MS = 60_000;

export function useAbilities(): { known: ReadonlyMap<string, Ability>; names: string[] } {
  const rows = query.useQuery("get", "/api/models", {}, { staleTime: LONG_MS });
  const listed = query.useQuery("get", "/v1/models", {}, { staleTime: LONG_MS });
  return useMemo(() => {
    const data = ((listed.data as { data?: ListedModel[] } | undefined)?.data ?? []).map((each) => [each.id, each] as const);
    const facts = new Map(data);
    const known = new Map<string, Ability>();
    for (const row of rows.data?.models ?? []) {
      const fact = facts.get(row.fullModel);
      known.set(row.fullModel, {
        kind: row.kind,
        context: fact?.context_length ?? null,
        vision: fact?.capabilities?.vision ?? null,
      });
    }
    return { known, names: [...known.keys()] };
  }, [rows.data, listed.data]);
}
