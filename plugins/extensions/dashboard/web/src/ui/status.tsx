/** Marks of state: a dot with a word, never a colour alone. */
import { Box, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";

export type Tone = "good" | "warn" | "bad" | "idle" | "busy";

const COLORS: Record<Tone, string> = {
  good: "var(--good)",
  warn: "var(--warn)",
  bad: "var(--bad)",
  idle: "var(--series-other)",
  busy: "var(--mantine-primary-color-filled)",
};

interface Props {
  tone: Tone;
  children?: ReactNode;
  /** Text for a dot that stands alone. */
  label?: string;
}

export function StatusDot({ tone, children, label }: Props) {
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex">
      <Box
        w={7}
        h={7}
        bg={COLORS[tone]}
        style={{ borderRadius: "50%", flex: "none" }}
        role={label ? "img" : undefined}
        aria-label={label}
      />
      {children !== undefined && (
        <Text span inherit>
          {children}
        </Text>
      )}
    </Group>
  );
}
