import { Card, Group, Skeleton, Text, Tooltip } from "@mantine/core";
import { IconArrowDownRight, IconArrowUpRight } from "@tabler/icons-react";
import type { ReactNode } from "react";

import { percent } from "~/format/numbers";
import { Sparkline } from "./Sparkline";
import classes from "./StatCard.module.css";

interface Props {
  label: string;
  value: string | undefined;
  /** Below the value, such as a second figure. */
  hint?: ReactNode;
  /** The figure now and in the period before. */
  change?: readonly [now: number | null, before: number | null];
  /** Whether more is better, worse, or neither. */
  more?: "good" | "bad" | "neutral";
  /** What the change is compared with, on hover. */
  comparedWith?: string;
  points?: readonly (number | null)[];
  color?: string;
}

/** One figure with its change and course. */
export function StatCard({ label, value, hint, change, more = "neutral", comparedWith, points, color }: Props) {
  return (
    <Card p="sm" className={classes.card} role="group" aria-label={label}>
      <Text size="xs" c="dimmed" fw={500}>
        {label}
      </Text>
      {value === undefined ? (
        <Skeleton h={28} w={96} mt={4} />
      ) : (
        <Group gap={8} align="baseline" wrap="nowrap" mt={2}>
          <Text className={classes.value}>{value}</Text>
          {change && <Change change={change} more={more} comparedWith={comparedWith} />}
        </Group>
      )}
      <Text size="xs" c="dimmed" component="div" mih={points && 32}>
        {hint}
      </Text>
      {points && (
        <div className={classes.course}>
          <Sparkline points={points} color={color} />
        </div>
      )}
    </Card>
  );
}

function Change({ change: [now, before], more, comparedWith }: Pick<Required<Props>, "change" | "more"> & Pick<Props, "comparedWith">) {
  if (now === null || before === null || before === 0) return null;
  const share = (now - before) / before;
  if (Math.abs(share) < 0.005) return null;
  const isGood = more === "neutral" ? null : share > 0 === (more === "good");
  const color = isGood === null ? "dimmed" : isGood ? "var(--good)" : "var(--bad)";
  const Arrow = share > 0 ? IconArrowUpRight : IconArrowDownRight;
  return (
    <Tooltip label={comparedWith} disabled={!comparedWith}>
      <Group gap={1} c={color} wrap="nowrap" className="tabular">
        <Arrow size={13} aria-label={share > 0 ? "up" : "down"} />
        <Text size="xs" fw={500} span>
          {percent(Math.abs(share))}
        </Text>
      </Group>
    </Tooltip>
  );
}
