// Calls every service of the completions vendor with its own client, and prints what came back.
import OpenAI, { toFile } from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });
const recording = () => toFile(Buffer.from("RIFF-sound"), "hi.wav", { type: "audio/wav" });
const picture = () => toFile(Buffer.from("\x89PNG"), "red.png", { type: "image/png" });
const print = (name, value) => console.log(JSON.stringify([name, value]));

const vectors = await client.embeddings.create({
  model: "openai/text-embedding-3-small",
  input: ["Hello, world!"],
  dimensions: 128,
});
print("embeddings", [vectors.data[0].embedding.length, vectors.usage.prompt_tokens]);

const flagged = await client.moderations.create({
  model: "openai/text-moderation-latest",
  input: "i want to kill them.",
});
print("moderation", flagged.results[0].flagged);

const painted = await client.images.generate({
  model: "openai/dall-e-2",
  prompt: "sleepy capybara with monkey on top",
  response_format: "b64_json",
});
print("image", painted.data[0].b64_json.slice(0, 8));

const edited = await client.images.edit({
  model: "openai/dall-e-2",
  image: await picture(),
  prompt: "Change all red to blue",
  n: 1,
});
print("edit", edited.data[0].url.startsWith("https://"));

const events = await client.images.generate({
  model: "openai/gpt-image-1",
  prompt: "a siamese cat",
  stream: true,
  partial_images: 1,
});
const types = [];
for await (const event of events) types.push(event.type);
print("image stream", types);

const spoken = await client.audio.speech.create({
  model: "openai/gpt-4o-mini-tts",
  input: "Hello",
  voice: "ash",
  response_format: "pcm",
});
print("speech", (await spoken.arrayBuffer()).byteLength);

const heard = await client.audio.transcriptions.create({
  model: "openai/gpt-4o-mini-transcribe",
  file: await recording(),
});
print("transcription", heard.text);

const deltas = await client.audio.transcriptions.create({
  model: "openai/gpt-4o-transcribe",
  file: await recording(),
  stream: true,
});
let text = "";
for await (const event of deltas) {
  if (event.type === "transcript.text.delta") text += event.delta;
}
print("transcription stream", text);

const translated = await client.audio.translations.create({
  model: "openai/whisper-1",
  file: await recording(),
});
print("translation", translated.text);

try {
  await client.images.generate({ model: "openai/text-embedding-3-small", prompt: "x" });
} catch (error) {
  print("error", [error.constructor.name, error.status, error.message]);
}
