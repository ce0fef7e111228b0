/** Where the marks of a chart's axes are. */
const STEPS = [1, 2, 2.5, 5, 10] as const;
const LEVELS = 3;
const TIMES = 6;

/** Round values from zero to the first that is not below any of `values`; whole ones for whole values. */
export function levelsFor(values: readonly number[]): number[] {
  const most = Math.max(0, ...values);
  if (most === 0) return [0, 1];
  const size = 10 ** Math.floor(Math.log10(most / LEVELS));
  let step = STEPS.map((each) => each * size).find((each) => each * LEVELS >= most)!;
  if (values.every(Number.isInteger)) step = Math.ceil(step);
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, place) => place * step);
}

/** Which of so many points in time get a label: evenly spaced, the newest among them. */
export function labelledOf(count: number): number[] {
  const step = Math.max(1, Math.ceil(count / TIMES));
  return Array.from({ length: Math.ceil(count / step) }, (_, place) => count - 1 - place * step).reverse();
}
