"""Lines of an answer to events: the one way for streams and whole answers alike."""

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Finish,
    Media,
    PartEnded,
    PartGrew,
    PartStarted,
    Reasoning,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UsageReported,
)

from ._arguments import as_text, new_id
from ._lines import (
    Line,
    Token,
    failure_of,
    hub_logprobs,
    seconds_of,
    seed_of,
    usage_of,
)
from ._media_types import media_type_of

FINISHES: dict[str, Finish] = {
    "length": "length",
    "content_filter": "content_filter",
    "refusal": "refusal",
    "pause": "pause",
    "error": "error",
}
"""Any other reason, known or not, is a natural end."""

_TEXT, _REASONING = Text(text=""), Reasoning()


class Answer:
    """Takes lines one by one and appends the events that each amounts to."""

    __slots__ = ("_calls", "_count", "_growing", "_ids", "_seed", "_tokens", "is_over")

    def __init__(self) -> None:
        self.is_over = False
        self._seed = ""
        self._count = 0
        self._calls = 0
        self._ids: set[str] = set()
        self._growing: AnyPart | None = None
        self._tokens: list[Token] = []
        """Tokens whose text has not come yet: the server holds text back now and then."""

    def take(self, line: Line, encoded: bytes, events: list[StreamEvent]) -> None:
        """Raises MsgspecError, or UnicodeDecodeError, for what cannot be understood."""
        if not self._seed and line.error is None:
            self._seed = seed_of(line, encoded)
            started = ReplyStarted(
                f"ollama-{self._seed}", line.model or "", seconds_of(line.created_at)
            )
            events.append(started)
        if line.logprobs:
            self._tokens += line.logprobs
        message = line.message
        if message is not None:
            if message.thinking:
                self._grow(_REASONING, message.thinking, events)
            if message.content:
                self._grow(_TEXT, message.content, events)
            for image in message.images or ():
                part = Media(kind="image", media_type=media_type_of(image), data=image)
                self._end_growing(events)
                events += (PartStarted(self._count, part), PartEnded(self._count))
                self._count += 1
            for row in message.tool_calls or ():
                # A call arrives whole, its arguments as an object.
                self._end_growing(events)
                index, arguments = self._count, as_text(row.function.arguments)
                # Some servers repeat an id; results could not be told apart then.
                known = row.id if row.id not in self._ids else None
                call_id = known or new_id(self._seed, self._calls)
                call = ToolCall(id=call_id, name=row.function.name)
                self._ids.add(call_id)
                events += (PartStarted(index, call), PartGrew(index, arguments), PartEnded(index))
                self._count += 1
                self._calls += 1
        if line.error is not None:
            self.is_over = True
            events.append(failure_of(line.error, line.status_code))
        elif line.done:
            # Log probabilities of held-back text may come with the last line only.
            if self._tokens and self._growing is not None:
                self._grow(self._growing, "", events)
            self._end_growing(events)
            usage = usage_of(line.prompt_eval_count, line.eval_count)
            if usage is not None:
                events.append(UsageReported(usage))
            # done_reason is stop after tool calls too.
            natural: Finish = "tool_calls" if self._calls else "stop"
            events.append(ChoiceEnded(FINISHES.get(line.done_reason or "", natural)))
            self.is_over = True

    def _grow(self, kind: AnyPart, text: str, events: list[StreamEvent]) -> None:
        if self._growing is not kind:
            self._end_growing(events)
            self._growing = kind
            events.append(PartStarted(self._count, kind))
            self._count += 1
        if not self._tokens:
            events.append(PartGrew(self._count - 1, text))
        else:
            events.append(PartGrew(self._count - 1, text, 0, hub_logprobs(self._tokens)))
            self._tokens = []

    def _end_growing(self, events: list[StreamEvent]) -> None:
        """End the text or the thinking that was growing."""
        if self._growing is not None:
            events.append(PartEnded(self._count - 1))
            self._growing = None
