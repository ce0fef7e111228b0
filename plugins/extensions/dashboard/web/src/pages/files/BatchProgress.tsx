import { Box, Group, Progress, Text } from "@mantine/core";

import { count } from "~/format/numbers";
import { texts } from "~/texts";
import { type BatchRow, isOpen, progressOf } from "./batch";

const { batches } = texts.files;

/** A bar of answered and failed requests, and their number. */
export function BatchProgress({ batch, large = false }: { batch: BatchRow; large?: boolean }) {
  const { completed, failed, done } = progressOf(batch);
  const text = batch.total === null ? batches.unknownTotal : batches.progress(count(done), count(batch.total));
  return (
    <Box w="100%" miw={0}>
      <Group gap={8} wrap="nowrap" mb={large ? 6 : 2}>
        <Text span size={large ? "sm" : "xs"} className="tabular" truncate>
          {text}
        </Text>
        {batch.failed > 0 && (
          <Text span size={large ? "sm" : "xs"} c="var(--bad)" className="tabular" style={{ flex: "none" }}>
            {batches.failedRows(count(batch.failed))}
          </Text>
        )}
      </Group>
      <Progress.Root size={large ? "md" : "xs"} transitionDuration={300}>
        <Progress.Section value={completed} color={isOpen(batch) ? "iris" : "var(--good)"} aria-label={text} />
        <Progress.Section value={failed} color="var(--bad)" aria-label={batches.failedRows(count(batch.failed))} />
      </Progress.Root>
    </Box>
  );
}
