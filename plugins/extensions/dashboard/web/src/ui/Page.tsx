import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

import { texts } from "~/texts";
import classes from "./Page.module.css";

interface Props {
  title: string;
  /** One line below the title. */
  about?: ReactNode;
  /** Buttons at the right of the title. */
  actions?: ReactNode;
  /** Filters below the title; they stay in sight while the page scrolls. */
  filters?: ReactNode;
  /** Reading width instead of the whole one. */
  narrow?: boolean;
  children: ReactNode;
}

/** The frame of every page: title, actions, filters, content. */
export function Page({ title, about, actions, filters, narrow, children }: Props) {
  useEffect(() => {
    document.title = `${title} · ${texts.common.product}`;
  }, [title]);
  return (
    <Box className={classes.page} data-narrow={narrow || undefined}>
      <Group justify="space-between" align="flex-start" gap="sm" wrap="wrap">
        <Box miw={0}>
          <Title order={1}>{title}</Title>
          {about && (
            <Text c="dimmed" mt={2}>
              {about}
            </Text>
          )}
        </Box>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {filters && <Box className={classes.filters}>{filters}</Box>}
      <Stack gap="md" mt="md">
        {children}
      </Stack>
    </Box>
  );
}
