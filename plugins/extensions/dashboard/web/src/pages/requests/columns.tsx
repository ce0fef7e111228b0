import { Group, Text, Tooltip } from "@mantine/core";
import { IconRoute } from "@tabler/icons-react";
import { useMemo } from "react";

import { useProviderNames } from "~/api/names";
import { compact, duration, money, NONE } from "~/format/numbers";
import { clock, exact } from "~/format/times";
import { texts } from "~/texts";
import type { Column } from "~/ui/DataTable";
import { StatusDot, type Tone } from "~/ui/status";
import { VendorMark } from "~/ui/VendorMark";
import type { HistoryRow } from "./history";

const { columns } = texts.requests;
export const TONES: Record<HistoryRow["status"], Tone> = {
  ok: "good",
  error: "bad",
  client_gone: "idle",
  upstream_cut: "bad",
};

export function useColumns(): Column<HistoryRow>[] {
  const nameOf = useProviderNames();
  return useMemo<Column<HistoryRow>[]>(
    () => [
      {
        id: "time",
        header: columns.time,
        meta: { width: "72px" },
        cell: ({ row }) => (
          <Tooltip label={exact(row.original.timestamp)}>
            <Text span size="xs" c="dimmed" className="tabular">
              {clock(row.original.timestamp)}
            </Text>
          </Tooltip>
        ),
      },
      {
        id: "model",
        header: columns.model,
        meta: { width: "minmax(100px, 2fr)" },
        cell: ({ row: { original } }) => (
          <Group gap={8} wrap="nowrap">
            <StatusDot tone={TONES[original.status]} label={texts.requests.statuses[original.status]} />
            <Text span truncate fw={500}>
              {original.model ?? original.requestedModel ?? NONE}
            </Text>
            {original.comboName && (
              <Tooltip label={`${texts.requests.filters.combo}: ${original.comboName}`}>
                <IconRoute size={14} color="var(--muted)" aria-label={original.comboName} style={{ flex: "none" }} />
              </Tooltip>
            )}
          </Group>
        ),
      },
      {
        id: "provider",
        header: columns.provider,
        meta: { width: "minmax(110px, 1fr)", from: 620 },
        cell: ({ row: { original } }) =>
          original.provider ? (
            <Group gap={6} wrap="nowrap">
              <VendorMark id={original.provider} name={nameOf(original.provider)} size={18} />
              <Text span truncate>
                {nameOf(original.provider)}
              </Text>
            </Group>
          ) : (
            NONE
          ),
      },
      {
        id: "key",
        header: columns.key,
        meta: { width: "minmax(90px, 1fr)", from: 940 },
        cell: ({ row }) => (
          <Text span truncate c="dimmed">
            {row.original.apiKeyMasked === null ? NONE : row.original.keyName}
          </Text>
        ),
      },
      {
        id: "tokens",
        header: columns.tokens,
        meta: { align: "right", width: "104px", from: 500 },
        cell: ({ row: { original } }) => `${compact(original.promptTokens)} → ${compact(original.completionTokens)}`,
      },
      {
        id: "cost",
        header: columns.cost,
        meta: { align: "right", width: "84px", from: 560 },
        cell: ({ row: { original } }) => (original.costKnown ? money(original.cost) : NONE),
      },
      {
        id: "ttft",
        header: columns.ttft,
        meta: { align: "right", width: "76px", from: 1080 },
        cell: ({ row }) => duration(row.original.ttftMs),
      },
      {
        id: "latency",
        header: columns.latency,
        meta: { align: "right", width: "72px" },
        cell: ({ row }) => duration(row.original.latencyMs),
      },
      {
        id: "status",
        header: columns.status,
        meta: { align: "right", width: "minmax(88px, 140px)", from: 700 },
        cell: ({ row: { original } }) => (
          <Text span truncate c={original.status === "ok" ? "dimmed" : TONES[original.status] === "bad" ? "var(--bad)" : undefined}>
            {original.errorCode ?? original.httpStatus ?? texts.requests.statuses[original.status]}
          </Text>
        ),
      },
    ],
    [nameOf],
  );
}
