/** The models of every provider, with what is known of them from several lists. */
import { useMemo } from "react";

import { query, type Shape } from "~/api/client";

export interface ModelFacts {
  /** What programs ask for. */
  full: string;
  provider: string;
  /** The beginning of `full`, under which lists of a provider are kept. */
  prefix: string;
  id: string;
  name: string;
  kind: string;
  alias: string | null;
  isDisabled: boolean;
  isOwn: boolean;
  context: number | null;
  output: number | null;
  abilities: readonly Ability[];
  price: Shape<"PriceRow"> | null;
}

export const ABILITIES = ["vision", "tools", "reasoning"] as const;
export type Ability = (typeof ABILITIES)[number];

interface Listed {
  id: string;
  context_length?: number | null;
  max_output_tokens?: number | null;
  capabilities?: Partial<Record<Ability, boolean | null>> | null;
}

interface Sources {
  rows: readonly Shape<"ModelRow">[];
  listed: readonly Listed[];
  disabled: Readonly<Record<string, readonly string[]>>;
  custom: readonly Shape<"CustomModel">[];
  prices: Readonly<Record<string, Readonly<Record<string, Shape<"PriceRow">>>>>;
}

export function useModelFacts() {
  const rows = query.useQuery("get", "/api/models");
  const listed = query.useQuery("get", "/v1/models");
  const disabled = query.useQuery("get", "/api/models/disabled");
  const custom = query.useQuery("get", "/api/models/custom");
  const prices = query.useQuery("get", "/api/pricing", {}, { staleTime: 60_000 });
  const facts = useMemo(
    () =>
      join({
        rows: rows.data?.models ?? [],
        listed: (listed.data as { data?: Listed[] } | undefined)?.data ?? [],
        disabled: disabled.data?.disabled ?? {},
        custom: custom.data?.models ?? [],
        prices: (prices.data ?? {}) as Sources["prices"],
      }),
    [rows.data, listed.data, disabled.data, custom.data, prices.data],
  );
  return { facts, isPending: rows.isPending, error: rows.error, refetch: rows.refetch };
}

/** One row for each model; those that are disabled are in no other list. */
export function join({ rows, listed, disabled, custom, prices }: Sources): ModelFacts[] {
  const known = new Map(listed.map((each) => [each.id, each]));
  const own = new Set(custom.map((each) => `${each.provider}\n${each.id}`));
  const seen = new Set<string>();
  const make = (provider: string, full: string, id: string, name: string, kind: string, alias: string | null): ModelFacts => {
    const prefix = full.slice(0, full.indexOf("/"));
    const fact = known.get(full);
    seen.add(`${prefix}/${id}`);
    return {
      full,
      provider,
      prefix,
      id,
      name,
      kind,
      alias,
      isDisabled: (disabled[prefix] ?? []).includes(id) || (disabled[provider] ?? []).includes(id),
      isOwn: own.has(`${provider}\n${id}`),
      context: fact?.context_length ?? null,
      output: fact?.max_output_tokens ?? null,
      abilities: ABILITIES.filter((ability) => fact?.capabilities?.[ability]),
      price: prices[provider]?.[id] ?? prices[prefix]?.[id] ?? null,
    };
  };
  const made = rows.map((row) => make(row.provider, row.fullModel, row.model, row.name, row.kind, row.alias));
  for (const [prefix, ids] of Object.entries(disabled))
    for (const id of ids) if (!seen.has(`${prefix}/${id}`)) made.push(make(prefix, `${prefix}/${id}`, id, id, "llm", null));
  return made;
}
