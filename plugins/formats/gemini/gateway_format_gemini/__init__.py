"""The generative-content format, for clients and for vendors.

API reference: https://ai.google.dev/api/generate-content

Switches a provider of this format may set in its ``options``:

``json_schema``
    True sends schemas as they are, as ``parametersJsonSchema`` and
    ``responseJsonSchema``. Otherwise they are rewritten for the API's own
    schema language, which every version of it takes.
``call_ids``
    False leaves ids out of function calls and their results.
``signature_placeholder``
    False leaves a function call of the current turn without a signature when
    it is lost. Otherwise it gets the vendor's documented placeholder.
``server_tool_invocations``
    False does not ask for the vendor's own tool calls to be shown when its
    tools stand beside functions.
``system_instruction``
    False sends instructions as the user's first words.
"""

from gateway_core import ClientSide, KeepAlive, VendorSide, WireFormat, hookimpl

from ._dialect import DIALECT
from .client_replies import write_reply
from .client_requests import ENDPOINTS, read_request
from .client_stream import GeminiStreamWriter, write_losses
from .errors import read_error, write_error, write_late_error
from .grammar import GRAMMAR
from .relay import start_relay
from .vendor_replies import read_reply
from .vendor_requests import model_path, write_request
from .vendor_stream import GeminiStreamReader


class _Client:
    read_request = staticmethod(read_request)
    write_reply = staticmethod(write_reply)
    stream_writer = GeminiStreamWriter
    write_error = staticmethod(write_error)


class _Vendor:
    write_request = staticmethod(write_request)
    read_reply = staticmethod(read_reply)
    stream_reader = GeminiStreamReader
    read_error = staticmethod(read_error)

    def path(self, model: str, stream: bool) -> str:
        return model_path(model, "streamGenerateContent?alt=sse" if stream else "generateContent")

    relay = staticmethod(start_relay)


_client: ClientSide = _Client()
_vendor: VendorSide = _Vendor()

_CONFIG = {
    "candidates": "candidateCount",
    "effort": "thinkingConfig",
    "output_description": "responseSchema.description",
    "frequency_penalty": "frequencyPenalty",
    "logprobs": "responseLogprobs",
    "max_tokens": "maxOutputTokens",
    "output_json": "responseMimeType",
    "output_schema": "responseSchema",
    "presence_penalty": "presencePenalty",
    "seed": "seed",
    "stop": "stopSequences",
    "temperature": "temperature",
    "thinking": "thinkingConfig",
    "top_k": "topK",
    "top_p": "topP",
}
SWITCHES = (
    *("json_schema", "call_ids", "signature_placeholder"),
    *("server_tool_invocations", "system_instruction"),
)
GEMINI = WireFormat(
    id="gemini",
    options=dict.fromkeys(SWITCHES, (True, False)),
    dialect=DIALECT,
    endpoints=ENDPOINTS,
    client=_client,
    vendor=_vendor,
    stream_type="text/event-stream",
    # Google's SDKs for Python and Go fail on a comment, and pass over an empty frame. The older SDK
    # for JavaScript, @google/generative-ai, fails on that too.
    keep_alive=KeepAlive(frame=b"\n\n", throughout=True, spares=("x-goog-api-client", "genai-js/")),
    grammar=GRAMMAR,
    model_in_body=False,
    model_prefix="models/",
    auth_header="x-goog-api-key",
    auth_prefix="",
    also_called=("google",),
    plain_models=True,
    media_names=dict.fromkeys(("image", "audio", "video", "document"), "inlineData"),
    late_error=write_late_error,
    spelling={
        **{name: f"generationConfig.{spelt}" for name, spelt in _CONFIG.items()},
        "content": "parts",
        "messages": "contents",
        "reasoning_signature": "thoughtSignature",
        "service_tier": "serviceTier",
        "tool_choice": "toolConfig.functionCallingConfig",
    },
    trailer=write_losses,
    base_url="https://generativelanguage.googleapis.com/v1beta",
)


@hookimpl
def register_formats() -> list[WireFormat]:
    return [GEMINI]
