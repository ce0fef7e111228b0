import { Group, Text } from "@mantine/core";

import { texts } from "~/texts";

/** The product's mark and name. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <Group gap={8} wrap="nowrap">
      <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden>
        <rect width="32" height="32" rx="8" fill="var(--mantine-color-iris-6)" />
        <path
          d="M7 10h5c4 0 4 12 8 12h5M7 22h5c1.4 0 2.300-1.500 3-3.300M17 13.300C17.700 11.500 18.600 10 20 10h5"
          fill="none"
          stroke="#fff"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <Text fw={600} size="md" style={{ whiteSpace: "nowrap" }}>
        {texts.common.product}
      </Text>
    </Group>
  );
}
