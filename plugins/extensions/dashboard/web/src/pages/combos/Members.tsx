/** The members of a combo, to be dragged into their order, or moved by buttons and keys. */
import { ActionIcon, NumberInput, Text, VisuallyHidden } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconGripVertical, IconX } from "@tabler/icons-react";
import { type KeyboardEvent, useState } from "react";

import { texts } from "~/texts";
import { Step } from "~/ui/Step";
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
  const [said, setSaid] = useState("");

  function move(from: number, to: number) {
    const member = members[from];
    if (!member || to < 0 || to >= members.length) return;
    onChange(moved(members, from, to));
    setSaid(combos.isAt(member.model, to + 1, members.length));
  }

  function onKeyDown(event: KeyboardEvent, place: number) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(place, place + step);
  }

  return (
    <>
      <ol className={classes.list} aria-label={combos.members}>
        {members.map((member, place) => (
          <li
            // Not by its place: what has the focus keeps it when its member moves.
            key={`${member.model} ${members.slice(0, place).filter((each) => each.model === member.model).length}`}
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
            {/* No button: Firefox does not begin to drag what surrounds one. */}
            <span className={classes.handle} role="button" tabIndex={0} aria-label={combos.grip(member.model)} onKeyDown={(event) => onKeyDown(event, place)}>
              <IconGripVertical size={14} aria-hidden />
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
            <Step label={combos.up(member.model)} isLast={place === 0} onClick={() => move(place, place - 1)}>
              <IconArrowUp size={14} />
            </Step>
            <Step label={combos.down(member.model)} isLast={place === members.length - 1} onClick={() => move(place, place + 1)}>
              <IconArrowDown size={14} />
            </Step>
            <ActionIcon size="sm" aria-label={combos.drop(member.model)} onClick={() => onChange(members.filter((_, at) => at !== place))}>
              <IconX size={14} />
            </ActionIcon>
          </li>
        ))}
      </ol>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
    </>
  );
}
