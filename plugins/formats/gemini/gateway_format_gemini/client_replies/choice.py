"""One choice of an answer on its way to a client of this dialect.

Text and thinking go out as they grow, one part at a time; a function call
goes out complete, with the frame that ends the answer unless something
follows it before.
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
from .._logprobs import logprobs_result
from .._signatures import sealed_json
from .parts import call_json, encode, is_text, text_json, thought_json, whole_json


@dataclass(slots=True)
class _Part:
    part: AnyPart
    number: int
    """Of a text among the texts; -1 for anything else."""
    grown: list[str] = field(default_factory=list)
    ended: bool = False
    closed: bool = False
    """All of it has gone out."""

    def text(self) -> str:
        return "".join(self.grown)


class Choice:
    """Collects the parts that are ready to go out, in their order."""

    def __init__(self, losses: Losses, show_thinking: bool) -> None:
        self.ended: ChoiceEnded | None = None
        self.called = False
        """Whether a function is called."""
        self._logprobs: list[Raw] = []
        self._losses = losses
        self._show = show_thinking
        self._parts: dict[int, _Part] = {}
        self._texts: list[_Part] = []
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
        grows = is_text(part)
        if isinstance(part, Refusal):
            self._losses.add("refusal")
        held = _Part(part, -1)
        self._parts[event.index] = held
        if grows and not isinstance(part, Reasoning):
            held.number = len(self._texts)
            self._texts.append(held)
        if isinstance(part, Text | Refusal | Reasoning) and part.text:
            held.grown.append(part.text)
        if isinstance(part, Text):
            self._citations += ((held.number, citation) for citation in part.citations)
        if grows and self._live is None:
            self._live = event.index
            self._say(part, held.text())

    def grow(self, event: PartGrew) -> None:
        held = self._parts[event.index]
        held.grown.append(event.text)
        if event.logprobs is not None:
            self._logprobs.append(event.logprobs)
        if event.index == self._live:
            self._say(held.part, event.text)

    def cite(self, event: CitationAdded) -> None:
        self._citations.append((max(self._parts[event.index].number, 0), event.citation))

    def seal(self, event: PartSealed) -> None:
        held = self._parts[event.index]
        if event.signature is not None:
            held.part = replace(held.part, signature=event.signature, origin=event.origin)
        if event.sealed is not None and isinstance(held.part, Reasoning):
            held.part = replace(held.part, sealed=event.sealed, origin=event.origin)

    def finish_part(self, index: int) -> None:
        held = self._parts[index]
        held.ended = True
        if isinstance(held.part, ToolCall):
            self._close_calls()
        elif not is_text(held.part):
            self._close(held)
        elif index == self._live:
            self._close(held)
            self._release()

    def _close_calls(self) -> None:
        """Calls are told in the order in which they began: some clients answer them by place."""
        for held in self._parts.values():
            if isinstance(held.part, ToolCall) and not held.closed:
                if not held.ended:
                    return
                self._close(held)

    def finish(self, ended: ChoiceEnded) -> None:
        for index in self._parts:
            self.finish_part(index)
        if self._thinking:
            self._sign(sealed_json("", None, self._thinking))
        if ended.stop_sequence is not None:
            self._losses.add("stop_sequence")
        self.ended = ended

    @property
    def began(self) -> bool:
        return bool(self._parts)

    def logprobs_json(self) -> dict[str, bytes]:
        """Members that tell the probabilities of the tokens not told of yet."""
        made = logprobs_result(self._logprobs) if self._logprobs else {}
        self._logprobs.clear()
        return {name: encode(each) for name, each in made.items()}

    def frame_logprobs(self) -> bytes:
        """The same for a frame in mid-answer, where there is no average yet."""
        if not self._logprobs:
            return b""
        made = self.logprobs_json().get("logprobsResult")
        return b',"logprobsResult":' + made if made else b""

    @property
    def sources(self) -> tuple[list[str], list[Placed]]:
        """The texts of the answer, and what they cite."""
        return [each.text() for each in self._texts], self._citations

    def drain(self, *, calls: bool = False) -> bytes:
        """The parts that are ready, with commas between; function calls wait to be asked for."""
        self._encode_tail()
        if calls:
            self._ready += self._calls
            self._calls.clear()
        parts = b",".join(self._ready)
        self._ready.clear()
        return parts

    def _release(self) -> None:
        """Let the texts go that waited for an earlier one to end."""
        self._live = None
        for index, held in self._parts.items():
            if held.closed or not is_text(held.part):
                continue
            self._say(held.part, held.text())
            if not held.ended:
                self._live = index
                return
            self._close(held)

    def _close(self, held: _Part) -> None:
        if held.closed:
            return
        held.closed = True
        part = held.part
        if isinstance(part, Reasoning):
            self._thinking.append(replace(part, text=held.text()))
            return
        carried, self._thinking = self._thinking, []
        if isinstance(part, ToolCall):
            whole = replace(part, arguments=part.arguments + held.text())
            self._encode_tail()
            self.called = True
            self._calls.append(call_json(whole, carried))
        elif isinstance(part, Media | Foreign):
            self._add(whole_json(part, carried, self._losses))
        else:
            self._sign(sealed_json(part.origin, part.signature, carried))

    def _say(self, part: AnyPart, text: str) -> None:
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

    def _sign(self, signature: bytes) -> None:
        """Put a signature under the text so far, or under an empty one."""
        if not signature:
            return
        if self._tail and not self._tail_thought:
            text = "".join(self._tail)
            self._tail.clear()
            self._ready.append(text_json(text, signature))
        else:
            self._add(text_json("", signature))

    def _add(self, part: bytes | None) -> None:
        if part is None:
            return
        self._encode_tail()
        self._ready += self._calls
        self._calls.clear()
        self._ready.append(part)

    def _encode_tail(self) -> None:
        if self._tail:
            text = "".join(self._tail)
            self._tail.clear()
            self._ready.append(thought_json(text) if self._tail_thought else text_json(text))
