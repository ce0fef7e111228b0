/** Turns drawn as a chat. */
import { Box, Collapse, Group, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconBulb, IconChevronRight, IconPhotoOff, IconTool } from "@tabler/icons-react";
import type { ReactNode } from "react";

import { texts } from "~/texts";
import type { Part, Turn } from "./conversation";
import classes from "./Turns.module.css";

const chat = texts.chat;

export function Turns({ turns }: { turns: readonly Turn[] }) {
  return (
    <div className={classes.turns}>
      {turns.map((turn, place) => (
        <TurnView key={place} turn={turn} />
      ))}
    </div>
  );
}

export function TurnView({ turn, foot }: { turn: Turn; foot?: ReactNode }) {
  return (
    <Box className={classes.turn} data-role={turn.role}>
      <Text className={classes.role}>{chat.roles[turn.role] ?? turn.role}</Text>
      {turn.parts.map((part, place) => (
        <PartView key={place} part={part} />
      ))}
      {foot}
    </Box>
  );
}

function PartView({ part }: { part: Part }) {
  switch (part.kind) {
    case "text":
      return <div className={classes.text}>{part.text}</div>;
    case "thinking":
      return (
        <Folded icon={<IconBulb size={14} />} title={chat.thinking}>
          <div className={classes.thinking}>{part.text}</div>
        </Folded>
      );
    case "image":
      return part.url ? (
        <img src={part.url} alt={chat.image} className={classes.image} />
      ) : (
        <Group gap={6} c="dimmed">
          <IconPhotoOff size={16} />
          <Text size="xs">{chat.imageElsewhere}</Text>
        </Group>
      );
    case "call":
      return (
        <Folded icon={<IconTool size={14} />} title={chat.call(part.name)} opened>
          <pre className={classes.code}>{part.input}</pre>
        </Folded>
      );
    case "result":
      return (
        <Folded icon={<IconTool size={14} />} title={chat.result} opened={part.text.length < 400}>
          <pre className={classes.code}>{part.text}</pre>
        </Folded>
      );
  }
}

interface FoldedProps {
  icon: ReactNode;
  title: string;
  opened?: boolean;
  children: ReactNode;
}

function Folded({ icon, title, opened: usual = false, children }: FoldedProps) {
  const [opened, { toggle }] = useDisclosure(usual);
  return (
    <Box className={classes.folded}>
      <UnstyledButton onClick={toggle} className={classes.fold} aria-expanded={opened}>
        <IconChevronRight size={12} className={classes.arrow} data-opened={opened || undefined} />
        {icon}
        <span>{title}</span>
      </UnstyledButton>
      <Collapse expanded={opened}>{children}</Collapse>
    </Box>
  );
}
