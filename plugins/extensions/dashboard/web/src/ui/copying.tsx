import { ActionIcon, Box, Button, Code, CopyButton as Copying, Group, Input, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

import { texts } from "~/texts";
import classes from "./copying.module.css";

interface CopyProps {
  value: string;
  /** With a label a button, without one an icon. */
  label?: string;
  /** What to know before it is used, shown on hover of a button. */
  hint?: string;
}

export function CopyButton({ value, label, hint }: CopyProps) {
  return (
    <Copying value={value}>
      {({ copied, copy }) => {
        const symbol = copied ? <IconCheck size={14} /> : <IconCopy size={14} />;
        if (label)
          return (
            <Tooltip label={hint} disabled={!hint}>
              <Button variant="default" leftSection={symbol} onClick={copy}>
                {copied ? texts.common.copied : label}
              </Button>
            </Tooltip>
          );
        return (
          <Tooltip label={copied ? texts.common.copied : texts.common.copy} openDelay={0}>
            <ActionIcon size="sm" onClick={copy} aria-label={texts.common.copy} color={copied ? "green" : "gray"}>
              {symbol}
            </ActionIcon>
          </Tooltip>
        );
      }}
    </Copying>
  );
}

interface FieldProps {
  value: string;
  label?: string;
  description?: string;
}

/** A text that cannot be changed, only copied: a key, an address. */
export function CopyField({ value, label, description }: FieldProps) {
  return (
    <Input.Wrapper label={label} description={description} labelElement="div">
      <Group className={classes.field} gap={4} wrap="nowrap">
        <Text className={classes.value} ff="monospace" size="xs" tabIndex={0}>
          {value}
        </Text>
        <CopyButton value={value} />
      </Group>
    </Input.Wrapper>
  );
}

interface CodeProps {
  code: string;
  /** Lines after which it scrolls. */
  lines?: number;
  label?: string;
}

/** Code to copy. */
export function CodeBlock({ code, lines = 24, label }: CodeProps) {
  return (
    <Box className={classes.block}>
      <Box className={classes.corner}>
        <CopyButton value={code} />
      </Box>
      <Code block className={classes.code} mah={lines * 18 + 24} tabIndex={0} aria-label={label}>
        {code}
      </Code>
    </Box>
  );
}
