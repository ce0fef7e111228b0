/** Chat with one model or with several side by side. */
import { ActionIcon, Alert, Anchor, Box, Button, Drawer, Group, NumberInput, Stack, Switch, Text, Textarea, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAdjustments, IconCode, IconEraser, IconMessages, IconPhoto, IconPlayerStop, IconPlus, IconRefresh, IconSend, IconX } from "@tabler/icons-react";
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Link } from "react-router";

import type { Turn } from "~/chat/conversation";
import { Turns, TurnView } from "~/chat/Turns";
import { count, duration, size } from "~/format/numbers";
import { texts } from "~/texts";
import { ModelSelect } from "~/ui/ModelSelect";
import { Segments } from "~/ui/Segments";
import { EmptyState } from "~/ui/states";
import classes from "./ChatMode.module.css";
import { takeDraft } from "./draft";
import { EqualCode } from "./EqualCode";
import { bodyOf, messageOf, messagesOf, type Options, readTools, USUAL } from "./messages";
import { type Chat, type Facts, useChats } from "./useChats";

const playground = texts.playground;
const MOST_MODELS = 4;
const MOST_IMAGE_BYTES = 8_000_000;

interface Props {
  models: readonly string[];
  onModels: (models: string[]) => void;
}

export function ChatMode({ models, onModels }: Props) {
  const [draft] = useState(() => {
    const found = takeDraft();
    return found && { ...messagesAndTurns(found.turns), options: found.options };
  });
  const [options, setOptions] = useState<Options>({ ...USUAL, ...draft?.options, system: draft?.system ?? "" });
  const { chats, ask, send, stop, clear, drop } = useChats(models, draft?.turns ?? []);
  const [settings, { open, close }] = useDisclosure(false);
  const [code, { open: openCode, close: closeCode }] = useDisclosure(false);
  const isBusy = chats.some((chat) => chat.busy);
  const [longest] = [...chats].sort((a, b) => b.turns.length - a.turns.length);
  return (
    <Box className={classes.mode}>
      <Group justify="space-between" mb="xs" gap="xs">
        <Group gap={4}>
          {models.length < MOST_MODELS && (
            <Button variant="default" leftSection={<IconPlus size={14} />} onClick={() => onModels([...models, models.at(-1) ?? ""])}>
              {playground.addModel}
            </Button>
          )}
        </Group>
        <Group gap={4}>
          <Button variant="subtle" color="gray" leftSection={<IconEraser size={14} />} onClick={clear}>
            {playground.clear}
          </Button>
          <Button variant="default" leftSection={<IconCode size={14} />} onClick={openCode}>
            {playground.code}
          </Button>
          <Button variant="default" leftSection={<IconAdjustments size={14} />} onClick={open}>
            {playground.settings}
          </Button>
        </Group>
      </Group>
      <Box className={classes.columns} style={{ "--count": models.length }}>
        {models.map((model, place) => (
          <Column
            key={place}
            model={model}
            chat={chats[place]!}
            onModel={(next) => onModels(models.map((each, at) => (at === place ? next : each)))}
            onRemove={
              models.length > 1
                ? () => {
                    drop(place);
                    onModels(models.filter((_, at) => at !== place));
                  }
                : undefined
            }
            onAnswer={(turns) => void ask(place, model, turns, options)}
          />
        ))}
      </Box>
      <Composer busy={isBusy} onSend={(turn) => send(turn, options)} onStop={stop} />
      <Drawer opened={settings} onClose={close} title={playground.settings} size={380}>
        <Settings options={options} onChange={setOptions} />
      </Drawer>
      <Drawer opened={code} onClose={closeCode} title={playground.code} size="min(100vw, 640px)">
        <EqualCode path="/v1/chat/completions" body={bodyOf(models[0] ?? "", longest?.turns.flatMap(messageOf) ?? [], options)} />
      </Drawer>
    </Box>
  );
}

function messagesAndTurns(turns: readonly Turn[]): { system: string; turns: readonly Turn[] } {
  const { system } = messagesOf(turns);
  return { system, turns: system ? turns.slice(1) : turns };
}

interface ColumnProps {
  model: string;
  chat: Chat;
  onModel: (model: string) => void;
  onRemove?: () => void;
  /** Asks again with these turns. */
  onAnswer: (turns: readonly Turn[]) => void;
}

function Column({ model, chat, onModel, onRemove, onAnswer }: ColumnProps) {
  const end = useRef<HTMLDivElement>(null);
  const { turns, partial, busy, error, facts } = chat;
  const asked = turns.slice(0, turns.findLastIndex(({ role }) => role !== "assistant") + 1);
  const calls = busy ? [] : (turns.at(-1)?.parts.filter((part) => part.kind === "call") ?? []);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [turns.length, partial]);
  return (
    <section className={classes.column} aria-label={model}>
      <Group gap={4} wrap="nowrap" className={classes.head}>
        <ModelSelect value={model} onChange={onModel} flex={1} variant="unstyled" />
        {onRemove && (
          <ActionIcon size="sm" onClick={onRemove} aria-label={playground.removeModel(model)}>
            <IconX size={14} />
          </ActionIcon>
        )}
      </Group>
      <div className={classes.talk} tabIndex={0} aria-live="polite" aria-busy={busy} role="log">
        {turns.length === 0 && !busy && !error && (
          <EmptyState icon={IconMessages} title={playground.emptyTitle} hint={playground.emptyHint} />
        )}
        <Turns turns={turns} />
        {partial && <TurnView turn={partial} />}
        {busy && !partial && <Text c="dimmed">…</Text>}
        {error && (
          <Alert color="red" variant="light" role="alert" p="xs">
            {error}
          </Alert>
        )}
        {facts && <FactsLine facts={facts} />}
        {!busy && asked.length > 0 && calls.length === 0 && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            w="fit-content"
            leftSection={<IconRefresh size={12} />}
            onClick={() => onAnswer(asked)}
          >
            {playground.again}
          </Button>
        )}
        {calls.map(
          (call) =>
            call.kind === "call" && (
              <ToolReply
                key={call.id}
                name={call.name}
                onReply={(text) => onAnswer([...turns, { role: "tool", parts: [{ kind: "result", id: call.id, text }] }])}
              />
            ),
        )}
        <div ref={end} />
      </div>
    </section>
  );
}

function FactsLine({ facts }: { facts: Facts }) {
  const { took, first, tokens, requestId, stopped } = facts;
  const rest = (took - (first ?? 0)) / 1000;
  const speed = tokens !== null && first !== null && rest > 0.05 ? (tokens / rest).toFixed(0) : "";
  return (
    <Text size="xs" c="dimmed" className="tabular">
      {stopped && `${playground.stopped} · `}
      {playground.facts(duration(took), count(tokens), speed)}
      {first !== null && ` · ${playground.first(duration(first))}`}
      {requestId && (
        <>
          {" · "}
          <Anchor component={Link} to={`/requests?request=${requestId}`} size="xs">
            {playground.look}
          </Anchor>
        </>
      )}
    </Text>
  );
}

function ToolReply({ name, onReply }: { name: string; onReply: (text: string) => void }) {
  const [text, setText] = useState("");
  return (
    <Group gap="xs" align="flex-end">
      <Textarea label={`${playground.result} ${name}`} value={text} onChange={(event) => setText(event.currentTarget.value)} flex={1} autosize minRows={1} maxRows={6} />
      <Button variant="default" disabled={!text} onClick={() => onReply(text)}>
        {playground.reply}
      </Button>
    </Group>
  );
}

interface ComposerProps {
  busy: boolean;
  onSend: (turn: Turn) => void;
  onStop: () => void;
}

function Composer({ busy, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState("");
  const [images, setImages] = useState<readonly string[]>([]);
  const [refused, setRefused] = useState("");
  const picker = useRef<HTMLInputElement>(null);

  function submit() {
    if (busy || (!text.trim() && images.length === 0)) return;
    onSend({
      role: "user",
      parts: [
        ...(text.trim() ? [{ kind: "text" as const, text: text.trim() }] : []),
        ...images.map((url) => ({ kind: "image" as const, url })),
      ],
    });
    setText("");
    setImages([]);
    setRefused("");
  }

  async function attach(files: Iterable<File>) {
    const refused = [];
    for (const file of files) {
      const reason = reasonAgainst(file);
      if (reason === null) {
        const url = await dataUrl(file);
        setImages((before) => [...before, url]);
      } else refused.push(reason);
    }
    setRefused(refused.join(". "));
  }

  return (
    <Box className={classes.composer}>
      {images.length > 0 && (
        <Group gap="xs" mb="xs">
          {images.map((url, place) => (
            <Box key={`${place} ${url}`} pos="relative">
              <img src={url} alt={texts.chat.image} className={classes.thumb} />
              <ActionIcon
                size="xs"
                variant="filled"
                className={classes.remove}
                aria-label={texts.common.remove}
                onClick={() => setImages((before) => before.filter((_, at) => at !== place))}
              >
                <IconX size={10} />
              </ActionIcon>
            </Box>
          ))}
        </Group>
      )}
      {refused && (
        <Text size="xs" c="var(--bad)" role="alert" mb="xs">
          {refused}
        </Text>
      )}
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <Textarea
          aria-label={playground.prompt}
          placeholder={playground.prompt}
          variant="unstyled"
          size="sm"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            submit();
          }}
          onPaste={(event: ClipboardEvent) => void attach(event.clipboardData.files)}
          autosize
          minRows={1}
          maxRows={10}
          flex={1}
          autoFocus
        />
        <input
          ref={picker}
          type="file"
          accept="image/*"
          multiple
          hidden
          onChange={(event) => {
            void attach([...(event.currentTarget.files ?? [])]);
            // The same file may be selected again.
            event.currentTarget.value = "";
          }}
        />
        <Tooltip label={playground.attach}>
          <ActionIcon size="lg" onClick={() => picker.current?.click()} aria-label={playground.attach}>
            <IconPhoto size={18} />
          </ActionIcon>
        </Tooltip>
        {busy ? (
          <Button size="sm" variant="default" leftSection={<IconPlayerStop size={14} />} onClick={onStop}>
            {playground.stop}
          </Button>
        ) : (
          <Button size="sm" leftSection={<IconSend size={14} />} onClick={submit} disabled={!text.trim() && images.length === 0}>
            {playground.send}
          </Button>
        )}
      </Group>
    </Box>
  );
}

function reasonAgainst(file: File): string | null {
  if (!file.type.startsWith("image/")) return playground.noImage(file.name);
  return file.size > MOST_IMAGE_BYTES ? playground.largeImage(file.name, size(MOST_IMAGE_BYTES)) : null;
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
}

function Settings({ options, onChange }: { options: Options; onChange: (options: Options) => void }) {
  const set = (part: Partial<Options>) => onChange({ ...options, ...part });
  const number = (value: string | number): number | "" => (typeof value === "number" ? value : "");
  return (
    <Stack>
      <Textarea label={playground.system} value={options.system} onChange={(event) => set({ system: event.currentTarget.value })} autosize minRows={3} maxRows={12} data-autofocus />
      <Group grow>
        <NumberInput label={playground.temperature} min={0} max={2} step={0.1} value={options.temperature} onChange={(value) => set({ temperature: number(value) })} />
        <NumberInput label={playground.topP} min={0} max={1} step={0.05} value={options.topP} onChange={(value) => set({ topP: number(value) })} />
      </Group>
      <NumberInput label={playground.maxTokens} min={1} allowDecimal={false} value={options.maxTokens} onChange={(value) => set({ maxTokens: number(value) })} />
      <Box>
        <Text size="xs" fw={500} mb={4}>
          {playground.reasoning}
        </Text>
        <Segments
          full
          label={playground.reasoning}
          value={options.reasoning}
          onChange={(reasoning) => set({ reasoning })}
          data={Object.entries(playground.reasoningLevels).map(([value, label]) => ({ value, label }))}
        />
      </Box>
      <Textarea
        label={playground.tools}
        description={playground.toolsHint}
        value={options.tools}
        onChange={(event) => set({ tools: event.currentTarget.value })}
        error={readTools(options.tools) === null ? playground.toolsInvalid : null}
        autosize
        minRows={4}
        maxRows={16}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      />
      <Switch label={playground.stream} checked={options.stream} onChange={(event) => set({ stream: event.currentTarget.checked })} />
    </Stack>
  );
}
