/** Code that calls the gateway, for the clients that people use. */

export interface Call {
  /** Scheme, host and port. */
  origin: string;
  key: string;
  model: string;
}

export interface Snippet {
  id: string;
  label: string;
  code: (call: Call) => string;
}

const HELLO = "Hello";

export const SNIPPETS: readonly Snippet[] = [
  {
    id: "curl",
    label: "curl",
    code: ({ origin, key, model }) =>
      `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ model, messages: [{ role: "user", content: HELLO }] })}'`,
  },
  {
    id: "openai",
    label: "Python openai",
    code: ({ origin, key, model }) =>
      `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    id: "anthropic",
    label: "Python anthropic",
    code: ({ origin, key, model }) =>
      `# pip install anthropic
from anthropic import Anthropic

client = Anthropic(base_url="${origin}", api_key="${key}")
answer = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "${HELLO}"}],
)
print(answer.content[0].text)`,
  },
  {
    id: "genai",
    label: "Python google-genai",
    code: ({ origin, key, model }) =>
      `# pip install google-genai
from google import genai

client = genai.Client(api_key="${key}", http_options={"base_url": "${origin}"})
answer = client.models.generate_content(model="${model}", contents="${HELLO}")
print(answer.text)`,
  },
  {
    id: "javascript",
    label: "JavaScript",
    code: ({ origin, key, model }) =>
      `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${key}" });
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "${HELLO}" }],
});
console.log(answer.choices[0].message.content);`,
  },
  {
    id: "claude-code",
    label: "Claude Code",
    code: ({ origin, key, model }) =>
      `export ANTHROPIC_BASE_URL="${origin}"
export ANTHROPIC_AUTH_TOKEN="${key}"
export ANTHROPIC_MODEL="${model}"
claude`,
  },
  {
    id: "codex",
    label: "Codex",
    code: ({ origin, key, model }) =>
      `export GATEWAY_KEY="${key}"
codex -c model="${model}" \\
  -c model_provider=gateway \\
  -c model_providers.gateway.name="Model Gateway" \\
  -c model_providers.gateway.base_url="${origin}/v1" \\
  -c model_providers.gateway.env_key=GATEWAY_KEY \\
  -c model_providers.gateway.wire_api=responses`,
  },
  {
    id: "gemini-cli",
    label: "Gemini CLI",
    code: ({ origin, key, model }) =>
      `export GOOGLE_GEMINI_BASE_URL="${origin}"
export GEMINI_API_KEY="${key}"
gemini --model "${model}"`,
  },
  {
    id: "aider",
    label: "aider",
    code: ({ origin, key, model }) =>
      `export OPENAI_API_BASE="${origin}/v1"
export OPENAI_API_KEY="${key}"
aider --model "openai/${model}"`,
  },
  {
    id: "environment",
    label: "Environment",
    code: ({ origin, key }) =>
      `export OPENAI_BASE_URL="${origin}/v1"
export OPENAI_API_KEY="${key}"
export ANTHROPIC_BASE_URL="${origin}"
export ANTHROPIC_API_KEY="${key}"`,
  },
];
