import { Box, Drawer, Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

import { useFocusBack } from "./focus";

interface Props {
  opened: boolean;
  onClose: () => void;
  title: ReactNode;
  about?: ReactNode;
  /** Buttons below the title. */
  actions?: ReactNode;
  /** Pixels; a phone's whole width. */
  width?: number;
  children: ReactNode;
}

/** A sheet at the right with the details of a row. Which row is a matter of the address. */
export function SideSheet({ opened, onClose, title, about, actions, width = 640, children }: Props) {
  useFocusBack();
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      size={`min(100vw, ${width}px)`}
      title={
        <Box miw={0}>
          <Title order={2}>{title}</Title>
          {about && (
            <Text c="dimmed" size="xs" component="div">
              {about}
            </Text>
          )}
        </Box>
      }
    >
      {actions && (
        <Group gap="xs" mb="md">
          {actions}
        </Group>
      )}
      {children}
    </Drawer>
  );
}
