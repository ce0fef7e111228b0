/** A key as the editor holds it, and the sentences that say what such a key may do. */
import type { Shape } from "~/api/client";
import { count, money } from "~/format/numbers";
import { day } from "~/format/times";
import { texts } from "~/texts";

export type KeyRow = Shape<"KeyRow">;
export type Body = Shape<"KeyBody">;
export type LimitName = keyof typeof texts.keys.fields;
export type AccessMode = keyof typeof texts.keys.accessModes;

const { summary } = texts.keys;
export const LIMITS = Object.keys(texts.keys.fields) as readonly LimitName[];
export const MONEY: ReadonlySet<LimitName> = new Set(["monthlyBudget", "maxCostUsd"]);
/** Limits of which 0 is one. */
const COUNTS_ZERO: ReadonlySet<LimitName> = new Set(["maxTokens", "maxCostUsd"]);

export interface Draft {
  name: string;
  /** A day, or empty. */
  expires: string;
  isActive: boolean;
  inferenceOnly: boolean;
  groups: string[];
  mode: AccessMode;
  patterns: string[];
  combos: string[];
  accounts: string[];
  auto: boolean;
  limits: Partial<Record<LimitName, number>>;
}

export const NEW: Draft = {
  name: "",
  expires: "",
  isActive: true,
  inferenceOnly: true,
  groups: [],
  mode: "all",
  patterns: [],
  combos: [],
  accounts: [],
  auto: true,
  limits: {},
};

interface Policy {
  allowedModels?: string[];
  modelAccess?: { mode?: AccessMode; patterns?: string[] };
  allowAutoCombos?: boolean;
}

export function draftOf(row: KeyRow): Draft {
  const policy = row.policy as Policy & Partial<Record<LimitName, unknown>>;
  const exact = policy.allowedModels ?? [];
  const limits: Draft["limits"] = {};
  for (const name of LIMITS) {
    const value = name === "dailyLimitTokens" ? row.dailyLimitTokens : policy[name];
    const number = value == null || value === "" ? Number.NaN : Number(value);
    if (Number.isFinite(number) && (number > 0 || COUNTS_ZERO.has(name))) limits[name] = number;
  }
  return {
    name: row.name,
    expires: row.expiresAt ? day(row.expiresAt) : "",
    isActive: row.isActive,
    inferenceOnly: row.inferenceOnly,
    groups: [...row.groups],
    mode: exact.length > 0 ? "allow" : (policy.modelAccess?.mode ?? "all"),
    patterns: exact.length > 0 ? exact : (policy.modelAccess?.patterns ?? []),
    combos: [...row.allowedCombos],
    accounts: [...row.providerConnectionIds],
    auto: policy.allowAutoCombos !== false,
    limits,
  };
}

/** The body that makes a key, or changes one, to what the draft says. */
export function bodyOf(draft: Draft): Body {
  const limits = Object.fromEntries(LIMITS.map((name) => [name, draft.limits[name] ?? null]));
  return {
    name: draft.name.trim(),
    // The end of the day here.
    expiresAt: draft.expires ? new Date(`${draft.expires}T23:59:59`).toISOString() : null,
    inferenceOnly: draft.inferenceOnly,
    groups: draft.groups,
    allowedModels: null,
    // The document knows no members of this object.
    modelAccess: (draft.mode === "all" ? null : { mode: draft.mode, patterns: draft.patterns }) as Body["modelAccess"],
    allowedCombos: draft.combos,
    providerConnectionIds: draft.accounts,
    allowAutoCombos: draft.auto ? null : false,
    ...limits,
  };
}

/** What such a key may do, in sentences. */
export function sentences(draft: Draft): string[] {
  const models = {
    all: summary.allModels,
    allow: summary.onlyModels(list(draft.patterns)),
    deny: summary.butModels(list(draft.patterns)),
  }[draft.mode];
  const combos = draft.combos.length > 0 ? summary.onlyCombos(list(draft.combos)) : summary.allCombos;
  const limits = LIMITS.filter((name) => draft.limits[name] !== undefined).map((name) => {
    const value = draft.limits[name]!;
    return `${MONEY.has(name) ? money(value) : count(value)} ${summary.units[name]}`;
  });
  const isRestricted =
    limits.length > 0 || draft.mode !== "all" || draft.combos.length > 0 || draft.accounts.length > 0 || draft.expires !== "" || !draft.auto;
  return [
    ...(draft.isActive ? [] : [summary.pausedNow]),
    `${models} ${combos}.`,
    ...(draft.accounts.length > 0 ? [summary.accounts(draft.accounts.length)] : []),
    ...(draft.auto ? [] : [summary.noAuto]),
    limits.length > 0 ? summary.limits(list(limits)) : summary.noLimits,
    ...(draft.expires ? [summary.until(draft.expires)] : []),
    draft.inferenceOnly ? summary.inference : isRestricted ? summary.reading : summary.management,
  ];
}

function list(words: readonly string[]): string {
  return words.length === 0 ? texts.common.none.toLowerCase() : new Intl.ListFormat("en").format(words);
}
