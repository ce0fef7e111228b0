// A page that asks a gateway of another origin, with the SDK as its authors ship it.
import OpenAI from "openai";

const settings = await (await fetch("/settings")).json();
const client = (apiKey) =>
  new OpenAI({ apiKey, baseURL: `${settings.gateway}/v1`, dangerouslyAllowBrowser: true, maxRetries: 0 });
const messages = [{ role: "user", content: "hello" }];
const model = settings.model;
const found = {};

async function attempt(name, work) {
  try {
    found[name] = await work();
  } catch (error) {
    found[name] = { error: error.constructor.name, status: error.status ?? null, id: error.requestID ?? null };
  }
}

const good = client(settings.key);
await attempt("whole", async () => {
  const { data, response } = await good.chat.completions.create({ model, messages }).withResponse();
  return { text: data.choices[0].message.content, id: response.headers.get("x-request-id") };
});
await attempt("stream", async () => {
  let text = "";
  for await (const chunk of await good.chat.completions.create({ model, messages, stream: true })) {
    text += chunk.choices[0]?.delta?.content ?? "";
  }
  return { text };
});
await attempt("models", async () => ({ count: (await good.models.list()).data.length }));
await attempt("bad model", () => good.chat.completions.create({ model: "nobody/x", messages }));
await attempt("bad key", () => client("sk-wrong").chat.completions.create({ model, messages }));
await attempt("no key", async () => ({
  status: (await fetch(`${settings.gateway}/v1/models`)).status,
}));
await attempt("management", async () => ({
  status: (await fetch(`${settings.gateway}/api/keys`, {
    headers: { authorization: `Bearer ${settings.key}` },
  })).status,
}));
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
