import { describe, expect, test } from "vitest";

import { compact, duration, money, percent, size } from "./numbers";
import { ago } from "./times";

describe("numbers", () => {
  test.each([
    [0, "$0"],
    [0.0000001, "<$0.000001"],
    [0.000012, "$0.000012"],
    [0.0123, "$0.012"],
    [1.5, "$1.50"],
    [12345.6, "$12,346"],
    [-2, "-$2.00"],
  ])("money of %s is %s", (value, text) => expect(money(value)).toBe(text));

  test.each([
    [340.4, "340 ms"],
    [1240, "1.24 s"],
    [65_000, "1 m 05 s"],
    [7_260_000, "2 h 01 m"],
    [null, "–"],
  ])("a duration of %s is %s", (value, text) => expect(duration(value)).toBe(text));

  test.each([
    [0, "0%"],
    [0.0004, "<0.1%"],
    [0.034, "3.4%"],
    [0.5, "50%"],
    [Number.NaN, "–"],
  ])("a share of %s is %s", (value, text) => expect(percent(value)).toBe(text));

  test("counts are shortened", () => expect(compact(12_340)).toBe("12.3K"));
  test("sizes have a unit", () => expect(size(1_400_000)).toBe("1.4 MB"));
});

describe("times", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");

  test.each([
    ["2026-03-01T11:59:55Z", "just now"],
    ["2026-03-01T11:57:00Z", "3 min. ago"],
    ["2026-02-28T12:00:00Z", "yesterday"],
    ["2026-03-01T14:00:00Z", "in 2 hr."],
  ])("%s is %s", (moment, text) => expect(ago(moment, now)).toBe(text));
});
