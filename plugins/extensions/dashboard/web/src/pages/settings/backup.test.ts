import { describe, expect, test } from "vitest";

import { hasUsage, readFile, sizesOf, withoutUsage } from "./backup";

const FILE = {
  format: "model-gateway-database",
  schemaVersion: 31,
  exportedAt: "2027-01-15T08:00:00.000Z",
  secretsIncluded: false,
  tables: { combos: { columns: ["id"], rows: [["a"]] }, usage: { columns: ["id"], rows: [[1], [2]] }, nodes: { columns: ["id"], rows: [] } },
} as const;

describe("a file", () => {
  test("is known by what it says of itself", () => {
    expect(readFile(JSON.stringify(FILE))?.kind).toBe("whole");
    expect(readFile(JSON.stringify({ ...FILE, format: "model-gateway-selection" }))?.kind).toBe("selection");
  });

  test.each(["", "[]", "null", '{"format":"model-gateway-database"}', '{"format":"other","schemaVersion":1,"tables":{}}'])(
    "of another sort is none: %s",
    (text) => expect(readFile(text)).toBeNull(),
  );

  test("shows its tables by their size, without the empty ones", () =>
    expect(sizesOf(FILE as never)).toEqual([
      { name: "usage", rows: 2 },
      { name: "combos", rows: 1 },
    ]));

  test("may go without the usage", () => {
    const rest = withoutUsage(FILE as never) as { tables: object };

    expect(Object.keys(rest.tables)).toEqual(["combos", "nodes"]);
    expect(hasUsage(rest as never)).toBe(false);
    expect(hasUsage(FILE as never)).toBe(true);
  });
});
