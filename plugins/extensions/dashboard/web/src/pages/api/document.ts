/** Reads an OpenAPI document: its operations in a row, and the outline of a schema. */

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema | false;
  prefixItems?: readonly Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: readonly string[];
}

interface Content {
  schema?: Schema;
  example?: unknown;
}

interface RawOperation {
  summary?: string;
  tags?: readonly string[];
  parameters?: readonly Parameter[];
  requestBody?: { content?: Record<string, Content> };
  responses?: Record<string, { content?: Record<string, Content> }>;
  "x-gateway-access"?: string;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
}

export interface Document {
  paths: Record<string, Record<string, RawOperation>>;
  components?: { schemas?: Record<string, Schema> };
  "x-gateway-access"?: Record<string, string>;
}

export interface Operation {
  /** `GET /api/keys`. */
  id: string;
  method: string;
  path: string;
  summary: string;
  tag: string;
  access: string;
  parameters: readonly Parameter[];
  body: Schema | null;
  example: unknown;
  answer: Schema | null;
}

export function listOperations(document: Document): Operation[] {
  return Object.entries(document.paths)
    .sort(([a], [b]) => a.localeCompare(b))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, raw]) => {
        const body = first(raw.requestBody?.content);
        const success = Object.entries(raw.responses ?? {}).find(([status]) => status.startsWith("2"))?.[1];
        return {
          id: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          summary: raw.summary ?? "",
          tag: raw.tags?.[0] ?? "",
          access: raw["x-gateway-access"] ?? "",
          parameters: raw.parameters ?? [],
          body: body?.schema ?? null,
          example: body?.example,
          answer: first(success?.content)?.schema ?? null,
        };
      }),
    );
}

function first(content: Record<string, Content> | undefined): Content | undefined {
  return content && Object.values(content)[0];
}

const DEEPEST = 6;

/** A schema as JSON would look, with types in the place of values. A type within itself is named. */
export function outline(schema: Schema, document: Document, depth = 0, within: readonly string[] = []): string {
  const name = schema.$ref?.split("/").at(-1);
  if (name) {
    if (within.includes(name) || depth > DEEPEST) return name;
    return outline(document.components?.schemas?.[name] ?? {}, document, depth, [...within, name]);
  }
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((each) => outline(each, document, depth, within)).join(" | ");
  if (schema.properties) {
    const pad = "  ".repeat(depth + 1);
    const lines = Object.entries(schema.properties).map(
      ([member, inner]) =>
        `${pad}"${member}"${schema.required?.includes(member) ? "" : "?"}: ${outline(inner, document, depth + 1, within)}`,
    );
    return `{\n${lines.join(",\n")}\n${"  ".repeat(depth)}}`;
  }
  if (schema.items) return `[${outline(schema.items, document, depth, within)}]`;
  if (schema.prefixItems) return `[${schema.prefixItems.map((each) => outline(each, document, depth, within)).join(", ")}]`;
  if (typeof schema.additionalProperties === "object") return `{ …: ${outline(schema.additionalProperties, document, depth, within)} }`;
  return Array.isArray(schema.type) ? schema.type.join(" | ") : String(schema.type ?? "any");
}

/** The call as a shell takes it; the key is a variable. */
export function curlOf({ method, path, example }: Operation, origin: string): string {
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${origin}${path}`, `  -H "Authorization: Bearer $GATEWAY_KEY"`];
  if (example !== undefined) {
    const body = JSON.stringify(example).replaceAll("'", `'\\''`);
    lines.push(`  -H "Content-Type: application/json"`, `  -d '${body}'`);
  }
  return lines.join(" \\\n");
}
