"""LiteLLM's names of vendors, their parameters and the kinds of models, in this gateway's words.

From https://docs.litellm.ai/docs/providers.
"""

from collections.abc import Collection, Mapping

VENDORS: Mapping[str, str] = {
    "azure": "azure-openai",
    "azure_text": "azure-openai",
    "cloudflare": "cloudflare-ai",
    "codestral": "codestral",
    "cohere_chat": "cohere",
    "dashscope": "qwen",
    "fireworks_ai": "fireworks",
    "github": "github-models",
    "lm_studio": "lmstudio",
    "meta_llama": "meta-llama",
    "nvidia_nim": "nvidia",
    "ollama_chat": "ollama",
    "text-completion-codestral": "codestral",
    "text-completion-openai": "openai",
    "together_ai": "together",
    "vertex_ai": "vertex",
    "vertex_ai_beta": "vertex",
    "voyage": "voyage-ai",
    "zai": "glm",
}
"""Those that are not the same but for their punctuation."""
ADDRESSED = frozenset({"openai", "custom_openai", "hosted_vllm", "vllm", "openai_like"})
"""Names that stand for any server of the OpenAI format, so that an address makes a node."""
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "azure-openai": {"api_base": "azureEndpoint", "api_version": "apiVersion"},
    "bedrock": {
        "aws_region_name": "region",
        "aws_access_key_id": "accessKeyId",
        "aws_secret_access_key": "secretAccessKey",
        "aws_session_token": "sessionToken",
    },
    "vertex": {
        "vertex_project": "project",
        "vertex_location": "location",
        "vertex_credentials": "serviceAccount",
    },
    "openai": {"organization": "organization"},
}
"""Members of an account's data, by vendor and parameter."""
MODES: Mapping[str, str] = {
    "chat": "llm",
    "completion": "llm",
    "responses": "llm",
    "embedding": "embedding",
    "image_generation": "image",
    "audio_transcription": "stt",
    "audio_speech": "tts",
    "rerank": "rerank",
    "moderation": "moderation",
    "video_generation": "video",
}


def vendor_of(name: str, known: Collection[str]) -> str | None:
    """The id of LiteLLM's vendor here; ``None`` where there is none."""
    if VENDORS.get(name, name) in known:
        return VENDORS.get(name, name)
    plain = _plain(name)
    return next((each for each in known if _plain(each) == plain), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))
