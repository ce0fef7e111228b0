import { fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { barsOf, lineOf } from "./Marks";
import { TimeChart } from "./TimeChart";

const ROWS = [
  { at: "10:00", good: 3, bad: 1 },
  { at: "11:00", good: 0, bad: null },
];
const SERIES = [
  { name: "good", label: "Good", color: "green" },
  { name: "bad", label: "Bad", color: "red" },
];

test("bars of one moment stand on one another", () => {
  const [good, bad] = barsOf(ROWS, SERIES, 4);
  expect(good).toMatch(/^M0\.\d+ 25\.00h\S+v75\.00h/);
  expect(bad).toMatch(/^M0\.\d+ 0\.00h\S+v25\.00h/);
  expect(bad!.match(/M/g)).toHaveLength(1);
});

test("a line goes through what is known only", () => {
  const rows = [...ROWS, { at: "12:00", good: 4, bad: 2 }];
  expect(lineOf(rows, "bad", 4)).toBe("M0.5 75.00L2.5 50.00");
  expect(lineOf(rows, "nothing", 4)).toBe("");
});

test("the keys go through the moments and open one", () => {
  const choose = vi.fn();
  render(<TimeChart kind="bars" label="Calls" rows={ROWS} series={SERIES} format={String} onChoose={choose} />);
  const chart = screen.getByRole("figure", { name: "Calls" });

  fireEvent.keyDown(chart, { key: "ArrowLeft" });
  expect(chart.querySelector("[aria-live]")!.textContent).toContain("11:00");
  expect(chart.querySelector("[aria-live]")!.textContent).toContain("Bad–");
  fireEvent.keyDown(chart, { key: "Home" });
  fireEvent.keyDown(chart, { key: "Enter" });
  expect(choose).toHaveBeenCalledWith(0);
  fireEvent.keyDown(chart, { key: "Escape" });
  fireEvent.keyDown(chart, { key: "Enter" });
  expect(choose).toHaveBeenCalledOnce();
});
