/** One batch: how far it is, what went wrong, its files, and the ways to end it. */
import { Alert, Button, Code, Group, Stack, Text } from "@mantine/core";
import { IconDownload, IconFileOff, IconPlayerStop, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";

import { refresh } from "~/api/cache";
import { api, ApiError, query, type Shape } from "~/api/client";
import { count } from "~/format/numbers";
import { exact } from "~/format/times";
import { texts } from "~/texts";
import { confirm, notifyDone } from "~/ui/confirm";
import { CopyButton } from "~/ui/copying";
import { Facts } from "~/ui/Facts";
import { SideSheet } from "~/ui/SideSheet";
import { EmptyState, Loaded } from "~/ui/states";
import { StatusDot } from "~/ui/status";
import { canCancel, isOpen, TONES } from "./batch";
import { BatchProgress } from "./BatchProgress";
import { contentOf } from "./Files";
import { nameOf } from "./owners";

const { batches } = texts.files;
const EVERY_MS = 1000;
const NOT_THERE = 404;
type Detail = Shape<"BatchDetail">;

export function BatchSheet({ id, onClose }: { id: string; onClose: () => void }) {
  const found = query.useQuery(
    "get",
    "/api/batches/{id}",
    { params: { path: { id } } },
    { enabled: id !== "", refetchInterval: ({ state: { data } }) => (data && isOpen(data) ? EVERY_MS : false) },
  );
  const isGone = found.error !== null && (found.error as unknown) instanceof ApiError && (found.error as unknown as ApiError).status === NOT_THERE;
  return (
    <SideSheet
      opened={id !== ""}
      onClose={onClose}
      title={found.data ? <StatusDot tone={TONES[found.data.status]}>{batches.states[found.data.status]}</StatusDot> : batches.columns.batch}
      about={id}
    >
      {isGone ? (
        <EmptyState icon={IconFileOff} title={batches.gone} hint={batches.goneHint} />
      ) : (
        id && <Loaded of={found} lines={10}>{(batch) => <Batch batch={batch} onGone={onClose} />}</Loaded>
      )}
    </SideSheet>
  );
}

function Batch({ batch, onGone }: { batch: Detail; onGone: () => void }) {
  const waiting = batch.total === null ? null : batch.total - batch.completed - batch.failed - batch.underWay;
  const metadata = Object.entries(batch.metadata);
  return (
    <Stack gap="lg">
      <BatchProgress batch={batch} large />
      <Group gap="xs">
        {canCancel(batch) && (
          <Button variant="default" leftSection={<IconPlayerStop size={14} />} onClick={() => askToCancel(batch)}>
            {batches.cancel}
          </Button>
        )}
        {!isOpen(batch) && (
          <Button variant="default" leftSection={<IconTrash size={14} />} onClick={() => askToDelete(batch, onGone)}>
            {batches.delete}
          </Button>
        )}
      </Group>
      {batch.errors.length > 0 && (
        <Alert color="red" variant="light" title={batches.errors}>
          <Stack gap={4}>
            {batch.errors.map(({ message, line }, place) => (
              <Text key={place}>
                {line != null && <Text span fw={600}>{batches.line(line)}: </Text>}
                {message}
              </Text>
            ))}
          </Stack>
        </Alert>
      )}
      <Part title={batches.requests}>
        <Facts
          rows={[
            [batches.total, count(batch.total)],
            [batches.completed, count(batch.completed)],
            [batches.failed, count(batch.failed)],
            [batches.underWay, isOpen(batch) && count(batch.underWay)],
            [batches.waiting, isOpen(batch) && count(waiting)],
          ]}
        />
      </Part>
      <Downloads batch={batch} />
      <Part title={batches.columns.batch}>
        <Facts
          rows={[
            [batches.columns.owner, nameOf(batch)],
            [batches.endpoint, batch.endpoint],
            [batches.created, exact(batch.createdAt)],
            [batches.started, batch.startedAt && exact(batch.startedAt)],
            [batches.ended, batch.endedAt && exact(batch.endedAt)],
            [batches.expires, batch.endedAt === null && exact(batch.expiresAt)],
            [
              batches.id,
              <Group key="id" gap={4} wrap="nowrap">
                <Text span ff="monospace" size="xs">{batch.id}</Text>
                <CopyButton value={batch.id} />
              </Group>,
            ],
          ]}
        />
      </Part>
      {metadata.length > 0 && (
        <Part title={batches.metadata}>
          <Facts rows={metadata.map(([name, value]) => [name, <Code key={name}>{typeof value === "string" ? value : JSON.stringify(value)}</Code>] as const)} />
        </Part>
      )}
    </Stack>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <Text component="h3" fw={600} mb={4}>
        {title}
      </Text>
      {children}
    </section>
  );
}

/** Its input and results, as far as they are there. An input may have been deleted by its owner. */
function Downloads({ batch }: { batch: Detail }) {
  const links: (readonly [string, string])[] = [];
  if (batch.inputFileId && batch.surface === "completions") links.push([batches.input, contentOf(batch.inputFileId)]);
  if (batch.outputFileId) links.push([batches.output, contentOf(batch.outputFileId)]);
  if (batch.hasResults) links.push([batches.output, `/api/batches/${encodeURIComponent(batch.id)}/results`]);
  if (batch.errorFileId) links.push([batches.errorFile, contentOf(batch.errorFileId)]);
  if (links.length === 0) return null;
  return (
    <Part title={batches.filesOf}>
      <Group gap="xs">
        {links.map(([label, href]) => (
          <Button key={href} component="a" href={href} download variant="default" leftSection={<IconDownload size={14} />}>
            {label}
          </Button>
        ))}
      </Group>
    </Part>
  );
}

function askToCancel({ id }: Detail): void {
  confirm({
    title: batches.cancel,
    body: batches.cancelBody,
    action: batches.cancel,
    run: async () => {
      await api.POST("/api/batches/{id}/cancel", { params: { path: { id } } });
      await refresh("/api/batches");
      notifyDone(batches.cancelled);
    },
  });
}

function askToDelete({ id, surface }: Detail, onGone: () => void): void {
  confirm({
    title: batches.delete,
    body: surface === "messages" ? batches.deleteBodyMessages : batches.deleteBody,
    action: batches.delete,
    run: async () => {
      await api.DELETE("/api/batches/{id}", { params: { path: { id } } });
      onGone();
      await refresh("/api/batches");
      notifyDone(batches.deleted);
    },
  });
}
