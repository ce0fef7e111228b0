import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { notifications } from "@mantine/notifications";
import { type ReactNode, useState } from "react";

import { messageOf } from "~/api/client";
import { texts } from "~/texts";
import { useFocusBack } from "./focus";

interface Question {
  title: string;
  body: ReactNode;
  /** The verb on the button. */
  action: string;
  /** A word that has to be typed, for what cannot be undone. */
  word?: string;
  /** Red instead of the accent; true by default. */
  destroys?: boolean;
  /** What is done. The dialog stays open with the error when it fails. */
  run: () => Promise<unknown>;
}

/** Asks before something is done that cannot be undone. */
export function confirm(question: Question): void {
  const id = modals.open({
    title: question.title,
    children: <Confirmation {...question} close={() => modals.close(id)} />,
  });
}

function Confirmation({ body, action, word, destroys = true, run, close }: Question & { close: () => void }) {
  useFocusBack();
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function act() {
    setBusy(true);
    try {
      await run();
      close();
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  }

  return (
    <Stack>
      <Text component="div">{body}</Text>
      {word !== undefined && (
        <TextInput
          label={texts.common.typeToConfirm(word)}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
      )}
      {error && (
        <Text c="var(--bad)" role="alert">
          {error}
        </Text>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={close}>
          {texts.common.cancel}
        </Button>
        <Button
          color={destroys ? "red.9" : undefined}
          loading={busy}
          disabled={word !== undefined && typed !== word}
          onClick={act}
          data-autofocus={word === undefined || undefined}
        >
          {action}
        </Button>
      </Group>
    </Stack>
  );
}

/** A short message that something is done, with a way back where there is one. */
export function notifyDone(message: string, undo?: () => void): void {
  const id = notifications.show({
    message: undo ? (
      <Group justify="space-between" wrap="nowrap">
        <Text>{message}</Text>
        <Button
          variant="subtle"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          {texts.common.undo}
        </Button>
      </Group>
    ) : (
      message
    ),
    autoClose: undo ? 8000 : 3000,
  });
}

/** A failure that has no better place in the page. */
export function notifyError(error: unknown, title?: string): void {
  notifications.show({ color: "red", title, message: messageOf(error), autoClose: 8000, role: "alert" });
}
