/** Adding an account, or changing one: fields come from the vendor's own schema. */
import { Alert, Anchor, Autocomplete, Button, Collapse, Group, NumberInput, PasswordInput, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconCheck, IconExternalLink } from "@tabler/icons-react";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf, query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import type { Property } from "~/ui/SchemaField";
import { faultOf } from "~/ui/schema";
import type { Vendor } from "./Gallery";
import { OAuthLogin } from "./OAuthLogin";
import { WebLogin } from "./WebLogin";

const providers = texts.providers;
const { form: words } = providers;
export type Connection = Shape<"ConnectionShape"> & {
  lastError?: string | null;
  defaultModel?: string | null;
  connectionProxyUrl?: string | null;
  connectionNoProxy?: string | null;
  proxyPoolId?: string | null;
};

/** A value that the gateway refuses, with the member that has it. */
const REFUSED = /^Invalid (\w+)$/;
const PROXY = /^(https?|socks5h?):\/\/[^\s/]/i;

interface Props {
  vendor: Pick<Vendor, "id" | "name" | "authType" | "keysUrl" | "docsUrl" | "variables" | "accountSchema" | "hasWebLogin" | "loginFlows">;
  /** The account to change; none for a new one. */
  account?: Connection;
  /** A name that is not taken. */
  usualName?: string;
  onDone: (account: Connection) => void;
}

type Values = Record<"name" | "apiKey" | "defaultModel" | "proxyUrl" | "noProxy" | "pool", string> & {
  priority: number | string;
  data: Record<string, string>;
};

export function AccountForm({ vendor, account, usualName = "main", onDone }: Props) {
  const fields = Object.entries((vendor.accountSchema.properties ?? {}) as Record<string, Property>);
  const needed = neededOf(vendor.accountSchema);
  const pools = query.useQuery("get", "/api/proxy-pools");
  const [isMore, setMore] = useState(false);
  const [busy, setBusy] = useState<"" | "test" | "save">("");
  const [error, setError] = useState<string | null>(null);
  const [isValid, setValid] = useState(false);
  const form = useForm<Values>({
    initialValues: {
      name: account?.name ?? usualName,
      apiKey: "",
      defaultModel: account?.defaultModel ?? "",
      proxyUrl: account?.connectionProxyUrl ?? "",
      noProxy: account?.connectionNoProxy ?? "",
      pool: account?.proxyPoolId ?? "",
      priority: account?.priority ?? "",
      data: Object.fromEntries(fields.map(([name]) => [name, textOf(account?.providerSpecificData?.[name])])),
    },
    onValuesChange: () => setValid(false),
    validateInputOnBlur: true,
    validate: (entered) => ({
      ...Object.fromEntries(fields.map(([name, field]) => [`data.${name}`, faultOf(field, entered.data[name] ?? "")])),
      proxyUrl: entered.proxyUrl.trim() === "" || PROXY.test(entered.proxyUrl.trim()) ? null : words.proxyFault,
    }),
  });
  const { values } = form;
  const hasKey = vendor.authType !== "none";
  const isKeyNeeded = hasKey && vendor.authType !== "optional" && !account;
  const isReady =
    values.name.trim() !== "" &&
    (!isKeyNeeded || values.apiKey.trim() !== "") &&
    (needed.every((name) => values.data[name]) || Boolean(values.data.baseUrl));
  const main = fields.filter(([name]) => needed.includes(name));
  const further = fields.filter(([name]) => !needed.includes(name));

  async function run(what: "test" | "save", work: () => Promise<void>) {
    setBusy(what);
    setError(null);
    try {
      await work();
    } catch (failure) {
      const message = messageOf(failure);
      const member = REFUSED.exec(message)?.[1];
      if (fields.some(([name]) => name === member)) {
        form.setFieldError(`data.${member}`, texts.common.faults.refused);
        setMore(true);
      } else setError(message);
    } finally {
      setBusy("");
    }
  }

  /** Whether all that was entered may be sent; what may not is shown at its field. */
  function isSound(): boolean {
    const { hasErrors } = form.validate();
    if (hasErrors) setMore(true);
    return !hasErrors;
  }

  const test = () =>
    run("test", async () => {
      const data = dataOf(values.data);
      const { data: found } = await api.POST("/api/providers/validate", {
        body: {
          provider: vendor.id,
          apiKey: values.apiKey.trim() || null,
          baseUrl: values.data.baseUrl || null,
          providerSpecificData: data,
        },
      });
      setValid(found?.valid ?? false);
      if (found && !found.valid) setError(words.invalid(found.error ?? ""));
    });

  const save = () =>
    run("save", async () => {
      const body = {
        name: values.name.trim(),
        ...(values.apiKey.trim() && { apiKey: values.apiKey.trim() }),
        ...(values.priority !== "" && { priority: Number(values.priority) }),
        providerSpecificData: dataOf(values.data, account !== undefined),
        defaultModel: values.defaultModel || null,
        connectionProxyUrl: values.proxyUrl.trim() || null,
        connectionProxyEnabled: values.proxyUrl.trim() !== "",
        connectionNoProxy: values.noProxy || null,
        proxyPoolId: values.pool || null,
      };
      const answer = account
        ? await api.PATCH("/api/providers/{id}", { params: { path: { id: account.id } }, body })
        : await api.POST("/api/providers", { body: { ...body, provider: vendor.id } });
      const saved = answer.data!.connection as Connection;
      // The account is there; what its test says is shown with it.
      if (hasKey) await api.POST("/api/providers/{id}/test", { params: { path: { id: saved.id } } }).catch(() => {});
      await refresh("/api/providers", "/api/vendors", "/v1/models", "/api/health", "/api/models");
      onDone(saved);
    });

  const input = (name: string, field: Property) => {
    const examples = field.examples?.map(String);
    const common = {
      label: field.title ?? name,
      description: field.description,
      placeholder: field.default == null ? examples?.[0] : String(field.default),
      withAsterisk: needed.includes(name),
      ...form.getInputProps(`data.${name}`),
    };
    if (Array.isArray(field.type)) return <Textarea key={name} {...common} autosize minRows={3} maxRows={8} />;
    if (field.writeOnly) return <PasswordInput key={name} {...common} autoComplete="off" />;
    if (examples?.length) return <Autocomplete key={name} {...common} data={examples} />;
    return <TextInput key={name} {...common} />;
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && isSound()) void save();
      }}
    >
      <Stack gap="sm">
        {vendor.loginFlows.length > 0 && (
          <OAuthLogin vendor={vendor} name={values.name} data={dataOf(values.data)} account={account} onDone={onDone} />
        )}
        {vendor.hasWebLogin && <WebLogin vendor={vendor} name={values.name} account={account} onDone={onDone} />}
        {hasKey && (
          <PasswordInput
            label={
              <Group gap="xs" component="span" display="inline-flex">
                {vendor.authType === "cookie" ? words.cookie : words.key}
                {(vendor.keysUrl ?? vendor.docsUrl) && (
                  <Anchor href={vendor.keysUrl ?? vendor.docsUrl ?? undefined} target="_blank" rel="noreferrer" size="xs" fw={400}>
                    {vendor.keysUrl ? words.keyLink : words.docsLink} <IconExternalLink size={11} />
                  </Anchor>
                )}
              </Group>
            }
            description={vendor.authType === "cookie" ? words.cookieHint : undefined}
            placeholder={account ? words.keyStored : vendor.authType === "optional" ? words.optional : undefined}
            autoComplete="off"
            data-autofocus
            {...form.getInputProps("apiKey")}
          />
        )}
        {main.map(([name, field]) => input(name, field))}
        <TextInput label={words.name} description={words.nameHint} maxLength={200} {...form.getInputProps("name")} />
        <Group gap="xs">
          <Anchor component="button" type="button" size="xs" onClick={() => setMore((before) => !before)} aria-expanded={isMore}>
            {words.more}
          </Anchor>
        </Group>
        <Collapse expanded={isMore}>
          <Stack gap="sm">
            {further.map(([name, field]) => input(name, field))}
            <TextInput label={words.proxy} description={words.proxyHint} placeholder="socks5://127.0.0.1:1080" {...form.getInputProps("proxyUrl")} />
            <TextInput label={words.noProxy} description={words.noProxyHint} {...form.getInputProps("noProxy")} />
            {(pools.data?.proxyPools.length ?? 0) > 0 && (
              <Select
                label={words.pool}
                clearable
                description={words.poolHint}
                data={pools.data?.proxyPools.map((pool) => ({ value: pool.id, label: pool.name }))}
                {...form.getInputProps("pool")}
              />
            )}
            <TextInput label={words.defaultModel} {...form.getInputProps("defaultModel")} />
            <NumberInput label={words.priority} description={words.priorityHint} min={1} allowDecimal={false} {...form.getInputProps("priority")} />
          </Stack>
        </Collapse>
        {vendor.variables.length > 0 && !account && (
          <Text size="xs" c="dimmed">
            {words.variables(vendor.variables.join(", "))}
          </Text>
        )}
        {isValid && (
          <Alert color="green" variant="light" p="xs" icon={<IconCheck size={16} />}>
            {words.valid}
          </Alert>
        )}
        {error && (
          <Alert color="red" variant="light" p="xs" role="alert">
            {error}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          {hasKey && (
            <Button variant="default" onClick={() => isSound() && void test()} loading={busy === "test"} disabled={!values.apiKey.trim()}>
              {words.testFirst}
            </Button>
          )}
          <Button type="submit" loading={busy === "save"} disabled={!isReady}>
            {hasKey ? words.saveAndTest : words.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** The members that an account needs, of the schema's first alternative. */
export function neededOf(schema: Record<string, unknown>): string[] {
  const [first] = (schema.anyOf ?? []) as { required?: string[] }[];
  return first?.required ?? [];
}

/** What is empty is left out, or removed where it was stored. */
export function dataOf(fields: Record<string, string>, isChange = false): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([, value]) => value !== "" || isChange)
      .map(([name, value]) => [name, value === "" ? null : value]),
  );
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
