"""One candidate of the vendor's answer, as it grows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Foreign,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    StreamEvent,
    Text,
    ToolCall,
)

from .._answers import UNSPECIFIED, Call, Candidate, Part, is_given, read_part
from .._finish_reasons import read_finish, word
from .._grounding import Placed, citations_of, recitations_of
from .._logprobs import chat_logprobs
from .._media import from_data, from_uri
from .._members import compact
from .._signatures import DIALECT
from .partial_args import PartialArgs

_object = msgspec.json.Decoder(dict[str, Raw])
_NO_PARTS: tuple[Raw, ...] = ()


@dataclass(slots=True)
class _Growing:
    """The text or the thinking that the next piece may continue."""

    index: int
    thought: bool
    sealed: bool = False
    text: list[str] = field(default_factory=list)


class OpenCandidate:
    """Turns the pieces of a candidate into events.

    Parts that are complete stay open until their piece has been read whole:
    what the piece says of its sources may concern any of them.
    """

    def __init__(self, choice: int, call_id: str) -> None:
        self.finish: str | None = None
        self._choice = choice
        self._call_id = call_id
        self._next = 0
        self._growing: _Growing | None = None
        self._texts: list[_Growing] = []
        self._done: list[int] = []
        self._calls = 0
        self._partial: tuple[int, PartialArgs] | None = None
        self._extra: dict[str, Raw] = {}

    @property
    def is_growing(self) -> bool:
        """Whether there is a text, or thinking, that the next piece may continue."""
        return self._growing is not None and not self._growing.sealed

    def grow(self, text: str, thought: bool | None = None) -> PartGrew | None:
        """The only event of a piece that continues what grows; ``None`` for any other piece.

        Without ``thought`` it is known to be of the same kind.
        """
        growing = self._growing
        if growing is None or growing.sealed:
            return None
        if thought is not None and growing.thought is not thought:
            return None
        growing.text.append(text)
        return PartGrew(growing.index, text, self._choice)

    def take(self, piece: Candidate) -> list[StreamEvent]:
        """Raises MsgspecError for a piece that makes no sense."""
        events: list[StreamEvent] = []
        content = piece.content
        for raw in (content.parts or _NO_PARTS) if content is not None else _NO_PARTS:
            self._part(raw, events)
        if is_given(piece.logprobs_result):
            self._logprobs(piece.logprobs_result, events)
        if is_given(piece.grounding_metadata) or is_given(piece.citation_metadata):
            self._sources(piece, events)
        if piece.finish_reason not in UNSPECIFIED:
            self._finished(piece, events)
        if self._done:
            events += [PartEnded(index, self._choice) for index in self._done]
            self._done.clear()
        return events

    def end(self, finish: str) -> list[StreamEvent]:
        """Nothing more comes; ``finish`` is for a candidate that has not said why it ended."""
        events: list[StreamEvent] = []
        self._end_call(events)
        if self._growing is not None:
            self._done.append(self._growing.index)
        events += [PartEnded(index, self._choice) for index in self._done]
        said = read_finish(self.finish or finish, self._calls > 0)
        return [*events, ChoiceEnded(said, self._choice, extra=self._extra)]

    def _part(self, raw: Raw, events: list[StreamEvent]) -> None:
        part = read_part(raw)
        if part.text is not None:
            self._text(part.text, part.thought is True, part.thought_signature, events)
        elif part.function_call is not None and not part.thought:
            self._call(part.function_call, part.thought_signature, events)
        else:
            self._whole(raw, part, events)

    def _text(
        self, text: str, thought: bool, signature: str | None, events: list[StreamEvent]
    ) -> None:
        if not text and not signature:
            return
        growing = self._growing
        if growing is None or growing.sealed or growing.thought is not thought:
            growing = self._open(thought, events)
        if text:
            growing.text.append(text)
            events.append(PartGrew(growing.index, text, self._choice))
        if signature:
            growing.sealed = True
            events.append(PartSealed(growing.index, signature=signature, choice=self._choice))

    def _open(self, thought: bool, events: list[StreamEvent]) -> _Growing:
        part = Reasoning() if thought else Text(text="")
        growing = _Growing(self._start(part, events), thought)
        self._growing = growing
        if not thought:
            self._texts.append(growing)
        return growing

    def _start(self, part: AnyPart, events: list[StreamEvent]) -> int:
        """Start a part; what grew until now is done."""
        if self._growing is not None:
            self._done.append(self._growing.index)
            self._growing = None
        index = self._next
        self._next += 1
        events.append(PartStarted(index, part, self._choice))
        return index

    def _call(self, call: Call, signature: str | None, events: list[StreamEvent]) -> None:
        if call.name:
            self._end_call(events)
            made = ToolCall(id=call.id or self._new_id(), name=call.name, signature=signature)
            self._calls += 1
            index = self._start(made, events)
            if not call.will_continue and not call.partial_args:
                arguments = compact(call.args).decode() if is_given(call.args) else "{}"
                self._arguments(index, arguments, events)
                return
            self._partial = index, PartialArgs()
        if self._partial is None:
            return
        self._more(self._partial[1], call)
        if not call.will_continue:
            self._end_call(events)

    def _more(self, partial: PartialArgs, call: Call) -> None:
        if is_given(call.args):
            partial.merge(_object.decode(call.args))
        for piece in call.partial_args or ():
            partial.add(piece)

    def _end_call(self, events: list[StreamEvent]) -> None:
        if self._partial is not None:
            index, partial = self._partial
            self._partial = None
            self._arguments(index, partial.whole(), events)

    def _arguments(self, index: int, arguments: str, events: list[StreamEvent]) -> None:
        events.append(PartGrew(index, arguments, self._choice))
        self._done.append(index)

    def _new_id(self) -> str:
        return f"{self._call_id}_{self._choice}_{self._calls}"

    def _whole(self, raw: Raw, part: Part, events: list[StreamEvent]) -> None:
        """A part that comes in one piece."""
        made: AnyPart | None = None if part.thought else _media(part)
        if made is None:
            given = _object.decode(compact(raw))
            given.pop("thoughtSignature", None)
            if not given.keys() - {"thought"}:
                self._text("", part.thought is True, part.thought_signature, events)
                return
            kind = next(name for name in given if name != "thought")
            whole = Raw(msgspec.json.encode(given))
            made = Foreign(dialect=DIALECT, type=kind, raw=whole, signature=part.thought_signature)
        self._done.append(self._start(made, events))

    def _logprobs(self, raw: Raw, events: list[StreamEvent]) -> None:
        logprobs = chat_logprobs(raw)
        if logprobs is None or not self._texts:
            return
        index, last = self._texts[-1].index, events[-1] if events else None
        if isinstance(last, PartGrew) and last.index == index:
            events[-1] = PartGrew(index, last.text, self._choice, logprobs)
        elif index in self._done or self._growing is self._texts[-1]:
            events.append(PartGrew(index, "", self._choice, logprobs))

    def _sources(self, piece: Candidate, events: list[StreamEvent]) -> None:
        texts = ["".join(each.text) for each in self._texts]
        found: list[Placed] = []
        if is_given(piece.grounding_metadata):
            self._extra["groundingMetadata"] = Raw(compact(piece.grounding_metadata))
            found += _tolerant(citations_of, piece.grounding_metadata, texts)
        if is_given(piece.citation_metadata):
            self._extra["citationMetadata"] = Raw(compact(piece.citation_metadata))
            found += _tolerant(recitations_of, piece.citation_metadata, texts)
        opened = {each.index for each in self._texts if self._is_open(each)}
        for number, citation in found if texts else ():
            index = self._texts[number].index
            if index in opened:
                events.append(CitationAdded(index, citation, self._choice))
            elif opened:
                loose = replace(citation, start=None, end=None)
                events.append(CitationAdded(max(opened), loose, self._choice))

    def _is_open(self, text: _Growing) -> bool:
        return text is self._growing or text.index in self._done

    def _finished(self, piece: Candidate, events: list[StreamEvent]) -> None:
        self._end_call(events)
        self.finish = word(piece.finish_reason or 0)
        self._extra["finishReason"] = Raw(msgspec.json.encode(self.finish))
        for name, value in (
            ("finishMessage", piece.finish_message),
            ("safetyRatings", piece.safety_ratings),
            ("avgLogprobs", piece.avg_logprobs),
            ("urlContextMetadata", piece.url_context_metadata),
            ("tokenCount", piece.token_count),
        ):
            if is_given(value):
                self._extra[name] = Raw(compact(value))


def _tolerant(
    read: Callable[[Raw, Sequence[str]], list[Placed]], metadata: Raw, texts: Sequence[str]
) -> list[Placed]:
    """Sources that make no sense do not spoil the answer they stand beside."""
    try:
        return read(metadata, texts)
    except msgspec.MsgspecError:
        return []


def _media(part: Part) -> Media | None:
    if part.inline_data is not None:
        data = part.inline_data
        made = from_data(data.mime_type, data.data, data.display_name)
    elif part.file_data is not None:
        file = part.file_data
        made = from_uri(file.mime_type, file.file_uri, file.display_name)
        if made.file_id is not None:
            return made
    else:
        return None
    return replace(made, signature=part.thought_signature)
