// What a dashboard does with the types; it must compile in strict mode.
import type { components, operations, paths } from "./gateway";

type Keys = paths["/api/keys"]["get"]["responses"]["200"]["content"]["application/json"];
type Series = components["schemas"]["Series"];
type SeriesQuery = NonNullable<operations["getApiUsageSeries"]["parameters"]["query"]>;

export function names(list: Keys): string[] {
  return list.keys.map((key) => key.name);
}

// Members that are always sent are not optional: no question mark is needed on the way.
export function errors(series: Series): number[] {
  return series.points.map((point) => point.errors + (point.latencyMs.p95 ?? 0));
}

export const query: SeriesQuery = { period: "7d", groupBy: "model,provider", interval: "hour" };
