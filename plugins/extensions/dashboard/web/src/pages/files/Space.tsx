/** What each owner's files take of what they may take. */
import { Box, Group, Progress, Stack, Text, UnstyledButton } from "@mantine/core";

import type { Shape } from "~/api/client";
import { count, size } from "~/format/numbers";
import { texts } from "~/texts";
import { Section } from "~/ui/Section";
import { nameOf } from "./owners";

const { usage: words } = texts.files;
/** Owners that are shown; the largest come first. */
const SHOWN = 4;
const NEAR = 0.8;

interface Props {
  usage: Shape<"FileUsage">;
  owner: string;
  onOwner: (owner: string | null) => void;
}

export function Space({ usage, owner, onOwner }: Props) {
  const shown = usage.owners.filter((each, place) => place < SHOWN || each.owner === owner);
  const left = usage.owners.length - shown.length;
  return (
    <Section
      title={words.title}
      about={words.about(size(usage.quota), count(usage.mostFiles))}
      actions={<Text size="xs" c="dimmed">{words.total(size(usage.bytes), count(usage.files))}</Text>}
    >
      <Stack gap={6}>
        {shown.map((each) => {
          const share = Math.max(each.bytes / usage.quota, each.files / usage.mostFiles);
          const name = nameOf(each);
          return (
            <UnstyledButton
              key={each.owner}
              aria-pressed={each.owner === owner}
              onClick={() => onOwner(each.owner === owner ? null : each.owner)}
            >
              <Group justify="space-between" gap="xs" wrap="nowrap" mb={3}>
                <Text size="xs" fw={each.owner === owner ? 600 : 500} truncate>{name}</Text>
                <Text size="xs" c="dimmed" className="tabular" style={{ flex: "none" }}>
                  {words.of(size(each.bytes), size(usage.quota), count(each.files))}
                </Text>
              </Group>
              <Progress
                value={Math.min(100, share * 100)}
                size="sm"
                color={share >= 1 ? "red" : share >= NEAR ? "orange" : "iris"}
                aria-label={words.share(name)}
              />
            </UnstyledButton>
          );
        })}
        {left > 0 && <Box><Text size="xs" c="dimmed">{words.more(count(left))}</Text></Box>}
      </Stack>
    </Section>
  );
}
