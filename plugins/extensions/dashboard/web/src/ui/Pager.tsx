import { ActionIcon, Group, Text } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";

import { count } from "~/format/numbers";
import { texts } from "~/texts";

const files = texts.files;

interface Props {
  /** From 1. */
  page: number;
  size: number;
  total: number;
  onChange: (page: number) => void;
}

/** The part of a list that is shown, and the ways to its neighbours. Nothing where all of it is. */
export function Pager({ page, size, total, onChange }: Props) {
  if (total <= size && page === 1) return null;
  const first = (page - 1) * size + 1;
  const last = Math.min(page * size, total);
  return (
    <Group justify="flex-end" gap={4} px="md" py={8}>
      <Text size="xs" c="dimmed" className="tabular" aria-live="polite">
        {files.page(count(Math.min(first, total)), count(last), count(total))}
      </Text>
      <ActionIcon aria-label={files.previous} disabled={page === 1} onClick={() => onChange(page - 1)}>
        <IconChevronLeft size={16} />
      </ActionIcon>
      <ActionIcon aria-label={files.next} disabled={last >= total} onClick={() => onChange(page + 1)}>
        <IconChevronRight size={16} />
      </ActionIcon>
    </Group>
  );
}

/** A page from the address: what is no page is the first one. */
export function pageOf(text: string): number {
  const page = Number.parseInt(text, 10);
  return page > 0 ? page : 1;
}
