/** Answers that `public/early.js` has asked for while this script was on its way. */
import type { Middleware } from "openapi-fetch";

declare global {
  interface Window {
    /** By path and query. */
    gatewayEarly?: Map<string, Promise<Response>>;
  }
}

/** What is older was asked for by a page that nobody looks at any more. */
const FRESH_MS = 10_000;

/** Gives each of them to the first who asks; what went wrong is asked for again. */
export const early: Middleware = {
  async onRequest({ request }) {
    const path = request.url.slice(window.location.origin.length);
    const answer = request.method === "GET" ? window.gatewayEarly?.get(path) : undefined;
    if (!answer) return undefined;
    window.gatewayEarly?.delete(path);
    if (performance.now() > FRESH_MS) return undefined;
    const response = await answer.catch(() => null);
    return response?.ok ? response : undefined;
  },
};
