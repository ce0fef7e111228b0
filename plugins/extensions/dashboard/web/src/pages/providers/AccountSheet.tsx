import { Alert, Button, Code, Group, Stack, Tabs, Text } from "@mantine/core";
import { IconTestPipe } from "@tabler/icons-react";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query, type Shape } from "~/api/client";
import { useProviderNames } from "~/api/names";
import { compact, duration } from "~/format/numbers";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { type Column, DataTable } from "~/ui/DataTable";
import { Facts } from "~/ui/Facts";
import { RelativeTime } from "~/ui/RelativeTime";
import { SideSheet } from "~/ui/SideSheet";
import { Loaded } from "~/ui/states";
import { AccountForm, type Connection } from "./AccountForm";
import { AccountState, useRests } from "./Accounts";
import { endCooldown } from "./changes";

const providers = texts.providers;
const { sheet } = providers;

export function AccountSheet({ account, onClose }: { account: Connection | undefined; onClose: () => void }) {
  const nameOf = useProviderNames();
  const rests = useRests();
  const rest = account && rests.get(account.id);
  return (
    <SideSheet
      opened={account !== undefined}
      onClose={onClose}
      width={560}
      title={account && `${nameOf(account.provider)} · ${account.name ?? account.id}`}
      about={account && <AccountState account={account} rest={rest} />}
    >
      {account && (
        <Stack>
          <TestBar account={account} isResting={rest !== undefined} />
          <Tabs defaultValue="edit">
            <Tabs.List mb="md">
              <Tabs.Tab value="edit">{sheet.edit}</Tabs.Tab>
              {account.canDiscoverModels && <Tabs.Tab value="models">{sheet.models}</Tabs.Tab>}
            </Tabs.List>
            <Tabs.Panel value="edit">
              <Edit key={account.id} account={account} />
            </Tabs.Panel>
            <Tabs.Panel value="models">
              <Models account={account} />
            </Tabs.Panel>
          </Tabs>
          <Facts
            rows={[
              [sheet.lastError, account.lastError],
              [sheet.type, account.authType],
              [sheet.quota, <Quota key="quota" account={account} />],
              [sheet.created, <RelativeTime key="at" at={account.createdAt} />],
              [sheet.id, <Code key="id">{account.id}</Code>],
            ]}
          />
        </Stack>
      )}
    </SideSheet>
  );
}

function TestBar({ account, isResting }: { account: Connection; isResting: boolean }) {
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Shape<"ConnectionTest"> | null>(null);
  const [error, setError] = useState<string | null>(null);

  async function test() {
    setBusy(true);
    setError(null);
    try {
      const { data } = await api.POST("/api/providers/{id}/test", { params: { path: { id: account.id } } });
      setResult(data ?? null);
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
      void refresh("/api/providers", "/api/models/availability", "/api/health");
    }
  }

  async function end() {
    setError(null);
    try {
      await endCooldown(account);
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  const why = error ?? (result && !result.valid ? (result.error ?? result.diagnosis.message) : null);
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button variant="default" leftSection={<IconTestPipe size={14} />} loading={busy} onClick={test}>
          {sheet.test}
        </Button>
        {isResting && (
          <Button variant="default" onClick={() => void end()}>
            {providers.clear}
          </Button>
        )}
        {result?.valid && (
          <Text c="var(--good)" role="status">
            {providers.form.valid} · {duration(result.latencyMs)}
          </Text>
        )}
      </Group>
      {why && (
        <Alert color="red" variant="light" p="xs" role="alert">
          {why}
        </Alert>
      )}
    </Stack>
  );
}

function Edit({ account }: { account: Connection }) {
  // Nodes are no vendors; their accounts have a key and an address.
  const vendors = query.useQuery("get", "/api/vendors");
  return (
    <Loaded of={vendors}>
      {({ vendors: all }) => {
        const vendor = all.find((each) => each.id === account.provider) ?? {
          id: account.provider,
          name: account.provider,
          authType: "optional",
          keysUrl: null,
          docsUrl: null,
          variables: [],
          accountSchema: {},
          hasWebLogin: false,
          loginFlows: [],
        };
        return <AccountForm vendor={vendor} account={account} onDone={() => notifyDone(texts.common.saved)} />;
      }}
    </Loaded>
  );
}

function Models({ account }: { account: Connection }) {
  const models = query.useQuery("get", "/api/providers/{id}/models", { params: { path: { id: account.id } } });
  const columns: Column<Shape<"Listed">>[] = [
    { id: "id", header: texts.requests.columns.model, accessorFn: (model) => model.id, meta: { width: "minmax(160px, 3fr)" } },
    {
      id: "context",
      header: texts.requests.columns.tokens,
      accessorFn: (model) => model.contextLength ?? 0,
      cell: ({ row }) => compact(row.original.contextLength),
      meta: { align: "right", width: "80px" },
    },
  ];
  return (
    <Loaded of={models} lines={8}>
      {(data) => <DataTable label={sheet.models} columns={columns} rows={data.models} rowId={(model) => model.id} height={480} />}
    </Loaded>
  );
}

function Quota({ account }: { account: Connection }) {
  const quota = query.useQuery("get", "/api/usage/{connectionId}", { params: { path: { connectionId: account.id } } });
  return <Text c="dimmed">{quota.data?.message ?? (quota.error ? messageOf(quota.error) : texts.common.loading)}</Text>;
}
