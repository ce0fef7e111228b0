import { expect, test } from "vitest";

import { toCsv } from "./export";

test("a name with commas and quotes is one cell", () => {
  expect(toCsv([{ name: 'a "b", c', cost: 1.5 }])).toBe('name,cost\r\n"a ""b"", c",1.5\r\n');
});

test("a name is never a formula of a spreadsheet", () => {
  expect(toCsv([{ name: "=1+1", cost: -1 }])).toBe("name,cost\r\n'=1+1,-1\r\n");
});

test("nothing is a file with an empty line", () => {
  expect(toCsv([])).toBe("\r\n");
});
