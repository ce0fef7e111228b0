"""One choice of an answer on its way to a client of this dialect.

Text and thinking go out as they grow, one part at a time; a function call goes out complete, with
the frame that ends the answer unless something follows it before.
https://ai.google.dev/api/generate-content#v1beta.Candidate
"""

from dataclasses import dataclass, field

from msgspec import Raw
from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Foreign,
    Losses,
    Media,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)

from .._grounding import Placed
from .._logprobs import write_logprobs
from .._signatures import write_signature
from .parts import encode, is_text, write_call, write_text, write_thought, write_whole


@dataclass(slots=True)
class HeldPart:
    part: AnyPart
    number: int
    """Of a text among the texts; -1 for anything else."""
    grown: list[str] = field(default_factory=list)
    ended: bool = False
    closed: bool = False
    """All of it has gone out."""

    def text(self) -> str:
        return "".join(self.grown)


class OpenChoice:
    """Collects the parts that are ready to go out, in their order."""

    def __init__(self, losses: Losses, show_thinking: bool) -> None:
        self.ended: ChoiceEnded | None = None
        self.has_calls = False
        """Whether a function is called."""
        self._logprobs: list[Raw] = []
        self._losses = losses
        self._show = show_thinking
        self._parts: dict[int, HeldPart] = {}
        self._texts: list[HeldPart] = []
        self._citations: list[Placed] = []
        self._live: int | None = None
        self._thinking: list[Reasoning] = []
        self._ready: list[bytes] = []
        self._calls: list[bytes] = []
        self._tail: list[str] = []
        """Text, or thinking, that is not encoded yet because more may join it."""
        self._tail_thought = False

    def start(self, event: PartStarted) -> None:
        part = event.part
        is_growing = is_text(part)
        if isinstance(part, Refusal):
            self._losses.add("refusal")
        held = HeldPart(part, -1)
        self._parts[event.index] = held
        if is_growing and not isinstance(part, Reasoning):
            held.number = len(self._texts)
            self._texts.append(held)
        if isinstance(part, Text | Refusal | Reasoning) and part.text:
            held.grown.append(part.text)
        if isinstance(part, Text):
            self._citations += ((held.number, citation) for citation in part.citations)
        if is_growing and self._live is None:
            self._live = event.index
            self._add_text(part, held.text())

    def grow(self, event: PartGrew) -> None:
        held = self._parts[event.index]
        held.grown.append(event.text)
        if event.logprobs is not None:
            self._logprobs.append(event.logprobs)
        if event.index == self._live:
            self._add_text(held.part, event.text)

    def cite(self, event: CitationAdded) -> None:
        self._citations.append((max(self._parts[event.index].number, 0), event.citation))

    def seal(self, event: PartSealed) -> None:
        held = self._parts[event.index]
        if event.signature is not None:
            held.part = replace(held.part, signature=event.signature, origin=event.origin)
        if event.sealed is not None and isinstance(held.part, Reasoning):
            held.part = replace(held.part, sealed=event.sealed, origin=event.origin)

    def end_part(self, index: int) -> None:
        held = self._parts[index]
        held.ended = True
        if isinstance(held.part, ToolCall):
            # Calls go out in the order in which they began: some clients answer them by place.
            for each in self._parts.values():
                if isinstance(each.part, ToolCall) and not each.closed:
                    if not each.ended:
                        return
                    self._close(each)
        elif not is_text(held.part):
            self._close(held)
        elif index == self._live:
            self._close(held)
            self._live = None
            # The texts that waited for this one to end go out now.
            for number, waiting in self._parts.items():
                if waiting.closed or not is_text(waiting.part):
                    continue
                self._add_text(waiting.part, waiting.text())
                if not waiting.ended:
                    self._live = number
                    return
                self._close(waiting)

    def end(self, ended: ChoiceEnded) -> None:
        for index in self._parts:
            self.end_part(index)
        if self._thinking:
            self._add_signature(write_signature("", None, self._thinking))
        if ended.stop_sequence is not None:
            self._losses.add("stop_sequence")
        self.ended = ended

    @property
    def began(self) -> bool:
        return bool(self._parts)

    def take_logprobs(self) -> dict[str, bytes]:
        """Members with the probabilities of the tokens since the last call."""
        members = write_logprobs(self._logprobs) if self._logprobs else {}
        self._logprobs.clear()
        return {name: encode(each) for name, each in members.items()}

    def take_frame_logprobs(self) -> bytes:
        """The same for a frame in mid-answer, where there is no average yet."""
        if not self._logprobs:
            return b""
        result = self.take_logprobs().get("logprobsResult")
        return b',"logprobsResult":' + result if result else b""

    @property
    def sources(self) -> tuple[list[str], list[Placed]]:
        """The texts of the answer, and what they cite."""
        return [each.text() for each in self._texts], self._citations

    def take_parts(self, *, calls: bool = False) -> bytes:
        """The parts that are ready, with commas between; function calls only with ``calls``."""
        self._encode_tail()
        if calls:
            self._ready += self._calls
            self._calls.clear()
        parts = b",".join(self._ready)
        self._ready.clear()
        return parts

    def _close(self, held: HeldPart) -> None:
        if held.closed:
            return
        held.closed = True
        part = held.part
        if isinstance(part, Reasoning):
            # Its proof waits for the next part that has a slot for a signature.
            self._thinking.append(replace(part, text=held.text()))
            return
        carried, self._thinking = self._thinking, []
        if isinstance(part, ToolCall):
            whole = replace(part, arguments=part.arguments + held.text())
            self._encode_tail()
            self.has_calls = True
            self._calls.append(write_call(whole, carried))
        elif isinstance(part, Media | Foreign):
            self._add_whole(write_whole(part, carried, self._losses))
        else:
            self._add_signature(write_signature(part.origin, part.signature, carried))

    def _add_text(self, part: AnyPart, text: str) -> None:
        thought = isinstance(part, Reasoning)
        if not text or (thought and not self._show):
            return
        if self._calls:
            self._ready += self._calls
            self._calls.clear()
        if thought is not self._tail_thought:
            self._encode_tail()
            self._tail_thought = thought
        self._tail.append(text)

    def _add_signature(self, signature: bytes) -> None:
        """Put a signature on the text so far, or on an empty one."""
        if not signature:
            return
        if self._tail and not self._tail_thought:
            text = "".join(self._tail)
            self._tail.clear()
            self._ready.append(write_text(text, signature))
        else:
            self._add_whole(write_text("", signature))

    def _add_whole(self, part: bytes | None) -> None:
        if part is None:
            return
        # What follows a call shows that it is not the answer's last part, so it need not wait.
        self._encode_tail()
        self._ready += self._calls
        self._calls.clear()
        self._ready.append(part)

    def _encode_tail(self) -> None:
        if self._tail:
            text = "".join(self._tail)
            self._tail.clear()
            self._ready.append(write_thought(text) if self._tail_thought else write_text(text))
