/** Trying models: every kind of work, booked as the caller's own. */
import { Tabs } from "@mantine/core";
import type { ComponentType } from "react";

import { useModels } from "~/api/models";
import { texts } from "~/texts";
import { Page } from "~/ui/Page";
import { ErrorState, Placeholder } from "~/ui/states";
import { useUrlState } from "~/url/state";
import { ChatMode } from "./ChatMode";
import { EmbeddingsMode, ImagesMode, SearchMode, SpeechMode, TranscriptionMode } from "./media";

const playground = texts.playground;
const DEFAULTS = { mode: "chat", models: "" };
const USUAL_MODEL = "echo/echo";
const OTHERS: Record<string, [string, ComponentType]> = {
  images: [playground.images, ImagesMode],
  speech: [playground.speech, SpeechMode],
  transcription: [playground.transcription, TranscriptionMode],
  embeddings: [playground.embeddings, EmbeddingsMode],
  search: [playground.search, SearchMode],
};

export default function PlaygroundPage() {
  const [state, setState] = useUrlState(DEFAULTS);
  const listed = useModels();
  const Other = OTHERS[state.mode]?.[1];
  const usual = listed.data?.find(({ owner }) => owner !== "combo")?.id ?? USUAL_MODEL;
  // A second reading keeps the chat, and what was typed into it.
  const isFirst = listed.isPending && listed.errorUpdateCount === 0;
  const models = state.models ? state.models.split(",") : [usual];
  return (
    <Page
      title={playground.title}
      filters={
        <Tabs value={state.mode} onChange={(mode) => setState({ mode })}>
          <Tabs.List>
            <Tabs.Tab value="chat">{playground.chat}</Tabs.Tab>
            {Object.entries(OTHERS).map(([mode, [label]]) => (
              <Tabs.Tab key={mode} value={mode}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        </Tabs>
      }
    >
      {Other ? (
        <Other />
      ) : isFirst ? (
        <Placeholder />
      ) : (
        <>
          {listed.error && <ErrorState error={listed.error} onRetry={() => void listed.refetch()} />}
          <ChatMode models={models} onModels={(next) => setState({ models: next.join(",") })} />
        </>
      )}
    </Page>
  );
}
