/** What is shown in place of content: nothing there yet, an error, or work under way. */
import { Alert, Button, Center, Group, Skeleton, Stack, Text, ThemeIcon } from "@mantine/core";
import { type Icon, IconAlertTriangle } from "@tabler/icons-react";
import type { ReactNode } from "react";

import { ApiError, messageOf } from "~/api/client";
import { texts } from "~/texts";

interface EmptyProps {
  icon: Icon;
  title: string;
  /** What to do next. */
  hint?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon: Symbol, title, hint, action }: EmptyProps) {
  return (
    <Center py={48} px="md">
      <Stack align="center" gap="xs" maw={420} ta="center">
        <ThemeIcon variant="light" color="gray" size={40} radius="md">
          <Symbol size={22} stroke={1.5} />
        </ThemeIcon>
        <Text fw={600}>{title}</Text>
        {hint && (
          <Text c="dimmed" component="div">
            {hint}
          </Text>
        )}
        {action && <Group mt="xs">{action}</Group>}
      </Stack>
    </Center>
  );
}

interface ErrorProps {
  error: unknown;
  title?: string;
  onRetry?: () => void;
}

export function ErrorState({ error, title = texts.common.failed, onRetry }: ErrorProps) {
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text>{messageOf(error)}</Text>
        {requestId && (
          <Text size="xs" c="dimmed" ff="monospace">
            {texts.common.requestId(requestId)}
          </Text>
        )}
        {onRetry && (
          <Button variant="default" onClick={onRetry}>
            {texts.common.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Grey lines where text will be. */
export function Placeholder({ lines = 4 }: { lines?: number }) {
  return (
    <Stack gap="xs" role="status" aria-busy="true" aria-label={texts.common.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} h={14} w={`${95 - ((line * 17) % 40)}%`} />
      ))}
    </Stack>
  );
}

interface LoadedProps<T> {
  of: { data: T | undefined; error: unknown; refetch?: () => unknown };
  lines?: number;
  children: (data: T) => ReactNode;
}

/** What a query has loaded; before that a placeholder, after a failure the error. */
export function Loaded<T>({ of, lines, children }: LoadedProps<T>) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <ErrorState error={of.error} onRetry={() => of.refetch?.()} />;
  return <Placeholder lines={lines} />;
}
