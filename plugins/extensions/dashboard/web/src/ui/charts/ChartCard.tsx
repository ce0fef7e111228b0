import { Center, Skeleton, Text } from "@mantine/core";
import type { ReactNode } from "react";

import { Section } from "../Section";
import { ErrorState } from "../states";
import { HEIGHT } from "./TimeChart";

interface Props {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  /** A query's state: while it loads, the card has its later size. */
  of?: { isPending: boolean; error: unknown; refetch?: () => unknown };
  /** Shown in place of a chart without data. */
  empty?: string | null;
  height?: number;
  children: ReactNode;
}

/** A card with a chart. */
export function ChartCard({ title, about, actions, of, empty, height = HEIGHT, children }: Props) {
  let content = children;
  if (of?.error) content = <ErrorState error={of.error} onRetry={() => of.refetch?.()} />;
  else if (of?.isPending) content = <Skeleton h={height} />;
  else if (empty)
    content = (
      <Center h={height}>
        <Text c="dimmed">{empty}</Text>
      </Center>
    );
  return (
    <Section title={title} about={about} actions={actions}>
      {content}
    </Section>
  );
}
