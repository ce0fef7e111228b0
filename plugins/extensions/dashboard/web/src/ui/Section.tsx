import { Box, Card, type CardProps, Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props extends Omit<CardProps, "title"> {
  /** What a link in the page leads to. */
  id?: string;
  title?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** The content reaches the card's edges, as a table does. */
  flush?: boolean;
}

/** A card with a heading. */
export function Section({ title, about, actions, flush, children, ...card }: Props) {
  return (
    <Card component="section" {...card} p={flush ? 0 : (card.p ?? "md")}>
      {(title || actions) && (
        <Group justify="space-between" align="flex-start" gap="xs" wrap="nowrap" mb={flush ? 0 : "sm"} p={flush ? "12px 16px" : 0}>
          <Box miw={0} flex={1}>
            {title && <Title order={3}>{title}</Title>}
            {about && (
              <Text size="xs" c="dimmed">
                {about}
              </Text>
            )}
          </Box>
          {actions && <Group gap={4} justify="flex-end">{actions}</Group>}
        </Group>
      )}
      {children}
    </Card>
  );
}
