"""Every dialect the mock vendor speaks, and which of them a request is made in."""

from .bedrock import BEDROCK
from .claude import CLAUDE
from .cohere import COHERE
from .frames import Dialect
from .gemini import GEMINI
from .ollama import OLLAMA
from .openai import OPENAI
from .responses import RESPONSES
from .server import Asked

DIALECTS = {
    dialect.id: dialect for dialect in (OPENAI, RESPONSES, CLAUDE, GEMINI, OLLAMA, BEDROCK, COHERE)
}
_ENDS = {
    "/chat/completions": OPENAI,
    "/responses": RESPONSES,
    "/messages": CLAUDE,
    ":generateContent": GEMINI,
    ":streamGenerateContent": GEMINI,
    "/api/chat": OLLAMA,
    "/converse": BEDROCK,
    "/converse-stream": BEDROCK,
    "/v2/chat": COHERE,
}


def dialect_of(asked: Asked) -> Dialect:
    """By the end of the path; chat completions where that says nothing."""
    return next((said for end, said in _ENDS.items() if asked.path.endswith(end)), OPENAI)


def wants_stream(asked: Asked) -> bool:
    """Whether the request asks for a stream, in any dialect."""
    if asked.path.endswith((":streamGenerateContent", "/converse-stream")):
        return True
    usual = asked.path.endswith("/api/chat")
    return bool(asked.members().get("stream", usual))
