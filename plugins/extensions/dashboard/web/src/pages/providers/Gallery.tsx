import { Badge, Box, Group, SimpleGrid, Text, UnstyledButton } from "@mantine/core";
import { useMemo, useState } from "react";

import { query, type Shape } from "~/api/client";
import { texts } from "~/texts";
import { FilterSearch, FilterSelect } from "~/ui/filters";
import { Loaded } from "~/ui/states";
import { VendorMark } from "~/ui/VendorMark";
import classes from "./Gallery.module.css";

const providers = texts.providers;
export type Vendor = Shape<"Vendor">;

interface Props {
  onPick: (vendor: Vendor) => void;
  /** Where the search begins. */
  search?: string;
}

/** Every vendor, searchable; a vendor that is not installed says how it gets here. */
export function Gallery({ onPick, search: usual = "" }: Props) {
  const vendors = query.useQuery("get", "/api/vendors");
  const [search, setSearch] = useState(usual);
  const [kind, setKind] = useState("");
  const kinds = useMemo(
    () => [...new Set(vendors.data?.vendors.flatMap((vendor) => vendor.kinds))].map((value) => ({ value, label: kindName(value) })),
    [vendors.data],
  );
  return (
    <>
      <Group gap="xs" mb="sm">
        <FilterSearch label={providers.search} value={search} onChange={setSearch} />
        <FilterSelect label={providers.kind} value={kind} options={kinds} onChange={setKind} />
      </Group>
      <Loaded of={vendors}>
        {({ vendors: all }) => {
          const shown = all.filter((vendor) => matches(vendor, search) && (!kind || vendor.kinds.includes(kind)));
          if (shown.length === 0) return <Text c="dimmed">{texts.common.noMatch}</Text>;
          return (
            <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 4 }} spacing="xs">
              {shown.map((vendor) => (
                <Tile key={vendor.id} vendor={vendor} onPick={onPick} />
              ))}
            </SimpleGrid>
          );
        }}
      </Loaded>
    </>
  );
}

export function matches(vendor: Pick<Vendor, "id" | "name" | "aliases">, search: string): boolean {
  const term = search.trim().toLowerCase();
  return [vendor.id, vendor.name, ...vendor.aliases].some((name) => name.toLowerCase().includes(term));
}

function kindName(kind: string): string {
  return providers.kinds[kind] ?? kind;
}

function Tile({ vendor, onPick }: { vendor: Vendor; onPick: (vendor: Vendor) => void }) {
  const { id, name, installed, kinds, accounts, isLocal } = vendor;
  const about = installed ? [...(isLocal ? [providers.local] : []), ...kinds.map(kindName)].join(" · ") : providers.installHint(vendor.distribution ?? id);
  return (
    <UnstyledButton className={classes.tile} onClick={() => onPick(vendor)} disabled={!installed} data-absent={!installed || undefined}>
      <VendorMark id={id} name={name} size={32} />
      <Box miw={0} flex={1}>
        <Group gap={6} wrap="nowrap">
          <Text fw={500} truncate>
            {name}
          </Text>
          {accounts > 0 && <Badge size="sm">{accounts}</Badge>}
        </Group>
        <Text size="xs" c="dimmed" truncate>
          {about}
        </Text>
      </Box>
    </UnstyledButton>
  );
}
