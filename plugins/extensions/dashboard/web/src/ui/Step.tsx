import { ActionIcon } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  label: string;
  /** There is nowhere further to go. */
  isLast: boolean;
  onClick: () => void;
  size?: "xs" | "sm";
  children: ReactNode;
}

/** A button that moves something on. At the end it keeps the focus, which a disabled one would lose. */
export function Step({ label, isLast, onClick, size = "sm", children }: Props) {
  return (
    <ActionIcon size={size} aria-label={label} aria-disabled={isLast} data-disabled={isLast || undefined} onClick={isLast ? undefined : onClick}>
      {children}
    </ActionIcon>
  );
}
