"""Requests that clients send."""

from gateway_core import (
    AnyPart,
    BadRequest,
    Call,
    Conversation,
    Media,
    Reasoning,
    Sampling,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Turn,
)

from ._wire_types import (
    UNREADABLE,
    CallPart,
    ImagePart,
    Request,
    ResultPart,
    TextPart,
    ThoughtPart,
    decode_request,
)

DIALECT = "aspen"
SAMPLING_FIELDS = ("max_tokens", "temperature", "top_p", "top_k", "seed", "stop")
"""The fields of ``Sampling`` that this format has members for, under the same names."""


def read_request(call: Call) -> Conversation:
    """Raises BadRequest."""
    try:
        request = decode_request(call.body)
    except UNREADABLE as error:
        raise BadRequest(f"The request cannot be read: {error}") from None
    return Conversation(
        instructions=(Text(text=request.system),) if request.system else (),
        turns=tuple(
            Turn(message.role, tuple(map(_read_part, message.parts)))
            for message in request.messages
        ),
        tools=tuple(
            Tool(
                name=tool.name,
                description=tool.description,
                schema=None if bytes(tool.schema) == b"null" else tool.schema,
            )
            for tool in request.tools
        ),
        sampling=Sampling(**{name: getattr(request, name) for name in SAMPLING_FIELDS}),
        tool_choice=read_choice(request.choose),
        user=request.who,
        stream=request.stream,
        model=request.model,
        dialect=DIALECT,
        extra={k: v for k, v in call.members.items() if k not in Request.__struct_fields__},
    )


def read_choice(word: str | None) -> ToolChoice | None:
    """Raises BadRequest."""
    match word:
        case None:
            return None
        case "auto" | "none":
            return ToolChoice(word)
        case "any":
            return ToolChoice("required")
    if word.startswith("="):
        return ToolChoice("only", (word[1:],))
    raise BadRequest("choose must be auto, none, any or = and a name", param="choose")


def _read_part(part: TextPart | ThoughtPart | ImagePart | CallPart | ResultPart) -> AnyPart:
    match part:
        case TextPart(text):
            return Text(text=text)
        case ThoughtPart(text):
            return Reasoning(text=text)
        case ImagePart(media_type, data, url):
            if data is None and url is None:
                raise BadRequest("An image needs data or a url", param="messages")
            return Media(kind="image", media_type=media_type, data=data, url=url)
        case CallPart(id, name, arguments):
            return ToolCall(id=id, name=name, arguments=arguments)
        case ResultPart(id, text, failed):
            return ToolResult(call_id=id, content=(Text(text=text),), failed=failed)
