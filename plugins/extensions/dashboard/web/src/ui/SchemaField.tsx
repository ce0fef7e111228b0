/** One field of a form that is made of a JSON Schema. */
import { NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";

import { texts } from "~/texts";

/** The part of JSON Schema that settings and accounts use. */
export interface Property {
  $ref?: string;
  $defs?: Record<string, Property>;
  type?: string | readonly string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Property[];
  items?: Property;
  properties?: Record<string, Property>;
  minimum?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
  writeOnly?: boolean;
  examples?: readonly unknown[];
}

/** What a reference stands for; of several possibilities the one that is not `null`. */
export function resolve(property: Property, document: Property): Property {
  if (property.$ref) {
    const name = property.$ref.split("/").at(-1) ?? "";
    return { ...resolve(document.$defs?.[name] ?? {}, document), ...without(property) };
  }
  const choices = property.anyOf?.filter(({ type }) => type !== "null");
  if (choices?.length === 1 && choices[0]) return { ...resolve(choices[0], document), ...without(property) };
  return property;
}

function without({ $ref: _reference, anyOf: _choices, ...rest }: Property): Property {
  return rest;
}

interface Props {
  name: string;
  property: Property;
  secret?: boolean;
  hint?: string;
  value: unknown;
  onChange: (value: unknown) => void;
}

export function SchemaField({ name, property, secret, hint, value, onChange }: Props) {
  const label = property.title ?? name;
  const description = [property.description, hint].filter(Boolean).join(" ");
  const shared = { label, description: description || undefined };
  if (property.type === "boolean")
    return <Switch {...shared} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
  if (property.enum)
    return <Select {...shared} data={property.enum.map(String)} value={value == null ? null : String(value)} onChange={onChange} allowDeselect={false} />;
  if (property.type === "integer" || property.type === "number")
    return (
      <NumberInput
        {...shared}
        value={typeof value === "number" ? value : ""}
        min={property.minimum}
        max={property.maximum}
        allowDecimal={property.type === "number"}
        onChange={(entered) => onChange(entered === "" ? null : Number(entered))}
      />
    );
  if (property.type === "array" && property.items?.type === "string")
    return <TagsInput {...shared} value={Array.isArray(value) ? value.map(String) : []} onChange={onChange} />;
  if (property.type === "string" || property.type === undefined) {
    const text = typeof value === "string" ? value : "";
    const enter = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
    return secret ? (
      <PasswordInput {...shared} value={text} onChange={enter} autoComplete="off" />
    ) : (
      <TextInput {...shared} value={text} onChange={enter} placeholder={property.default == null ? undefined : String(property.default)} />
    );
  }
  return <JsonField {...shared} value={value} onChange={onChange} />;
}

/** Whatever has no field of its own, as JSON; it counts as soon as it can be read. */
function JsonField({ label, description, value, onChange }: Pick<Props, "value" | "onChange"> & { label: string; description?: string }) {
  const [text, setText] = useState(() => JSON.stringify(value ?? null, null, 2));
  const [isSound, setSound] = useState(true);
  return (
    <Textarea
      label={label}
      description={description}
      autosize
      maxRows={12}
      ff="monospace"
      error={isSound ? undefined : texts.common.noJson}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        try {
          onChange(JSON.parse(event.currentTarget.value));
          setSound(true);
        } catch {
          setSound(false);
        }
      }}
    />
  );
}
