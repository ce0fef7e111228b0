/** What JSON Schema says of a text that is typed into a field. */
import { texts } from "~/texts";
import type { Property } from "./SchemaField";

const { faults } = texts.common;

/** What is wrong with a text; null where nothing is. An empty text is no value. */
export function faultOf(property: Property, text: string): string | null {
  const value = text.trim();
  if (value === "") return null;
  if (Array.isArray(property.type)) return isObject(value) ? null : faults.document;
  if (property.format === "uri" && !isAddress(value)) return faults.address;
  if (property.pattern && !matches(property.pattern, value)) return faults.form(property.examples?.map(String)[0]);
  return null;
}

export function isAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && URL.canParse(text);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A pattern that no browser understands refuses nothing; the gateway looks at the value too. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}
