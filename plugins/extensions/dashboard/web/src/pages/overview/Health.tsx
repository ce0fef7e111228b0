import { Anchor, Group, Skeleton, Text, Tooltip } from "@mantine/core";
import { Link } from "react-router";

import { query } from "~/api/client";
import { clock } from "~/format/times";
import { texts } from "~/texts";
import { ErrorState } from "~/ui/states";
import { StatusDot, type Tone } from "~/ui/status";
import { VendorMark } from "~/ui/VendorMark";
import classes from "./Health.module.css";

const overview = texts.overview;
const EVERY_MS = 10_000;
const TONES: Record<string, Tone> = { healthy: "good", degraded: "warn", unavailable: "bad" };

/** A strip with each provider that has accounts; those with a problem come first. */
export function Health() {
  // Looked at anew: an account that was added or woken a moment ago is in it.
  const health = query.useQuery("get", "/api/health/providers", { params: { query: { force: 1 } } }, { refetchInterval: EVERY_MS });
  const resting = query.useQuery("get", "/api/models/availability", {}, { refetchInterval: EVERY_MS });
  const accounts = query.useQuery("get", "/api/providers", {}, { staleTime: 60_000 });
  const error = health.error ?? accounts.error;
  if ((!health.data || !accounts.data) && error)
    return <ErrorState error={error} onRetry={() => void Promise.all([health.refetch(), accounts.refetch()])} />;
  if (!health.data || !accounts.data) return <Skeleton h={30} />;
  const rank = { unavailable: 0, degraded: 1, healthy: 2 };
  // Vendors that need no account are of interest only when they fail or are used.
  const own = new Set(accounts.data?.connections.map((each) => each.provider));
  const all = [...health.data.providers].sort((a, b) => rank[a.status] - rank[b.status]);
  const providers = all.filter(({ provider, status }) => own.has(provider) || status !== "healthy");
  const rest = all.length - providers.length;
  if (all.length === 0) return <Text c="dimmed">{overview.healthNone}</Text>;
  return (
    <Group gap="xs" component="ul" className={classes.strip} aria-label={overview.health}>
      {providers.map(({ provider, name, status, accounts: stored, resting: count }) => {
        const why = resting.data?.models.find((row) => row.provider === provider);
        const until = why?.until ? ` ${overview.until(clock(why.until))}` : "";
        const about = count > 0 ? overview.resting(count, stored) : why ? overview.modelRests(why.model) : overview.accounts(stored);
        return (
          <li key={provider}>
            <Tooltip
              multiline
              maw={360}
              label={status === "healthy" ? about : `${about}${until}${why?.lastError ? `: ${why.lastError}` : ""}`}
            >
              <Anchor component={Link} to={`/providers?provider=${encodeURIComponent(provider)}`} className={classes.chip}>
                <VendorMark id={provider} name={name} size={18} />
                <Text span size="xs" fw={500} c="var(--mantine-color-text)">
                  {name}
                </Text>
                <StatusDot tone={TONES[status] ?? "idle"} label={status === "healthy" ? overview.status.healthy : undefined}>
                  {status === "healthy" ? undefined : `${overview.status[status]}${until}`}
                </StatusDot>
              </Anchor>
            </Tooltip>
          </li>
        );
      })}
      {rest > 0 && (
        <li>
          <Anchor component={Link} to="/providers" size="xs" c="dimmed">
            {overview.keyless(rest)}
          </Anchor>
        </li>
      )}
    </Group>
  );
}
