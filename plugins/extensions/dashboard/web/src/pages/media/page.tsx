/** Media routes: the models of each kind of call that names none. */
import { Autocomplete, Badge, Button, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import { api, messageOf, query, type Shape } from "~/api/client";
import { refresh } from "~/api/cache";
import { Members } from "~/pages/combos/Members";
import { texts } from "~/texts";
import { notifyDone } from "~/ui/confirm";
import { Page } from "~/ui/Page";
import { Section } from "~/ui/Section";
import { Loaded } from "~/ui/states";

const media = texts.media;
type Route = Shape<"Route">;
const PATH = "/api/media-providers/routes";

export default function MediaPage() {
  const routes = query.useQuery("get", PATH);
  return (
    <Page title={media.title} about={media.about}>
      <Loaded of={routes} lines={8}>
        {(data) => (
          <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="md">
            {data.routes.map((route) => (
              <RouteCard key={`${route.id} ${route.saved.join()}`} route={route} />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Page>
  );
}

function RouteCard({ route }: { route: Route }) {
  const [chosen, setChosen] = useState<readonly string[]>(route.saved);
  const [added, setAdded] = useState("");
  const [error, setError] = useState<string | null>(null);
  const isChanged = chosen.join("\n") !== route.saved.join("\n");
  const isOwn = route.saved.length > 0;
  const left = route.candidates.map((each) => each.id).filter((id) => !chosen.includes(id));

  async function save(models: readonly string[], done: string) {
    setError(null);
    try {
      await api.PUT(PATH, { body: { kind: route.id, models: [...models] as never } });
      await refresh(PATH);
      notifyDone(done);
    } catch (failure) {
      setError(messageOf(failure));
    }
  }

  function add(id: string) {
    if (!left.includes(id)) return;
    setChosen((before) => [...before, id]);
    // After the field has put the chosen name into itself.
    setTimeout(() => setAdded(""));
  }

  return (
    <Section
      title={route.label}
      about={media.endpoints(route.endpoints.map((each) => each.path).join(", "))}
      actions={route.candidates.length > 0 && <Badge color={isOwn ? "iris" : "gray"}>{isOwn ? media.chosen : media.automatic}</Badge>}
    >
      {route.candidates.length === 0 ? (
        <Stack gap={6} align="flex-start">
          <Text c="dimmed">
            {media.none}. {media.noneHint}
          </Text>
          <Button component={Link} to="/providers" variant="default">
            {media.toProviders}
          </Button>
        </Stack>
      ) : (
        <Stack gap="xs">
          {chosen.length > 0 ? (
            <Members members={chosen.map((model) => ({ model, weight: 1 }))} onChange={(members) => setChosen(members.map((each) => each.model))} weights={false} />
          ) : (
            <Text size="xs" c="dimmed">
              {media.used}: {route.effective.join(", ") || texts.common.none}
            </Text>
          )}
          {left.length > 0 && <Autocomplete aria-label={`${media.add}: ${route.label}`} placeholder={media.add} data={left} limit={40} value={added} onChange={setAdded} onOptionSubmit={add} />}
          {error && (
            <Text c="var(--bad)" role="alert">
              {error}
            </Text>
          )}
          {(isOwn || isChanged) && (
            <Group gap="xs" justify="flex-end">
              {isOwn && (
                <Button variant="subtle" color="gray" onClick={() => void save([], media.resetDone(route.label))}>
                  {media.reset}
                </Button>
              )}
              {isChanged && <Button onClick={() => void save(chosen, media.saved(route.label))}>{texts.common.save}</Button>}
            </Group>
          )}
        </Stack>
      )}
    </Section>
  );
}
