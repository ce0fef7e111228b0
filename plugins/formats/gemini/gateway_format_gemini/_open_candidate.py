"""One candidate of the vendor's answer, as it grows.

https://ai.google.dev/api/generate-content#v1beta.Candidate
"""

from contextlib import suppress
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

from ._answers import UNSPECIFIED, Candidate, FunctionCall, Part, decode_part, is_given
from ._dialect import DIALECT
from ._finish_reasons import read_finish, read_reason
from ._grounding import Placed, read_grounding, read_recitation
from ._logprobs import chat_logprobs
from ._media import read_blob, read_file
from ._members import compact, read_text
from ._partial_arguments import PartialArguments

_decode_object = msgspec.json.Decoder(dict[str, Raw]).decode


@dataclass(slots=True)
class GrowingText:
    """The text or the thinking that the next piece may continue."""

    index: int
    thought: bool
    sealed: bool = False
    pieces: list[str] = field(default_factory=list)


class OpenCandidate:
    """Turns the pieces of a candidate into events.

    Parts that are complete stay open until their piece has been read whole: the sources in the
    piece may concern any of them.
    """

    def __init__(self, choice: int, call_id: str) -> None:
        self.reason: str | None = None
        """Why it ended, as the vendor says it."""
        self._choice = choice
        self._call_id = call_id
        self._next = 0
        self._growing: GrowingText | None = None
        self._texts: list[GrowingText] = []
        self._done: list[int] = []
        self._calls = 0
        self._partial: tuple[int, PartialArguments] | None = None
        self._extra: dict[str, Raw] = {}

    @property
    def is_growing(self) -> bool:
        """Whether there is a text, or thinking, that the next piece may continue."""
        return self._growing is not None and not self._growing.sealed

    def grow(self, text: str, thought: bool) -> PartGrew | None:
        """The only event of a piece that continues what grows; ``None`` for any other piece."""
        growing = self._growing
        if growing is None or growing.sealed or growing.thought is not thought:
            return None
        growing.pieces.append(text)
        return PartGrew(growing.index, text, self._choice)

    def read(self, piece: Candidate) -> list[StreamEvent]:
        """Raises MsgspecError for an invalid piece."""
        events: list[StreamEvent] = []
        for raw in (piece.content.parts if piece.content is not None else None) or ():
            part = decode_part(raw)
            if part.text is not None:
                self._read_text(part.text, part.thought is True, part.thought_signature, events)
            elif part.function_call is not None and not part.thought:
                self._read_call(part.function_call, part.thought_signature, events)
            else:
                self._read_whole(raw, part, events)
        logprobs = chat_logprobs(piece.logprobs_result) if is_given(piece.logprobs_result) else None
        if logprobs is not None and self._texts:
            index, last = self._texts[-1].index, events[-1] if events else None
            # Probabilities come beside the text of their piece and belong to that event.
            if isinstance(last, PartGrew) and last.index == index:
                events[-1] = PartGrew(index, last.text, self._choice, logprobs)
            elif index in self._done or self._growing is self._texts[-1]:
                events.append(PartGrew(index, "", self._choice, logprobs))
        self._read_sources(piece, events)
        if piece.finish_reason not in UNSPECIFIED:
            self._end_call(events)
            self.reason = read_reason(piece.finish_reason or 0)
            self._extra["finishReason"] = Raw(msgspec.json.encode(self.reason))
            for name, value in (
                ("finishMessage", piece.finish_message),
                ("safetyRatings", piece.safety_ratings),
                ("avgLogprobs", piece.avg_logprobs),
                ("urlContextMetadata", piece.url_context_metadata),
                ("tokenCount", piece.token_count),
            ):
                if is_given(value):
                    self._extra[name] = Raw(compact(value))
        events += [PartEnded(index, self._choice) for index in self._done]
        self._done.clear()
        return events

    def end(self, reason: str) -> list[StreamEvent]:
        """Nothing more comes; ``reason`` is for a candidate that ended without one."""
        events: list[StreamEvent] = []
        self._end_call(events)
        if self._growing is not None:
            self._done.append(self._growing.index)
        events += [PartEnded(index, self._choice) for index in self._done]
        finish = read_finish(self.reason or reason, self._calls > 0)
        failure: str | None = None
        if finish == "error":
            words = self._extra.get("finishMessage")
            failure = (read_text(words) if words is not None else None) or (
                f"The upstream ended the model's turn with {self.reason}"
            )
        ended = ChoiceEnded(finish, self._choice, extra=self._extra, failure=failure)
        return [*events, ended]

    def _read_text(
        self, text: str, thought: bool, signature: str | None, events: list[StreamEvent]
    ) -> None:
        if not text and not signature:
            return
        growing = self._growing
        if growing is None or growing.sealed or growing.thought is not thought:
            part = Reasoning() if thought else Text(text="")
            growing = GrowingText(self._start(part, events), thought)
            self._growing = growing
            if not thought:
                self._texts.append(growing)
        if text:
            growing.pieces.append(text)
            events.append(PartGrew(growing.index, text, self._choice))
        if signature:
            # A signature vouches for what came before it, so nothing can join that any more.
            growing.sealed = True
            events.append(PartSealed(growing.index, signature=signature, choice=self._choice))

    def _start(self, part: AnyPart, events: list[StreamEvent]) -> int:
        """Start a part; what grew until now is done."""
        if self._growing is not None:
            self._done.append(self._growing.index)
            self._growing = None
        index = self._next
        self._next += 1
        events.append(PartStarted(index, part, self._choice))
        return index

    def _read_call(
        self, call: FunctionCall, signature: str | None, events: list[StreamEvent]
    ) -> None:
        if call.name:
            # A new name ends the call before it, even one that was to continue.
            self._end_call(events)
            call_id = call.id or f"{self._call_id}_{self._choice}_{self._calls}"
            self._calls += 1
            part = ToolCall(id=call_id, name=call.name, signature=signature)
            index = self._start(part, events)
            if not call.will_continue and not call.partial_args:
                arguments = compact(call.args).decode() if is_given(call.args) else "{}"
                self._add_arguments(index, arguments, events)
                return
            self._partial = index, PartialArguments()
        if self._partial is None:
            return
        # Arguments may be streamed, each piece with a path to its place.
        arguments_so_far = self._partial[1]
        if is_given(call.args):
            arguments_so_far.merge(_decode_object(call.args))
        for piece in call.partial_args or ():
            arguments_so_far.add(piece)
        if not call.will_continue:
            self._end_call(events)

    def _end_call(self, events: list[StreamEvent]) -> None:
        if self._partial is not None:
            index, partial = self._partial
            self._partial = None
            self._add_arguments(index, partial.whole(), events)

    def _add_arguments(self, index: int, arguments: str, events: list[StreamEvent]) -> None:
        events.append(PartGrew(index, arguments, self._choice))
        self._done.append(index)

    def _read_whole(self, raw: Raw, part: Part, events: list[StreamEvent]) -> None:
        """A part that comes in one piece."""
        media: Media | None = None
        if part.inline_data is not None and not part.thought:
            blob = part.inline_data
            media = read_blob(blob.mime_type, blob.data, blob.display_name)
        elif part.file_data is not None and not part.thought:
            file = part.file_data
            media = read_file(file.mime_type, file.file_uri, file.display_name)
        if media is not None:
            if media.file_id is None:
                media = replace(media, signature=part.thought_signature)
            self._done.append(self._start(media, events))
            return
        members = _decode_object(compact(raw))
        members.pop("thoughtSignature", None)
        kinds = [name for name in members if name != "thought"]
        if not kinds:
            # A signature may come alone, in a last part without text.
            self._read_text("", part.thought is True, part.thought_signature, events)
            return
        whole = Raw(msgspec.json.encode(members))
        foreign = Foreign(
            dialect=DIALECT, type=kinds[0], raw=whole, signature=part.thought_signature
        )
        self._done.append(self._start(foreign, events))

    def _read_sources(self, piece: Candidate, events: list[StreamEvent]) -> None:
        sources: list[Placed] = []
        for name, metadata, read in (
            ("groundingMetadata", piece.grounding_metadata, read_grounding),
            ("citationMetadata", piece.citation_metadata, read_recitation),
        ):
            if is_given(metadata):
                self._extra[name] = Raw(compact(metadata))
                # Invalid sources do not spoil the answer that they stand beside.
                with suppress(msgspec.MsgspecError):
                    sources += read(metadata, ["".join(each.pieces) for each in self._texts])
        opened = {
            each.index for each in self._texts if each is self._growing or each.index in self._done
        }
        for number, citation in sources if self._texts else ():
            index = self._texts[number].index
            if index in opened:
                events.append(CitationAdded(index, citation, self._choice))
            elif opened:
                # The text is over, so its source goes to a later one, without its span.
                loose = replace(citation, start=None, end=None)
                events.append(CitationAdded(max(opened), loose, self._choice))
