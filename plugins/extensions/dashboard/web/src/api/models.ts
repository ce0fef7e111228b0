/** Models that can be called now, as clients see them. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { api } from "./client";

export interface ListedModel {
  /** What a request names. */
  id: string;
  /** The provider, or `combo`. */
  owner: string;
  kind: string;
}

const LONG_MS = 60_000;
const CHAT = "llm";

/** The models of one kind of work; chat by default. */
export function useModels(kind: string = CHAT) {
  const answer = useQuery({
    queryKey: ["get", "/v1/models"],
    queryFn: async () => {
      const { data } = await api.GET("/v1/models");
      return readModels(data);
    },
    staleTime: LONG_MS,
  });
  const models = useMemo(() => answer.data?.filter((model) => model.kind === kind), [answer.data, kind]);
  return { ...answer, data: models };
}

export function readModels(list: unknown): ListedModel[] {
  const rows = (list as { data?: Record<string, unknown>[] } | undefined)?.data ?? [];
  return rows.map((row) => ({
    id: String(row.id),
    owner: String(row.owned_by ?? ""),
    kind: typeof row.kind === "string" ? row.kind : CHAT,
  }));
}
