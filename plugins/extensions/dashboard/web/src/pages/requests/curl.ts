/** A kept request as a command for a terminal. */

export interface KeptPart {
  headers?: Record<string, string>;
  body?: unknown;
  /** Only the beginning was kept. */
  _truncated?: boolean;
}

/** The contents of a call, as far as they are kept. */
export interface Kept {
  request: KeptPart | null;
  providerRequest: (KeptPart & { url?: string; method?: string }) | null;
  providerResponse: KeptPart | null;
  response: KeptPart | null;
}

export interface Called {
  /** A path with parameters in braces. */
  endpoint: string;
  requestedModel: string;
}

/** Headers that belong to the connection or to its proxies, that say how a body was packed, or that a browser or a library adds. */
const LEFT_OUT =
  /^(host|content-length|content-encoding|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|via|forwarded|x-forwarded-.*|x-real-ip|accept|accept-.*|user-agent|origin|referer|sec-.*|priority|x-stainless-.*)$/i;
const FORM = /^multipart\//i;

/** The command; none where what is kept is less than the request: its beginning, or a form without its files. */
export function curlOf({ endpoint, requestedModel }: Called, kept: Kept, origin: string = window.location.origin): string | null {
  const { request } = kept;
  const path = encodeURI(endpoint.replace("{model}", requestedModel));
  const all = Object.entries(request?.headers ?? {});
  const isForm = all.some(([name, value]) => name.toLowerCase() === "content-type" && FORM.test(value));
  if (!request || request._truncated || isForm || /%7B.*%7D/.test(path)) return null;
  const headers = all.filter(([name]) => !LEFT_OUT.test(name)).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`);
  const { body } = request;
  const text = typeof body === "string" ? body : JSON.stringify(body ?? "");
  return [
    `curl ${quoted(origin + path)}`,
    '  -H "authorization: Bearer $GATEWAY_KEY"',
    ...headers,
    ...(body ? [`  -d ${quoted(text)}`] : []),
  ].join(" \\\n");
}

/** A word of a POSIX shell: only a single quote ends a single-quoted string. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
