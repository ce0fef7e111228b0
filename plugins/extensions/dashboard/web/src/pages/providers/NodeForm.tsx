import { Alert, Button, Group, PasswordInput, Select, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";

import { refresh } from "~/api/cache";
import { api, messageOf } from "~/api/client";
import { texts } from "~/texts";
import { Segments } from "~/ui/Segments";

const words = texts.providers.nodeForm;
const API_TYPES = ["chat", "responses"].map((value) => ({ value, label: value }));
const TYPES = ["openai-compatible", "anthropic-compatible", "gemini-compatible", "ollama-compatible", "custom-embedding"];

/** An endpoint of one's own that speaks an installed format. */
export function NodeForm({ onDone }: { onDone: () => void }) {
  const form = useForm({
    initialValues: { name: "", prefix: "", type: TYPES[0]!, apiType: "chat", baseUrl: "", key: "" },
  });
  const [busy, setBusy] = useState<"" | "test" | "create">("");
  const [error, setError] = useState<string | null>(null);
  const [valid, setValid] = useState<string | null>(null);
  const { name, prefix, type, apiType, baseUrl, key } = form.values;
  const isOpenAi = type === TYPES[0];

  async function run(what: "test" | "create", work: () => Promise<void>) {
    setBusy(what);
    setError(null);
    setValid(null);
    try {
      await work();
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy("");
    }
  }

  const test = () =>
    run("test", async () => {
      const { data } = await api.POST("/api/provider-nodes/validate", {
        body: { baseUrl, apiKey: key || "none", type, ...(isOpenAi && { apiType }) },
      });
      if (data?.valid) setValid(words.valid(data.method ?? ""));
      else setError(data?.error ?? "");
    });

  const create = () =>
    run("create", async () => {
      const { data } = await api.POST("/api/provider-nodes", {
        body: { name, prefix, type, baseUrl, ...(isOpenAi && { apiType }) },
      });
      if (key && data)
        await api.POST("/api/providers", { body: { provider: data.node.id, name: "main", apiKey: key } });
      await refresh("/api/provider-nodes", "/api/providers", "/api/vendors", "/v1/models", "/api/models");
      onDone();
    });

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <Stack gap="sm">
        <TextInput label={words.name} data-autofocus required maxLength={200} {...form.getInputProps("name")} />
        <TextInput label={words.prefix} description={words.prefixHint} required maxLength={64} {...form.getInputProps("prefix")} />
        <Select label={words.type} data={TYPES} allowDeselect={false} {...form.getInputProps("type")} />
        {isOpenAi && <Segments label={words.apiType} data={API_TYPES} value={apiType} onChange={(value) => form.setFieldValue("apiType", value)} />}
        <TextInput label={words.baseUrl} description={words.baseUrlHint} type="url" required {...form.getInputProps("baseUrl")} />
        <PasswordInput label={words.key} autoComplete="off" {...form.getInputProps("key")} />
        {valid && (
          <Alert color="green" variant="light" p="xs">
            {valid}
          </Alert>
        )}
        {error !== null && (
          <Alert color="red" variant="light" p="xs" role="alert">
            {error}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={test} loading={busy === "test"} disabled={!baseUrl}>
            {words.test}
          </Button>
          <Button type="submit" loading={busy === "create"} disabled={!name || !prefix || !baseUrl}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
