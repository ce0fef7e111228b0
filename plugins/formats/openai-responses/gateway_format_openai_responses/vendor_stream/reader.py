"""A vendor's stream to events."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Raw, Struct

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    UpstreamError,
    UsageReported,
)
from gateway_formats.fold import as_failure, unfold
from gateway_formats.relay import CUT_SHORT, UNREADABLE_EVENT
from gateway_formats.sse import EventDecoder, FrameTooLong

from .._annotations import read_citation
from .._dialect import BROKEN, NULL
from .._logprobs import wrap_rows
from .._output_items import (
    Content,
    kind_of,
    read_call,
    read_content,
    read_item,
    read_thinking,
    with_phase,
    without_text,
)
from .._reasoning import GAP
from .._usage import read_usage
from ..errors import read_failure
from ..vendor_replies import (
    Answer,
    created,
    decode_answer,
    finish_of,
    has_rows,
    read_reply,
    rows_of,
    rows_of_message,
)
from .open_items import OpenItem, PartProgress, Parts, catch_up, cite, complete, end, grow


class Event(Struct):
    """Any event of the stream, as much as matters."""

    type: str = ""
    output_index: int = 0
    content_index: int = 0
    summary_index: int = 0
    item_id: str = ""
    delta: str | None = None
    text: str | None = None
    arguments: str | None = None
    input: str | None = None
    refusal: str | None = None
    logprobs: Raw = NULL
    item: Raw = NULL
    part: Raw = NULL
    response: Raw = NULL
    annotation: Raw = NULL


_event = msgspec.json.Decoder(Event)
_content = msgspec.json.Decoder(Content)


class Reader:
    """Follows one answer; whatever comes after its end is not looked at."""

    def __init__(self) -> None:
        self._frames = EventDecoder()
        self._parts = Parts()
        self._items: dict[int, OpenItem] = {}
        self._started = False
        self._over = False

    def feed(self, chunk: bytes) -> Sequence[StreamEvent]:
        if self._over:
            return ()
        try:
            return self._read(self._frames.feed(chunk))
        except FrameTooLong as error:
            return self._fail([], ReplyFailed(str(error)))

    def close(self) -> Sequence[StreamEvent]:
        if self._over:
            return ()
        if not self._started and (body := bytes(self._frames.held)).lstrip()[:1] == b"{":
            # The vendor did not stream as requested, or sent an error as plain JSON.
            self._over = True
            try:
                return unfold(read_reply(body))
            except UpstreamError as error:
                return [as_failure(error)]
        events = self._read(self._frames.close())
        return events if self._over else self._fail(events, ReplyFailed(CUT_SHORT))

    def _read(self, frames: list[tuple[bytes, bytes]]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for name, data in frames:
            if self._over:
                break
            if data == b"[DONE]":
                continue
            try:
                event = decode_event(data)
                if event is None:
                    continue
                handle = _HANDLERS.get(event.type)
                if handle is not None:
                    if not self._started:
                        self._started = True
                        answer = _read_answer(event)
                        reply_id, model = answer.id or "", answer.model or ""
                        events.append(ReplyStarted(reply_id, model, created(answer)))
                    handle(self, event, events)
                elif event.type == "error" or (name == b"error" and not event.type):
                    self._fail(events, read_failure(data))
            except BROKEN:
                return self._fail(events, ReplyFailed(UNREADABLE_EVENT))
        return events

    def _fail(self, events: list[StreamEvent], failure: ReplyFailed) -> list[StreamEvent]:
        self._over = True
        events.append(failure)
        return events

    def progress(self, event: Event, events: list[StreamEvent]) -> None:
        """The answer has begun; nothing of it is here yet."""

    def added(self, event: Event, events: list[StreamEvent]) -> None:
        if event.output_index in self._items:
            return  # It has begun by itself, or is announced a second time.
        kind = kind_of(event.item)
        open_item = self._items[event.output_index] = OpenItem(kind, event.item)
        # A call is reported once its name is known, because the hub's calls start with it.
        if kind in _CALLS:
            call = read_call(event.item, custom=kind == "custom_tool_call")
            if call.name:
                open_item.parts[0] = self._parts.start(without_text(call), events)
                grow(open_item.parts[0], call.arguments, events)

    def part_added(self, event: Event, events: list[StreamEvent]) -> None:
        """A piece of a message begins; a piece of thinking begins when it has text."""
        content = _content.decode(event.part)
        # https://platform.openai.com/docs/api-reference/responses-streaming/response/reasoning_text/delta
        if content.type == "reasoning_text":
            return
        open_item = self._find_or_open_item(event, "message")
        if open_item.kind == "message" and event.content_index not in open_item.parts:
            self._begin(
                open_item, event.content_index, without_text(read_content(content, {})), events
            )

    def text_grew(self, event: Event, events: list[StreamEvent]) -> None:
        open_item = self._items.get(event.output_index)
        progress = None if open_item is None else open_item.parts.get(event.content_index)
        if progress is None:
            progress = self._find_or_begin(event, _NO_TEXT, events)
        rows = event.logprobs
        grow(progress, event.delta or "", events, wrap_rows(rows) if has_rows(rows) else None)

    def text_done(self, event: Event, events: list[StreamEvent]) -> None:
        progress = self._find_or_begin(event, _NO_TEXT, events)
        rows = event.logprobs
        catch_up(progress, event.text or "", events, wrap_rows(rows) if has_rows(rows) else None)

    def refusal_grew(self, event: Event, events: list[StreamEvent]) -> None:
        grow(self._find_or_begin(event, _NO_REFUSAL, events), event.delta or "", events)

    def refusal_done(self, event: Event, events: list[StreamEvent]) -> None:
        catch_up(self._find_or_begin(event, _NO_REFUSAL, events), event.refusal or "", events)

    def cited(self, event: Event, events: list[StreamEvent]) -> None:
        progress = self._find_or_open_item(event, "message").parts.get(event.content_index)
        if progress is not None and event.annotation != NULL:
            cite(progress, read_citation(event.annotation), events)

    def part_done(self, event: Event, events: list[StreamEvent]) -> None:
        open_item = self._items.get(event.output_index)
        progress = None if open_item is None else open_item.parts.get(event.content_index)
        if open_item is not None and progress is not None and open_item.kind == "message":
            content = _content.decode(event.part)
            complete(progress, read_content(content, {}), events, rows_of(content))

    def call_grew(self, event: Event, events: list[StreamEvent]) -> None:
        if (progress := self._find_call(event)) is not None:
            grow(progress, event.delta or "", events)

    def call_done(self, event: Event, events: list[StreamEvent]) -> None:
        if (progress := self._find_call(event)) is not None:
            catch_up(progress, event.arguments or event.input or "", events)

    def summary_grew(self, event: Event, events: list[StreamEvent]) -> None:
        self._grow_thinking(event, event.summary_index, True, events)

    def thinking_grew(self, event: Event, events: list[StreamEvent]) -> None:
        self._grow_thinking(event, event.content_index, False, events)

    def _grow_thinking(
        self, event: Event, place: int, summary: bool, events: list[StreamEvent]
    ) -> None:
        open_item = self._find_or_open_item(event, "reasoning")
        progress = open_item.last()
        if progress is not None and progress.ended:
            return
        if progress is None or open_item.summary != summary:
            if progress is not None:
                end(progress, events)
            part = Reasoning(id=open_item.identity() or event.item_id or None, summary=summary)
            progress = self._begin(open_item, len(open_item.parts), part, events)
        # summary_index and content_index count the paragraphs of one item.
        elif place != open_item.place:
            grow(progress, GAP, events)
        open_item.summary, open_item.place = summary, place
        grow(progress, event.delta or "", events)

    def item_done(self, event: Event, events: list[StreamEvent]) -> None:
        open_item = self._items.setdefault(
            event.output_index, OpenItem(kind_of(event.item), event.item)
        )
        self._finish(open_item, event.item, events)

    def ended(self, event: Event, events: list[StreamEvent]) -> None:
        answer = _read_answer(event)
        # Where the final object has no status, the event's name tells it.
        if answer.status is None and event.type == "response.incomplete":
            answer.status = "incomplete"
        if answer.error != NULL:
            self._fail(events, read_failure(answer.error))
            return
        # Give the items that only the final object has, and end those that are still open.
        output = answer.output or []
        for index, item in enumerate(output):
            open_item = self._items.get(index)
            if open_item is None and len(self._items) < len(output):
                open_item = self._items[index] = OpenItem(kind_of(item), item)
            if open_item is not None and open_item.kind == kind_of(item):
                self._finish(open_item, item, events)
        for open_item in self._items.values():
            for progress in open_item.parts.values():
                end(progress, events)
        self._over = True
        if (usage := read_usage(answer.usage)) is not None:
            events.append(UsageReported(usage))
        seen: list[AnyPart] = []
        # The final object's output may be empty although calls were streamed.
        if self._parts.calls:
            seen.append(ToolCall(id="", name=""))
        if self._parts.refusals:
            seen.append(Refusal(text=""))
        events.append(ChoiceEnded(finish_of(answer, seen)))

    def broke(self, event: Event, events: list[StreamEvent]) -> None:
        answer = _read_answer(event)
        if (usage := read_usage(answer.usage)) is not None:
            events.append(UsageReported(usage))
        self._fail(events, read_failure(b"{}" if answer.error == NULL else answer.error))

    def _finish(self, open_item: OpenItem, item: Raw, events: list[StreamEvent]) -> None:
        if open_item.done:
            return
        open_item.done = True
        if open_item.kind == "reasoning":
            self._finish_thinking(open_item, read_thinking(item), events)
            return
        rows = rows_of_message(item) if open_item.kind == "message" else []
        # By order, because some vendors number the pieces of a message from another start than 0.
        begun = [open_item.parts[place] for place in sorted(open_item.parts)]
        for place, part in enumerate(read_item(item)):
            if place < len(begun):
                progress = begun[place]
            else:
                progress = self._begin(open_item, place, without_text(part), events)
            complete(progress, part, events, rows[place] if rows else None)
        for progress in begun:
            end(progress, events)

    def _finish_thinking(
        self, open_item: OpenItem, parts: list[Reasoning], events: list[StreamEvent]
    ) -> None:
        """The signature covers the whole item, so the part that grew last gets it."""
        progress = open_item.last()
        if progress is not None and parts:
            last = next((p for p in parts if p.summary == open_item.summary), parts[-1])
            complete(progress, msgspec.structs.replace(last, sealed=parts[-1].sealed), events)
            return
        for place, part in enumerate(parts):
            complete(self._begin(open_item, place, without_text(part), events), part, events)

    def _find_or_open_item(self, event: Event, kind: str) -> OpenItem:
        open_item = self._items.get(event.output_index)
        if open_item is None:
            open_item = self._items[event.output_index] = OpenItem(kind, NULL)
        return open_item

    def _find_or_begin(
        self, event: Event, part: AnyPart, events: list[StreamEvent]
    ) -> PartProgress:
        """The piece of a message that an event is about; it may begin here."""
        open_item = self._find_or_open_item(event, "message")
        progress = open_item.parts.get(event.content_index)
        return (
            self._begin(open_item, event.content_index, part, events)
            if progress is None
            else progress
        )

    def _find_call(self, event: Event) -> PartProgress | None:
        """The call that an event is about; one without a name yet waits for its whole item."""
        open_item = self._items.get(event.output_index)
        return None if open_item is None else open_item.parts.get(0)

    def _begin(
        self, open_item: OpenItem, place: int, part: AnyPart, events: list[StreamEvent]
    ) -> PartProgress:
        if place == 0 and isinstance(part, Text | Refusal) and open_item.raw != NULL:
            part = with_phase(part, open_item.raw)
        progress = open_item.parts[place] = self._parts.start(part, events)
        return progress


def decode_event(data: bytes) -> Event | None:
    """``None`` for an event that is not known. Raises MsgspecError for rubbish."""
    try:
        return _event.decode(data)
    except msgspec.ValidationError:
        if kind_of(Raw(data)) in _HANDLERS:
            raise
        return None


def _read_answer(event: Event) -> Answer:
    return Answer() if event.response == NULL else decode_answer(event.response)


_NO_TEXT = Text(text="")
_NO_REFUSAL = Refusal(text="")
_CALLS = ("function_call", "custom_tool_call")

_HANDLERS: Mapping[str, Callable[[Reader, Event, list[StreamEvent]], None]] = {
    "response.output_text.delta": Reader.text_grew,
    "response.function_call_arguments.delta": Reader.call_grew,
    "response.custom_tool_call_input.delta": Reader.call_grew,
    "response.reasoning_summary_text.delta": Reader.summary_grew,
    "response.reasoning_text.delta": Reader.thinking_grew,
    "response.refusal.delta": Reader.refusal_grew,
    "response.created": Reader.progress,
    "response.in_progress": Reader.progress,
    "response.queued": Reader.progress,
    "response.output_item.added": Reader.added,
    "response.output_item.done": Reader.item_done,
    "response.content_part.added": Reader.part_added,
    "response.content_part.done": Reader.part_done,
    "response.output_text.done": Reader.text_done,
    "response.output_text.annotation.added": Reader.cited,
    "response.refusal.done": Reader.refusal_done,
    "response.function_call_arguments.done": Reader.call_done,
    "response.custom_tool_call_input.done": Reader.call_done,
    "response.completed": Reader.ended,
    "response.incomplete": Reader.ended,
    "response.failed": Reader.broke,
}
