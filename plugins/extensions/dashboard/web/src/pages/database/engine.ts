/** The state of the database, which needs the password, and what a change of it is at. */
import { useQuery } from "@tanstack/react-query";

import { api, type Shape } from "~/api/client";
import { PASSWORD_HEADER } from "~/session/PasswordGate";
import { texts } from "~/texts";

const { move } = texts.database;
const PATH = "/api/settings/database/engine";
const SOON_MS = 700;
const LATER_MS = 15_000;

export type Engine = Shape<"EngineStatus">;

export function useEngine(password: string, isChanging: boolean) {
  return useQuery({
    // The password stays out of the key, by which answers are kept.
    queryKey: ["get", PATH],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET(PATH, { headers: { [PASSWORD_HEADER]: password }, signal });
      return data!;
    },
    refetchInterval: ({ state: { data } }) => (isChanging || data?.progress ? SOON_MS : LATER_MS),
  });
}

export interface Step {
  label: string;
  /** Percent, as far as it is known. */
  value: number;
}

const ORDER = ["probe", "migrations", "snapshot", "copy", "switch"] as const;
/** Most of the time goes into the copy. */
const BEFORE_COPY = 15;
const COPY = 80;

/** What a change under way is at. */
export function stepOf(progress: Engine["progress"]): Step | null {
  const step = progress?.step;
  if (typeof step !== "string") return null;
  const label = (move.steps as Record<string, string>)[step] ?? step;
  if (step === "copy") {
    const { table, tablesDone, tables } = progress as Record<string, unknown>;
    const [done, all] = [Number(tablesDone ?? 0), Math.max(1, Number(tables ?? 1))];
    const text = typeof table === "string" ? move.copying(table, String(done), String(all)) : label;
    return { label: text, value: BEFORE_COPY + (done / all) * COPY };
  }
  if (step === "switch") return { label, value: 97 };
  if (step === "check") return { label, value: 20 };
  if (step === "restore") return { label, value: 60 };
  return { label, value: ((ORDER.indexOf(step as (typeof ORDER)[number]) + 1) / 3) * BEFORE_COPY };
}
