/** Sends one message to a combo and says who answered. */
import { Alert, Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";

import { messageOf, readError } from "~/api/client";
import { duration } from "~/format/numbers";
import { texts } from "~/texts";
import { Dialog } from "~/ui/Dialog";

const combos = texts.combos;

interface Answer {
  text: string;
  model: string;
  ms: number;
}

export function TryIt({ name, onClose }: { name: string; onClose: () => void }) {
  const [message, setMessage] = useState<string>(combos.tryDefault);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function ask() {
    setBusy(true);
    setError(null);
    setAnswer(null);
    try {
      setAnswer(await call(name, message));
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog onClose={onClose} title={`${combos.tryIt}: ${name}`}>
      <Stack>
        <Textarea label={combos.tryText} value={message} onChange={(event) => setMessage(event.currentTarget.value)} autosize minRows={2} data-autofocus />
        <Group justify="flex-end">
          <Button onClick={() => void ask()} loading={busy} disabled={!message.trim()}>
            {combos.tryIt}
          </Button>
        </Group>
        {answer && (
          <Alert color="green" variant="light" title={combos.answeredBy(answer.model, duration(answer.ms))}>
            <Text style={{ whiteSpace: "pre-wrap" }}>{answer.text}</Text>
          </Alert>
        )}
        {error && (
          <Alert color="red" variant="light" role="alert">
            {error}
          </Alert>
        )}
      </Stack>
    </Dialog>
  );
}

async function call(model: string, content: string): Promise<Answer> {
  const begun = performance.now();
  const response = await fetch("/api/playground/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
  });
  if (!response.ok) throw await readError(response);
  const body = (await response.json()) as { model?: string; choices?: { message?: { content?: string } }[] };
  return { text: body.choices?.[0]?.message?.content ?? "", model: body.model ?? model, ms: performance.now() - begun };
}
