/** Work other than chat: each a small form, its result, and the equal code. */
import { Alert, Anchor, Box, Button, FileInput, Group, Select, SimpleGrid, Stack, Table, Text, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";

import { messageOf } from "~/api/client";
import { useModels } from "~/api/models";
import { count, duration } from "~/format/numbers";
import { texts } from "~/texts";
import { CodeBlock } from "~/ui/copying";
import { ModelSelect } from "~/ui/ModelSelect";
import { Section } from "~/ui/Section";
import { EmptyState } from "~/ui/states";
import { IconPhotoOff } from "@tabler/icons-react";
import { callEndpoint } from "./call";
import { EqualCode } from "./EqualCode";

const playground = texts.playground;

interface WorkProps {
  kind: string;
  path: string;
  /** Members besides the model; `null` while something is missing. */
  body: Record<string, unknown> | null;
  form: ReactNode;
  /** Sends a form instead of JSON. */
  upload?: (model: string) => FormData;
  show: (response: Response) => Promise<ReactNode>;
}

function Work({ kind, path, body, form, upload, show }: WorkProps) {
  const models = useModels(kind);
  const [chosen, setChosen] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [result, setResult] = useState<ReactNode>(null);
  const [took, setTook] = useState<number | null>(null);
  const model = chosen || (models.data?.[0]?.id ?? "");
  if (models.data?.length === 0)
    return <EmptyState icon={IconPhotoOff} title={playground.noModels} hint={playground.noModelsHint} />;

  async function run() {
    setBusy(true);
    setError(null);
    const begun = performance.now();
    try {
      const response = await callEndpoint(path, upload ? upload(model) : { model, ...body });
      setResult(await show(response));
      setTook(performance.now() - begun);
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
      <Section>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (body !== null) void run();
          }}
        >
          <Stack gap="sm">
            <ModelSelect label={playground.model} kind={kind} value={model} onChange={setChosen} />
            {form}
            <Group>
              <Button type="submit" loading={busy} disabled={body === null || !model}>
                {playground.run}
              </Button>
              {took !== null && (
                <Text size="xs" c="dimmed">
                  {playground.took(duration(took))}
                </Text>
              )}
            </Group>
          </Stack>
        </form>
        {error && (
          <Alert color="red" variant="light" mt="sm" role="alert">
            {error}
          </Alert>
        )}
        {result && <Box mt="md">{result}</Box>}
      </Section>
      <Section title={playground.code}>
        <EqualCode path={path} body={{ model, ...body }} />
      </Section>
    </SimpleGrid>
  );
}

export function ImagesMode() {
  const [prompt, setPrompt] = useState("");
  const [size, setSize] = useState("1024x1024");
  return (
    <Work
      kind="image"
      path="/v1/images/generations"
      body={prompt.trim() ? { prompt, size, response_format: "b64_json" } : null}
      form={
        <>
          <Textarea label={playground.prompt} value={prompt} onChange={(event) => setPrompt(event.currentTarget.value)} autosize minRows={3} />
          <Select label={playground.size} data={["1024x1024", "1024x1536", "1536x1024", "512x512"]} value={size} onChange={(value) => value && setSize(value)} />
        </>
      }
      show={async (response) => {
        const { data } = (await response.json()) as { data: { b64_json?: string; url?: string }[] };
        return (
          <Stack>
            {data.map(({ b64_json: content, url }, place) =>
              content ? (
                <img key={place} src={`data:image/png;base64,${content}`} alt={prompt} style={{ maxWidth: "100%" }} />
              ) : (
                <CodeBlock key={place} code={url ?? ""} />
              ),
            )}
          </Stack>
        );
      }}
    />
  );
}

export function SpeechMode() {
  const [input, setInput] = useState("");
  const [voice, setVoice] = useState("alloy");
  return (
    <Work
      kind="tts"
      path="/v1/audio/speech"
      body={input.trim() ? { input, voice } : null}
      form={
        <>
          <Textarea label={playground.text} value={input} onChange={(event) => setInput(event.currentTarget.value)} autosize minRows={3} />
          <TextInput label={playground.voice} value={voice} onChange={(event) => setVoice(event.currentTarget.value)} />
        </>
      }
      show={async (response) => <Sound blob={await response.blob()} />}
    />
  );
}

function Sound({ blob }: { blob: Blob }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  // The text that is spoken stands in the form beside it.
  return <audio controls src={url} style={{ width: "100%" }} />;
}

export function TranscriptionMode() {
  const [file, setFile] = useState<File | null>(null);
  return (
    <Work
      kind="stt"
      path="/v1/audio/transcriptions"
      body={file ? { file: file.name } : null}
      upload={(model) => {
        const form = new FormData();
        form.set("model", model);
        form.set("file", file!);
        return form;
      }}
      form={<FileInput label={playground.file} accept="audio/*,video/*" value={file} onChange={setFile} clearable />}
      show={async (response) => {
        const { text } = (await response.json()) as { text: string };
        return <Text style={{ whiteSpace: "pre-wrap" }}>{text}</Text>;
      }}
    />
  );
}

export function EmbeddingsMode() {
  const [text, setText] = useState("");
  const input = text.split("\n").filter((line) => line.trim());
  return (
    <Work
      kind="embedding"
      path="/v1/embeddings"
      body={input.length > 0 ? { input } : null}
      form={<Textarea label={playground.text} description={playground.lines} value={text} onChange={(event) => setText(event.currentTarget.value)} autosize minRows={4} />}
      show={async (response) => {
        const { data } = (await response.json()) as { data: { embedding: number[] }[] };
        return <Vectors texts={input} vectors={data.map(({ embedding }) => embedding)} />;
      }}
    />
  );
}

function Vectors({ texts: lines, vectors }: { texts: readonly string[]; vectors: readonly number[][] }) {
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {playground.dimensions(count(vectors[0]?.length))} · {playground.similarity}
      </Text>
      <Table.ScrollContainer minWidth={200}>
        <Table>
          <Table.Tbody>
            {vectors.map((vector, row) => (
              <Table.Tr key={row}>
                <Table.Td maw={160}>
                  <Text truncate>{lines[row]}</Text>
                </Table.Td>
                {vectors.map((other, column) => (
                  <Table.Td key={column} ta="right">
                    {cosine(vector, other).toFixed(3)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

export function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, place) => sum + value * (y[place] ?? 0), 0);
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  return length === 0 ? 0 : dot(a, b) / length;
}

export function SearchMode() {
  const [query, setQuery] = useState("");
  return (
    <Work
      kind="search"
      path="/v1/search"
      body={query.trim() ? { query } : null}
      form={<TextInput label={playground.query} value={query} onChange={(event) => setQuery(event.currentTarget.value)} />}
      show={async (response) => <Found {...((await response.json()) as FoundPages)} />}
    />
  );
}

interface FoundPages {
  results?: readonly { title?: string | null; url?: string | null; snippet?: string | null }[];
  answer?: { text?: string | null } | null;
}

function Found({ results = [], answer }: FoundPages) {
  return (
    <Stack gap="sm">
      {answer?.text && <Text style={{ whiteSpace: "pre-wrap" }}>{answer.text}</Text>}
      {results.length === 0 && <Text c="dimmed">{playground.nothingFound}</Text>}
      <Stack gap="sm" component="ol" m={0} pl="md" aria-label={playground.found}>
        {results.map(({ title, url, snippet }, place) => (
          <li key={place}>
            {isWeb(url) ? (
              <Anchor href={url} target="_blank" rel="noreferrer" fw={500}>
                {title || url}
              </Anchor>
            ) : (
              <Text fw={500}>{title}</Text>
            )}
            <Text size="xs" c="dimmed" truncate>
              {url}
            </Text>
            {snippet && <Text>{snippet}</Text>}
          </li>
        ))}
      </Stack>
    </Stack>
  );
}

/** Whether an address that a vendor gives may be a link. */
function isWeb(url: string | null | undefined): url is string {
  return /^https?:/.test(url ?? "");
}
