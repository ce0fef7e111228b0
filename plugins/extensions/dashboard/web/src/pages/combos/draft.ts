/** A combo as the editor holds it, and what speaks against it. */
import type { Shape } from "~/api/client";
import { compact } from "~/format/numbers";
import { texts } from "~/texts";

export type Combo = Shape<"Combo">;
const { warnings } = texts.combos;

export interface MemberDraft {
  model: string;
  weight: number;
  connectionId?: string;
}

/** What the list of models says of one, as far as it is known. */
export interface Ability {
  kind: string;
  context: number | null;
  vision: boolean | null;
}

/** A limit below which a member stands out against the widest one. */
const NARROW = 4;

export function membersOf(combo: Combo): MemberDraft[] {
  const facts = (combo.members ?? []) as { model?: string; weight?: number; connectionId?: string }[];
  return combo.models.map((model) => {
    const fact = facts.find((each) => each.model === model);
    return { model, weight: fact?.weight ?? 1, ...(fact?.connectionId ? { connectionId: fact.connectionId } : {}) };
  });
}

/** Moves a member from one place to another. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = [...list];
  const [member] = rest.splice(from, 1);
  if (member === undefined) return rest;
  rest.splice(Math.max(0, Math.min(to, rest.length)), 0, member);
  return rest;
}

export function warningsOf(members: readonly MemberDraft[], known: ReadonlyMap<string, Ability>): string[] {
  const found: string[] = [];
  const abilities = members.flatMap((member) => {
    const ability = known.get(member.model);
    return ability ? [{ model: member.model, ...ability }] : [];
  });
  const unknown = members.filter((member) => !known.has(member.model)).map((member) => member.model);
  if (unknown.length > 0 && known.size > 0) found.push(warnings.unknown(unknown.join(", ")));
  const kinds = new Set(abilities.map((each) => each.kind));
  if (kinds.size > 1) found.push(warnings.kinds([...kinds].join(", ")));
  const widest = Math.max(0, ...abilities.map((each) => each.context ?? 0));
  for (const each of abilities)
    if (each.context !== null && each.context * NARROW <= widest) found.push(warnings.context(each.model, compact(each.context)));
  const blind = abilities.filter((each) => each.vision === false).map((each) => each.model);
  if (blind.length > 0 && abilities.some((each) => each.vision === true)) found.push(warnings.vision(blind.join(", ")));
  if (members.length === 1) found.push(warnings.single);
  return found;
}
