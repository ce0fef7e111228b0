"""The dialects of the mock vendor, and the detection of a request's dialect."""

from .bedrock import BEDROCK
from .claude import CLAUDE
from .cohere import COHERE
from .frames import Dialect
from .gemini import GEMINI
from .ollama import OLLAMA
from .openai import OPENAI
from .responses import RESPONSES
from .server import ReceivedRequest

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


def find_dialect(request: ReceivedRequest) -> Dialect:
    """Chosen by the end of the path; chat completions by default."""
    return next((dialect for end, dialect in _ENDS.items() if request.path.endswith(end)), OPENAI)


def wants_stream(request: ReceivedRequest, member: str = "stream") -> bool:
    """Whether the request asks for a stream, in any dialect."""
    if request.path.endswith((":streamGenerateContent", "/converse-stream")):
        return True
    default = request.path.endswith("/api/chat")
    return bool(request.members().get(member, default))
