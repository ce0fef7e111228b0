/** Files of a gateway's data: what they say of themselves, and reading them. */
import type { Shape } from "~/api/client";

export type Whole = Shape<"ImportBody">;
export type Selection = Shape<"Bundle">;
export type Read = { kind: "whole"; file: Whole } | { kind: "selection"; file: Selection };

/** Tables that grow with the use of the gateway. An import leaves those alone that a file does not have. */
const USAGE = ["usage", "request_details", "key_days", "key_totals"];
/** What the gateway takes. */
export const LARGEST = 16 * 1024 * 1024;

/** Reads the text of a file; `null` for one that no gateway has written. */
export function readFile(text: string): Read | null {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof found !== "object" || found === null) return null;
  const { format, tables, schemaVersion } = found as { format?: unknown; tables?: unknown; schemaVersion?: unknown };
  if (typeof tables !== "object" || tables === null || typeof schemaVersion !== "number") return null;
  if (format === "model-gateway-database") return { kind: "whole", file: found as Whole };
  if (format === "model-gateway-selection") return { kind: "selection", file: found as Selection };
  return null;
}

export interface TableSize {
  name: string;
  rows: number;
}

/** The tables that hold something, the largest first. */
export function sizesOf({ tables }: Pick<Whole, "tables">): TableSize[] {
  return Object.entries(tables)
    .map(([name, { rows }]) => ({ name, rows: Array.isArray(rows) ? rows.length : 0 }))
    .filter(({ rows }) => rows > 0)
    .sort((one, other) => other.rows - one.rows);
}

export function hasUsage({ tables }: Pick<Whole, "tables">): boolean {
  return USAGE.some((name) => name in tables);
}

export function withoutUsage<T extends Pick<Whole, "tables">>(file: T): T {
  const tables = Object.fromEntries(Object.entries(file.tables).filter(([name]) => !USAGE.includes(name)));
  return { ...file, tables };
}
