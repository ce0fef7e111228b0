import { Select, type SelectProps } from "@mantine/core";
import { useMemo } from "react";

import { useModels } from "~/api/models";
import { texts } from "~/texts";

interface Props extends Omit<SelectProps, "data" | "value" | "onChange"> {
  value: string;
  onChange: (model: string) => void;
  kind?: string;
}

/** Rows that are drawn at once: thousands would make the list slow. */
const SHOWN = 80;

/** One of the models that can be called now, found by typing; grouped by provider. */
export function ModelSelect({ value, onChange, kind, ...select }: Props) {
  const models = useModels(kind);
  const data = useMemo(() => {
    const groups = new Map<string, string[]>();
    for (const { id, owner } of models.data ?? []) groups.set(owner, [...(groups.get(owner) ?? []), id]);
    if (value && !models.data?.some(({ id }) => id === value)) groups.set("", [value]);
    return [...groups].map(([group, items]) => ({ group, items }));
  }, [models.data, value]);
  return (
    <Select
      aria-label={texts.playground.model}
      {...select}
      data={data}
      value={value || null}
      onChange={(model) => model && onChange(model)}
      // What is typed before the first model is known would be replaced by its name.
      disabled={models.isPending}
      searchable
      limit={SHOWN}
      allowDeselect={false}
      nothingFoundMessage={models.isPending ? texts.common.loading : texts.common.noMatch}
      comboboxProps={{ width: "max-content", position: "bottom-start" }}
    />
  );
}
