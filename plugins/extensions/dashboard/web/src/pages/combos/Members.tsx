/** The members of a combo, to be dragged into their order or moved by buttons. */
import { ActionIcon, NumberInput, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconGripVertical, IconX } from "@tabler/icons-react";
import { useState } from "react";

import { texts } from "~/texts";
import { type MemberDraft, moved } from "./draft";
import classes from "./Members.module.css";

const combos = texts.combos;

interface Props {
  members: readonly MemberDraft[];
  onChange: (members: MemberDraft[]) => void;
  weights: boolean;
}

export function Members({ members, onChange, weights }: Props) {
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const move = (from: number, to: number) => onChange(moved(members, from, to));
  return (
    <ol className={classes.list} aria-label={combos.members}>
      {members.map((member, place) => (
        <li
          key={`${member.model}-${place}`}
          className={classes.member}
          draggable
          data-over={over === place || undefined}
          onDragStart={(event) => {
            event.dataTransfer.effectAllowed = "move";
            event.dataTransfer.setData("text/plain", member.model);
            setDragged(place);
          }}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(place);
          }}
          onDragEnd={() => {
            setDragged(null);
            setOver(null);
          }}
          onDrop={(event) => {
            event.preventDefault();
            if (dragged !== null) move(dragged, place);
            setDragged(null);
            setOver(null);
          }}
        >
          <span className={classes.handle} aria-hidden>
            <IconGripVertical size={14} />
          </span>
          <Text span size="xs" c="dimmed" w={16} className="tabular">
            {place + 1}
          </Text>
          <Text span truncate className={classes.name}>
            {member.model}
          </Text>
          {weights && (
            <NumberInput
              aria-label={`${combos.weight} ${member.model}`}
              value={member.weight}
              onChange={(value) => onChange(members.map((each, at) => (at === place ? { ...each, weight: Number(value) || 0 } : each)))}
              min={0}
              max={1000}
              w={64}
            />
          )}
          <ActionIcon size="sm" aria-label={combos.up(member.model)} disabled={place === 0} onClick={() => move(place, place - 1)}>
            <IconArrowUp size={14} />
          </ActionIcon>
          <ActionIcon size="sm" aria-label={combos.down(member.model)} disabled={place === members.length - 1} onClick={() => move(place, place + 1)}>
            <IconArrowDown size={14} />
          </ActionIcon>
          <ActionIcon size="sm" aria-label={combos.drop(member.model)} onClick={() => onChange(members.filter((_, at) => at !== place))}>
            <IconX size={14} />
          </ActionIcon>
        </li>
      ))}
    </ol>
  );
}
