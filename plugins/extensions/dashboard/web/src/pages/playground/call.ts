/** Calls of a client endpoint by whoever is signed in. */
import { readError } from "~/api/client";

const PATH = "/api/playground";

/** Calls an endpoint such as `/v1/embeddings`. Throws an ApiError for any refusal. */
export async function callEndpoint(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const isForm = body instanceof FormData;
  const response = await fetch(PATH + path, {
    method: "POST",
    signal,
    headers: isForm ? {} : { "content-type": "application/json" },
    body: isForm ? body : JSON.stringify(body),
  });
  if (!response.ok) throw await readError(response);
  return response;
}
