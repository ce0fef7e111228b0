/** The typed client of the management API: the session's cookie goes along, errors are thrown. */
import createFetchClient, { type Middleware } from "openapi-fetch";
import createQueryClient from "openapi-react-query";

import { early } from "./early";
import type { components, paths } from "./schema";

/** A struct of the API by its name in the OpenAPI document. */
export type Shape<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** What the gateway answered instead. `body` has further members, such as `retryAfter`. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string | null = null,
    readonly requestId: string | null = null,
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }

  /** No answer at all: the gateway is not running, or the network is down. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** Reads an error of the management API, or one in a client format's envelope. */
export async function readError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-request-id");
  const text = await response.text();
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const inner = typeof body.error === "object" && body.error !== null ? body.error : null;
    const facts = (inner ?? body) as Record<string, unknown>;
    const message = inner ? facts.message : body.error;
    return new ApiError(
      typeof message === "string" ? message : response.statusText,
      response.status,
      typeof facts.code === "string" ? facts.code : null,
      requestId ?? (typeof body.request_id === "string" ? body.request_id : null),
      body,
    );
  } catch {
    return new ApiError(text.slice(0, 300) || response.statusText, response.status, null, requestId);
  }
}

type Listener = () => void;
const signedOut = new Set<Listener>();

/** Calls `listener` whenever the session turns out to have ended. */
export function onSignedOut(listener: Listener): () => void {
  signedOut.add(listener);
  return () => signedOut.delete(listener);
}

const errors: Middleware = {
  async onResponse({ request, response }) {
    if (response.ok) return undefined;
    const error = await readError(response);
    const isSigningIn = new URL(request.url).pathname.startsWith("/api/auth/");
    // A password that a route wants besides the session is no end of the session.
    const isMistyped = error.code === "invalid_credential";
    if (response.status === 401 && !isSigningIn && !isMistyped) for (const listener of signedOut) listener();
    throw error;
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === "AbortError") return error;
    return new ApiError("The gateway does not answer", 0);
  },
};

export const api = createFetchClient<paths>({ baseUrl: window.location.origin });
api.use(early, errors);

/** Queries and mutations by path: `query.useQuery("get", "/api/keys")`. */
export const query = createQueryClient(api);

/** The sentence to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
