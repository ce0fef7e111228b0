import { Box, Group, Text } from "@mantine/core";

import { useProviderNames } from "~/api/names";
import { duration } from "~/format/numbers";
import { texts } from "~/texts";
import { linesOf } from "./course";
import type { HistoryRow } from "./history";
import classes from "./Waterfall.module.css";

const { sheet } = texts.requests;

/** When what happened, on one scale: the parts of a call, or its attempts where there were several. */
export function Waterfall({ call }: { call: HistoryRow }) {
  const nameOf = useProviderNames();
  const lines = linesOf(call, nameOf);
  const whole = Math.max(1, call.latencyMs);
  return (
    <div className={classes.chart} role="list" aria-label={sheet.attempts}>
      {lines.map(({ label, detail, bars, reason }, place) => (
        <div key={place} role="listitem">
          <div className={classes.line}>
            <Text span size="xs" truncate title={detail ? `${label} · ${detail}` : undefined}>
              {label}
              {detail && <Text span size="xs" c="dimmed">{` · ${detail}`}</Text>}
            </Text>
            <div className={classes.track}>
              {bars.map(({ from, to, tone }) => (
                <Box
                  key={from}
                  className={classes.bar}
                  data-tone={tone}
                  style={{ left: `${(from / whole) * 100}%`, width: `max(3px, ${((to - from) / whole) * 100}%)` }}
                />
              ))}
            </div>
            <Text span size="xs" className="tabular" ta="right">
              {duration((bars.at(-1)?.to ?? 0) - (bars[0]?.from ?? 0))}
            </Text>
          </div>
          {reason && (
            <Text size="xs" c="var(--bad)" className={classes.reason} title={reason}>
              {reason}
            </Text>
          )}
        </div>
      ))}
      <Group gap={6} mt={6}>
        <Text size="xs" c="dimmed">
          {call.attempts === 0 ? sheet.noAttempt : sheet.attempt(call.attempts)}
          {call.attempts > 0 && call.accountName && call.status === "ok" && `, ${sheet.answeredBy(call.accountName)}`}
          {call.failures.length > 0 && call.ttftMs !== null && `, ${sheet.firstByte(duration(call.ttftMs))}`}
        </Text>
      </Group>
    </div>
  );
}
