/** Names of providers for their ids, those of nodes included. */
import { useMemo } from "react";

import { query } from "./client";

const LONG_MS = 60_000;

export function useProviderNames(): (id: string | null | undefined) => string {
  const vendors = query.useQuery("get", "/api/vendors", {}, { staleTime: LONG_MS });
  const nodes = query.useQuery("get", "/api/provider-nodes", {}, { staleTime: LONG_MS });
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { id, name } of vendors.data?.vendors ?? []) names.set(id, name);
    for (const { id, name } of nodes.data?.nodes ?? []) names.set(id, name);
    return (id) => (id ? (names.get(id) ?? id) : "–");
  }, [vendors.data, nodes.data]);
}
