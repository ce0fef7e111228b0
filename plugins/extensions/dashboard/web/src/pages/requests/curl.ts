/** A kept request as a command for a terminal. */

export interface KeptPart {
  headers?: Record<string, string>;
  body?: unknown;
}

/** The contents of a call, as far as they are kept. */
export interface Kept {
  request: KeptPart | null;
  providerRequest: (KeptPart & { url?: string; method?: string }) | null;
  providerResponse: KeptPart | null;
  response: KeptPart | null;
}

/** Headers that belong to the connection, or that the gateway's own client sets. */
const LEFT_OUT = new Set(["host", "content-length", "connection", "accept-encoding", "user-agent", "accept", "transfer-encoding"]);

export function curlOf(endpoint: string, kept: Kept, origin: string = window.location.origin): string {
  const headers = Object.entries(kept.request?.headers ?? {})
    .filter(([name]) => !LEFT_OUT.has(name.toLowerCase()))
    .map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`);
  const body = kept.request?.body;
  return [
    `curl ${quoted(origin + endpoint)}`,
    '  -H "authorization: Bearer $GATEWAY_KEY"',
    ...headers,
    ...(body === undefined || body === null ? [] : [`  -d ${quoted(typeof body === "string" ? body : JSON.stringify(body))}`]),
  ].join(" \\\n");
}

/** A word of a POSIX shell: only a single quote ends a single-quoted string. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
