/** State of a page that is kept in the address, so that it can be linked, and goes back with "back". */
import { useCallback } from "react";
import { useSearchParams } from "react-router";

/** The parameters of a page by name, each with its default. */
export type Defaults = Readonly<Record<string, string>>;
export type UrlState<D extends Defaults> = { readonly [Name in keyof D]: string };
export type Change<D extends Defaults> = Partial<Record<keyof D, string | null>>;

/** Values from the address; what equals its default is left out of it. */
export function useUrlState<D extends Defaults>(
  defaults: D,
): [UrlState<D>, (change: Change<D>, options?: { replace?: boolean }) => void] {
  const [search, setSearch] = useSearchParams();
  const state = readState(search, defaults);
  const change = useCallback(
    (values: Change<D>, { replace = true }: { replace?: boolean } = {}) =>
      setSearch((before) => writeState(before, defaults, values), { replace }),
    // Defaults are constants of a page.
    [setSearch],
  );
  return [state, change];
}

export function readState<D extends Defaults>(search: URLSearchParams, defaults: D): UrlState<D> {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, usual]) => [name, search.get(name) ?? usual]),
  ) as UrlState<D>;
}

export function writeState<D extends Defaults>(
  before: URLSearchParams,
  defaults: D,
  values: Change<D>,
): URLSearchParams {
  const after = new URLSearchParams(before);
  for (const [name, value] of Object.entries(values) as [string, string | null | undefined][]) {
    if (value == null || value === defaults[name]) after.delete(name);
    else after.set(name, value);
  }
  return after;
}
