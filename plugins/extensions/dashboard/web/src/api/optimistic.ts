/** Changes that are shown before the gateway has confirmed them. */
import { cache, refresh } from "./cache";

interface Change<Data> {
  /** What was read from this path is shown changed. */
  path: string;
  change: (before: Data) => Data;
  work: () => Promise<unknown>;
  /** What is read again afterwards, besides the path. */
  also?: readonly string[];
}

/** Shows a change at once, and what was there before when it fails. Throws what `work` throws. */
export async function optimistic<Data>({ path, change, work, also = [] }: Change<Data>): Promise<void> {
  // Whatever the parameters are: the key of a query goes on with them.
  const queries = { queryKey: ["get", path] };
  await cache.cancelQueries(queries);
  const before = cache.getQueriesData<Data>(queries);
  cache.setQueriesData<Data>(queries, (data) => data && change(data));
  try {
    await work();
  } catch (failure) {
    for (const [key, data] of before) cache.setQueryData(key, data);
    throw failure;
  } finally {
    void refresh(path, ...also);
  }
}
