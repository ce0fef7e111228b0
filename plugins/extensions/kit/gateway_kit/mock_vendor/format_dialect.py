"""A format that the mock vendor has no words of its own for, spoken by the format's client side."""

from collections.abc import Sequence

from gateway_core import (
    AnyPart,
    Choice,
    ChoiceEnded,
    ClientSide,
    Conversation,
    Losses,
    Reasoning,
    Reply,
    ReplyFailed,
    Text,
    ToolCall,
    UpstreamError,
    Usage,
    WireFormat,
)
from gateway_formats.fold import unfold

from .content import THINKING, Content
from .frames import Dialect, Frame, encode


def dialect_from_format(wire: WireFormat) -> Dialect | None:
    """The dialect of an installed format; ``None`` for one without a client side."""
    if wire.client is None:
        return None
    speaker = _FormatSpeaker(wire.client)
    return Dialect(
        id=wire.id,
        framing="lines" if "ndjson" in wire.stream_type else "sse",
        whole=speaker.whole,
        stream=speaker.stream,
        refusal=speaker.refusal,
        broken=speaker.broken,
        thinks=speaker.thinks(),
    )


class _FormatSpeaker:
    def __init__(self, client: ClientSide) -> None:
        self._client = client

    def whole(self, content: Content, model: str) -> bytes:
        return self._client.write_reply(_reply(content, model), Conversation(), Losses())

    def stream(self, content: Content, model: str) -> Sequence[Frame]:
        writer = self._client.stream_writer(Conversation(stream=True, model=model), Losses())
        frames = [
            Frame("finish" if isinstance(event, ChoiceEnded) else "text", writer.feed((event,)))
            for event in unfold(_reply(content, model))
        ]
        return [frame for frame in [*frames, Frame("end", writer.close())] if frame.data]

    def thinks(self) -> bool:
        """Whether the format has a member for thinking."""
        try:
            return THINKING.thinking[0].encode() in self.whole(THINKING, "model-1")
        except Exception:  # the format's own cases report it
            return True

    def refusal(self, text: str, status: int) -> bytes:
        return self._client.write_error(UpstreamError(text, status=status), "r-1")

    def broken(self, text: str) -> bytes:
        writer = self._client.stream_writer(Conversation(stream=True), Losses())
        return writer.feed((ReplyFailed(text),)) or encode({"error": text})


def _reply(content: Content, model: str) -> Reply:
    parts: list[AnyPart] = []
    if content.thinking:
        parts.append(Reasoning(text="".join(content.thinking)))
    if content.text:
        parts.append(Text(text=content.words))
    for call in content.calls:
        arguments = encode(call.arguments).decode()
        parts.append(ToolCall(id=call.id, name=call.name, arguments=arguments))
    finish = "tool_calls" if content.calls else "stop"
    choice = Choice(parts=tuple(parts), finish=finish)  # type: ignore[arg-type]
    usage: Usage | None = None
    if content.usage is not None:
        usage = Usage(
            input_tokens=content.usage.input,
            output_tokens=content.usage.output,
            cached_tokens=content.usage.cached,
            reasoning_tokens=content.usage.reasoning,
        )
    return Reply(id="r-1", model=model, choices=(choice,), usage=usage)
