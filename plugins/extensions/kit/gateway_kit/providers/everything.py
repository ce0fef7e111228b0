"""One request with everything in it that a client may send, in any client's format."""

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway_core import (
    Conversation,
    Losses,
    Model,
    ProviderSpec,
    Sampling,
    Target,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Turn,
)

from .chat_requests import ChatRequest, build_request
from .subject import ProviderUnderTest, Route

MARKS = {
    "rule4711": "the system text",
    "first4711": "the first message",
    "second4712": "an earlier answer",
    "third4713": "the last message",
    "tool4714": "the tool",
    "about4715": "the tool's description",
    "city4716": "the tool's schema",
    "argued4717": "the arguments of an earlier call",
    "result4718": "the result of an earlier call",
}
_CALL = ToolCall(id="call_00001", name="tool4714", arguments='{"city4716":"argued4717"}')
_TURNS = (
    Turn("user", (Text(text="first4711"),)),
    Turn("assistant", (Text(text="second4712"), _CALL)),
    Turn(
        "user",
        (ToolResult(call_id=_CALL.id, name=_CALL.name, content=(Text(text="result4718"),)),),
    ),
    Turn("user", (Text(text="third4713"),)),
)
_TOOL = Tool(
    name="tool4714",
    description="about4715",
    schema=Raw(b'{"type":"object","properties":{"city4716":{"type":"string"}}}'),
)


class Asked(Struct, frozen=True):
    """A request, and the marks that are in it."""

    request: ChatRequest
    marks: tuple[str, ...]


def everything(subject: ProviderUnderTest, route: Route) -> Asked:
    """Written by the client format's own vendor side, as a client would write it."""
    has_tools = "tools" not in {*subject.spec.drop, *route.model.unsupported, *subject.lacks}
    # The results of tools are in the middle of the history.
    has_tools = has_tools and not subject.lacks & {"history"}
    turns = _TURNS if has_tools else (_TURNS[0], _TURNS[-1])
    conversation = Conversation(
        instructions=() if "system" in subject.lacks else (Text(text="rule4711"),),
        turns=turns[-1:] if "history" in subject.lacks else turns,
        tools=(_TOOL,) if has_tools else (),
        sampling=Sampling(max_tokens=5417),
    )
    request, _ = write_for(subject, route, conversation)
    text = request.body.decode()
    return Asked(request, tuple(mark for mark in MARKS if mark in text))


def write_for(
    subject: ProviderUnderTest, route: Route, conversation: Conversation
) -> tuple[ChatRequest, Losses]:
    """A conversation as a client of the route would send it, and what its format cannot say."""
    usual, losses = build_request(subject, route, stream=False), Losses()
    vendor = subject.registry.formats[route.client].vendor
    assert vendor is not None, "every client format of the kit has a vendor side"
    provider = ProviderSpec(id="kit-client", name="Kit", format=route.client)
    model = f"{subject.spec.id}/{route.model.id}"
    dialect = subject.registry.formats[route.client].dialect
    conversation = replace(conversation, model=model, dialect=dialect)
    members = msgspec.json.decode(
        vendor.write_request(conversation, Target(provider, Model(model)), losses)
    )
    if route.client != "gemini":
        members["stream"] = False
    request = ChatRequest(
        path=usual.path, body=msgspec.json.encode(members), client=route.client, stream=False
    )
    return request, losses
