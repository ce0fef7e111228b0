"""Names of OpenTelemetry's conventions for generative AI, which are still in development.

https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from collections.abc import Mapping

from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes import error_attributes, http_attributes, server_attributes

OPERATION = gen_ai.GEN_AI_OPERATION_NAME
PROVIDER = gen_ai.GEN_AI_PROVIDER_NAME
REQUEST_MODEL = gen_ai.GEN_AI_REQUEST_MODEL
RESPONSE_MODEL = gen_ai.GEN_AI_RESPONSE_MODEL
STREAM = gen_ai.GEN_AI_REQUEST_STREAM
INPUT_TOKENS = gen_ai.GEN_AI_USAGE_INPUT_TOKENS
OUTPUT_TOKENS = gen_ai.GEN_AI_USAGE_OUTPUT_TOKENS
CACHE_READ_TOKENS = gen_ai.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS
CACHE_CREATION_TOKENS = gen_ai.GEN_AI_USAGE_CACHE_CREATION_INPUT_TOKENS
REASONING_TOKENS = gen_ai.GEN_AI_USAGE_REASONING_OUTPUT_TOKENS
FIRST_CHUNK = gen_ai.GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK
INPUT_MESSAGES = gen_ai.GEN_AI_INPUT_MESSAGES
TOKEN_TYPE = gen_ai.GEN_AI_TOKEN_TYPE
ERROR_TYPE = error_attributes.ERROR_TYPE
SERVER_ADDRESS, SERVER_PORT = server_attributes.SERVER_ADDRESS, server_attributes.SERVER_PORT
ROUTE, HTTP_STATUS = http_attributes.HTTP_ROUTE, http_attributes.HTTP_RESPONSE_STATUS_CODE

CLIENT_DURATION = gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION
CLIENT_FIRST_CHUNK = gen_ai_metrics.GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK
TOKEN_USAGE = gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE
SERVER_DURATION = gen_ai_metrics.GEN_AI_SERVER_REQUEST_DURATION
SERVER_FIRST_TOKEN = gen_ai_metrics.GEN_AI_SERVER_TIME_TO_FIRST_TOKEN

DURATIONS = (
    *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
)
"""Bounds of buckets that the conventions name for durations, seconds."""
TOKENS = tuple(float(4**power) for power in range(14))
"""The same for tokens."""

SAMPLING: Mapping[str, tuple[str, type]] = {
    "temperature": (gen_ai.GEN_AI_REQUEST_TEMPERATURE, float),
    "top_p": (gen_ai.GEN_AI_REQUEST_TOP_P, float),
    "top_k": (gen_ai.GEN_AI_REQUEST_TOP_K, float),
    "max_tokens": (gen_ai.GEN_AI_REQUEST_MAX_TOKENS, int),
    "max_completion_tokens": (gen_ai.GEN_AI_REQUEST_MAX_TOKENS, int),
    "max_output_tokens": (gen_ai.GEN_AI_REQUEST_MAX_TOKENS, int),
    "frequency_penalty": (gen_ai.GEN_AI_REQUEST_FREQUENCY_PENALTY, float),
    "presence_penalty": (gen_ai.GEN_AI_REQUEST_PRESENCE_PENALTY, float),
    "seed": (gen_ai.GEN_AI_REQUEST_SEED, int),
}
"""Top-level members of requests that an attribute exists for, with the type of its value."""

_PROVIDERS = {
    "azure-openai": gen_ai.GenAiProviderNameValues.AZURE_AI_OPENAI.value,
    "bedrock": gen_ai.GenAiProviderNameValues.AWS_BEDROCK.value,
    "gemini": gen_ai.GenAiProviderNameValues.GCP_GEMINI.value,
    "mistral": gen_ai.GenAiProviderNameValues.MISTRAL_AI.value,
    "moonshot": "moonshot_ai",
    "vertex": gen_ai.GenAiProviderNameValues.GCP_VERTEX_AI.value,
    "watsonx": gen_ai.GenAiProviderNameValues.IBM_WATSONX_AI.value,
    "xai": gen_ai.GenAiProviderNameValues.X_AI.value,
}
_OPERATIONS = gen_ai.GenAiOperationNameValues


def provider_name(provider: str) -> str:
    """The conventions' name of a vendor; those it does not list keep their own."""
    return _PROVIDERS.get(provider, provider)


def operation_of(path: str) -> str:
    """What a client asks for, from the path of the route."""
    if path.endswith(("/embeddings", "/embed")):
        return _OPERATIONS.EMBEDDINGS.value
    if (path.endswith("/completions") and "chat" not in path) or path.endswith("/api/generate"):
        return _OPERATIONS.TEXT_COMPLETION.value
    if "/v1beta/" in path:
        return _OPERATIONS.GENERATE_CONTENT.value
    if path.endswith(("/chat/completions", "/messages", "/responses", "/api/chat")):
        return _OPERATIONS.CHAT.value
    words = [each for each in path.split("/") if each and "{" not in each and each != "v1"]
    return "_".join(words) or "other"
