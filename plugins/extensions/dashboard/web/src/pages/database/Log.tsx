/** What was tried with the database, and how it ended. */
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconHistory } from "@tabler/icons-react";

import { api, type Shape } from "~/api/client";
import { count, duration } from "~/format/numbers";
import { PASSWORD_HEADER } from "~/session/PasswordGate";
import { texts } from "~/texts";
import { type Column, DataTable } from "~/ui/DataTable";
import { RelativeTime } from "~/ui/RelativeTime";
import { Section } from "~/ui/Section";
import { EmptyState, ErrorState } from "~/ui/states";
import { StatusDot } from "~/ui/status";

const { log } = texts.database;
const PATH = "/api/settings/database/log";
type Row = Shape<"StoredRow">;

const COLUMNS: Column<Row>[] = [
  { accessorKey: "at", header: log.columns.at, cell: ({ row: { original } }) => <RelativeTime at={original.at} />, meta: { width: "104px" } },
  { accessorKey: "type", header: log.columns.kind, cell: ({ row: { original } }) => (log.kinds as Record<string, string>)[original.type] ?? original.type },
  {
    accessorKey: "ok",
    header: log.columns.ok,
    cell: ({ row: { original } }) => <StatusDot tone={original.ok ? "good" : "bad"}>{original.ok ? log.ok : log.bad}</StatusDot>,
    meta: { width: "88px" },
  },
  { accessorKey: "durationMs", header: log.columns.took, cell: ({ row: { original } }) => duration(original.durationMs), meta: { width: "80px", align: "right", from: 480 } },
  {
    id: "detail",
    header: log.columns.detail,
    accessorFn: detailOf,
    cell: ({ getValue }) => <Text c="dimmed" truncate title={String(getValue())}>{String(getValue())}</Text>,
    meta: { width: "minmax(0, 2.4fr)", from: 640 },
  },
];

export function Log({ password }: { password: string }) {
  const found = useQuery({
    queryKey: ["get", PATH],
    queryFn: async ({ signal }) => {
      const { data } = await api.GET(PATH, { headers: { [PASSWORD_HEADER]: password }, signal });
      return data!;
    },
  });
  return (
    <Section title={log.title} about={log.about} flush>
      {found.error ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <DataTable
          label={log.title}
          columns={COLUMNS}
          rows={found.data ?? []}
          rowId={({ id }) => String(id)}
          loading={found.isPending}
          empty={<EmptyState icon={IconHistory} title={log.empty} />}
        />
      )}
    </Section>
  );
}

function detailOf({ errorMessage, rowsMigrated, tablesMigrated }: Row): string {
  if (errorMessage) return errorMessage;
  return rowsMigrated === null ? "" : log.rows(count(rowsMigrated), count(tablesMigrated));
}
