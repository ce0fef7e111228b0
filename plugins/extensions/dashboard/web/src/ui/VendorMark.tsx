import { Box } from "@mantine/core";

import classes from "./VendorMark.module.css";

interface Props {
  id: string;
  name?: string;
  size?: number;
}

/** A vendor's mark: its letters on a colour of its own, made of its id. */
export function VendorMark({ id, name = id, size = 24 }: Props) {
  return (
    <Box
      className={classes.mark}
      w={size}
      h={size}
      fz={Math.round(size * 0.42)}
      style={{ "--hue": String(hue(id)) }}
      aria-hidden
    >
      {letters(name)}
    </Box>
  );
}

export function letters(name: string): string {
  const words = name.split(/[\s\-_.]+/).filter(Boolean);
  const [first = "?", second] = words;
  return (second ? first.charAt(0) + second.charAt(0) : first.slice(0, 2)).toUpperCase();
}

/** Degrees; names that are alike get colours that are not. */
export function hue(id: string): number {
  let value = 7;
  for (const letter of id) value = (value * 31 + letter.charCodeAt(0)) % 9973;
  return (value * 47) % 360;
}
