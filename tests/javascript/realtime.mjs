// One turn of a realtime session, as a page in a browser has it: the key is in a subprotocol.
import OpenAI from "openai";
import { OpenAIRealtimeWebSocket } from "openai/realtime/websocket";

const [url, key, model] = process.argv.slice(2);
const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, dangerouslyAllowBrowser: true });
const realtime = new OpenAIRealtimeWebSocket({ model }, client);
const events = [];

function end() {
  console.log(JSON.stringify({ events, protocol: realtime.socket.protocol }));
  realtime.close();
}

realtime.on("event", (event) => events.push(event));
realtime.on("error", end);
realtime.on("response.done", end);
realtime.on("session.created", () => {
  const content = [{ type: "input_text", text: "Hi" }];
  realtime.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
  realtime.send({ type: "response.create" });
});
