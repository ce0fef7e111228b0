import { Anchor, Box, Group, Table, Text } from "@mantine/core";
import { Link, useNavigate } from "react-router";

import { count, duration, money, percent } from "~/format/numbers";
import { texts } from "~/texts";
import { Section } from "~/ui/Section";
import { errorShare, type Series } from "~/ui/charts/rows";
import { SERIES_COLORS } from "~/theme";
import classes from "./Busiest.module.css";
import type { Dimension } from "./page";

const overview = texts.overview;
type Busy = Series["groups"][number];

/** The parameter of the page of requests for each dimension. */
const PARAMETERS: Record<Dimension, string> = {
  model: "model",
  provider: "provider",
  apiKey: "key",
  combo: "combo",
  connection: "account",
  endpoint: "endpoint",
};

/** The groups of the charts as a table, the busiest first; a row leads to its requests. */
export function Busiest({ groups, by }: { groups: readonly Busy[]; by: Dimension }) {
  const navigate = useNavigate();
  return (
    <Section title={overview.top} flush>
      {/* A few rows in their order: the table of other pages would be a third of this page's script. */}
      <Table aria-label={overview.top} className={classes.table} highlightOnHover={groups.length > 0}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{overview.dimensions[by]}</Table.Th>
            <Table.Th>{overview.requests}</Table.Th>
            <Table.Th>{overview.spend}</Table.Th>
            <Table.Th>{overview.errors}</Table.Th>
            <Table.Th visibleFrom="sm">{overview.p95Label}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map(({ group, name, total }, place) => {
            const target = `/requests?${PARAMETERS[by]}=${encodeURIComponent(group[by] ?? "")}`;
            return (
              <Table.Tr key={JSON.stringify(group)} className={classes.row} onClick={() => navigate(target)}>
                <Table.Td className={classes.name}>
                  <Group gap={8} wrap="nowrap">
                    <Box w={8} h={8} bg={SERIES_COLORS[place % SERIES_COLORS.length]} className={classes.mark} />
                    <Anchor component={Link} to={target} truncate c="inherit" onClick={(event) => event.stopPropagation()}>
                      {name}
                    </Anchor>
                  </Group>
                </Table.Td>
                <Table.Td>{count(total.requests)}</Table.Td>
                <Table.Td>{money(total.cost)}</Table.Td>
                <Table.Td>{percent(errorShare(total) ?? 0)}</Table.Td>
                <Table.Td visibleFrom="sm">{duration(total.latencyMs.p95)}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      {groups.length === 0 && (
        <Text c="dimmed" ta="center" py="xl">
          {overview.noRequests}
        </Text>
      )}
    </Section>
  );
}
