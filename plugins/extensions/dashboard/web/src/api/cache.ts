import { QueryClient } from "@tanstack/react-query";

import { ApiError } from "./client";
import { onTabs, tellTabs } from "./tabs";

const FRESH_MS = 5_000;
const RETRIES = 3;
const FIRST_PAUSE_MS = 300;

/** Answers are shown from memory while they are read again. */
export const cache = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // A gateway on this machine answers without a network too.
      networkMode: "always",
      // A refusal stays one; a gateway that restarts is back in a moment.
      retry: (count, error) => error instanceof ApiError && error.isOffline && count < RETRIES,
      retryDelay: (count) => FIRST_PAUSE_MS * 2 ** count,
      // Even what was read a moment ago: it may have been changed in another window since.
      refetchOnWindowFocus: "always",
      refetchOnReconnect: true,
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

/** Reads again whatever was read from one of these paths, with any query, in every tab. */
export function refresh(...paths: string[]): Promise<void> {
  tellTabs({ kind: "changed", paths });
  return readAgain(paths);
}

function readAgain(paths: readonly string[]): Promise<void> {
  return cache.invalidateQueries({
    predicate: ({ queryKey }) =>
      typeof queryKey[1] === "string" && paths.some((path) => (queryKey[1] as string).startsWith(path)),
  });
}

onTabs((notice) => {
  if (notice.kind === "changed") void readAgain(notice.paths);
});
