/** What a button does, and what went wrong, beside the button. */
import { Text } from "@mantine/core";
import { type ReactNode, useState } from "react";

import { messageOf } from "~/api/client";

/** Runs something; the second value shows why it failed, until it is run again. */
export function useAction(): [(work: () => Promise<unknown>) => Promise<void>, ReactNode] {
  const [error, setError] = useState<unknown>(null);
  async function run(work: () => Promise<unknown>) {
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    }
  }
  return [run, error === null ? null : <Failure error={error} />];
}

export function Failure({ error }: { error: unknown }) {
  return (
    <Text c="var(--bad)" role="alert">
      {messageOf(error)}
    </Text>
  );
}
