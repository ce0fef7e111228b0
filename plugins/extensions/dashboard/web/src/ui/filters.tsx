/** Filters whose values are in the address. */
import { ActionIcon, Button, Group, Popover, Select, Stack, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconCalendar, IconSearch, IconX } from "@tabler/icons-react";
import { useEffect, useState } from "react";

import { exact } from "~/format/times";
import { texts } from "~/texts";
import { Segments } from "./Segments";

interface SelectProps {
  label: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
  width?: number;
}

/** One of several values; empty for all. */
export function FilterSelect({ label, value, options, onChange, width = 160 }: SelectProps) {
  const known = options.some((option) => option.value === value);
  const data = known || !value ? options : [...options, { value, label: value }];
  return (
    <Select
      aria-label={label}
      placeholder={label}
      data={[...data]}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? "")}
      clearable
      searchable={data.length > 8}
      limit={200}
      w={width}
      size="xs"
      nothingFoundMessage={texts.common.noMatch}
      comboboxProps={{ width: "max-content", position: "bottom-start" }}
    />
  );
}

interface SearchProps {
  value: string;
  onChange: (value: string) => void;
  label?: string;
  width?: number | string;
}

const PAUSE_MS = 250;

/** Text to search for; it counts after a pause in the typing. */
export function FilterSearch({ value, onChange, label = texts.common.search, width = 220 }: SearchProps) {
  const [text, setText] = useState(value);
  const submit = useDebouncedCallback(onChange, PAUSE_MS);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={14} />}
      rightSection={
        text && (
          <ActionIcon
            size="xs"
            aria-label={texts.common.clear}
            onClick={() => {
              setText("");
              onChange("");
            }}
          >
            <IconX size={12} />
          </ActionIcon>
        )
      }
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        submit(event.currentTarget.value);
      }}
      w={width}
      size="xs"
    />
  );
}

export interface Range {
  /** A named period, or `custom` with both days. */
  period: string;
  from: string;
  to: string;
}

interface RangeProps {
  value: Range;
  onChange: (value: Range) => void;
  periods?: readonly (keyof typeof texts.common.periodNames)[];
}

/** Named periods in one click, and days of one's own. */
export function RangePicker({ value, onChange, periods = ["24h", "7d", "30d"] }: RangeProps) {
  const [opened, setOpened] = useState(false);
  const [from, setFrom] = useState(value.from.slice(0, 10));
  const [to, setTo] = useState(value.to.slice(0, 10));
  const isCustom = value.period === "custom";
  return (
    <Group gap={4} wrap="nowrap">
      <Segments
        label={texts.common.period}
        value={isCustom ? "" : value.period}
        onChange={(period) => onChange({ period, from: "", to: "" })}
        data={periods.map((period) => ({ value: period, label: texts.common.periodNames[period] }))}
      />
      <Popover opened={opened} onChange={setOpened} position="bottom-end" trapFocus shadow="md">
        <Popover.Target>
          <Button
            variant={isCustom ? "light" : "default"}
            leftSection={<IconCalendar size={14} />}
            onClick={() => setOpened((before) => !before)}
          >
            {isCustom ? rangeLabel(value) : texts.common.periodNames.custom}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs">
            <TextInput type="date" label={texts.common.from} value={from} max={to || undefined} onChange={(event) => setFrom(event.currentTarget.value)} data-autofocus />
            <TextInput type="date" label={texts.common.to} value={to} min={from || undefined} onChange={(event) => setTo(event.currentTarget.value)} />
            <Button
              disabled={!from || !to || to < from}
              onClick={() => {
                onChange({ period: "custom", from, to });
                setOpened(false);
              }}
            >
              {texts.common.apply}
            </Button>
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </Group>
  );
}

/** Days as they are; times without what they have in common. */
export function rangeLabel({ from, to }: Range): string {
  if (from.length <= 10) return from === to ? from : `${from} – ${to}`;
  const [start, end] = [exact(from), exact(to)];
  return start.slice(0, 10) === end.slice(0, 10)
    ? `${start.slice(0, 16)} – ${end.slice(11, 16)}`
    : `${start.slice(0, 16)} – ${end.slice(0, 16)}`;
}

/** The period of a query: a name, or both days. */
export function rangeQuery<P extends string>(value: Range, known: readonly P[], usual: P): { period: P } | { startDate: string; endDate: string } {
  if (value.period === "custom" && value.from && value.to) return { startDate: value.from, endDate: value.to };
  return { period: known.find((name) => name === value.period) ?? usual };
}
