"""Tool calls as they come in a stream, however the vendor identifies them.

The vendor may number its calls or not, repeat an id or leave it out, give
every call the number 0, or send two calls by turns. A part that has ended
cannot grow, so a call ends when the next one starts only if its arguments are
whole by then; any other stays open until the choice ends.
"""

import re
from dataclasses import dataclass, field

from msgspec import Raw

from gateway_core import PartEnded, PartGrew, PartSealed, PartStarted, StreamEvent, ToolCall

from .._chunks import CallDelta, Function
from .._history import read_signature
from .._members import anything_of, encode

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(slots=True)
class _OpenCall:
    part: int
    id: str
    key: int | None
    signature: str | None
    custom: bool
    grown: list[str] = field(default_factory=list)
    ended: bool = False

    def is_whole(self) -> bool:
        """Whether the arguments are a whole object; free text has no such mark."""
        text = "".join(self.grown).strip()
        is_closed = not self.custom and text.startswith("{") and text.endswith("}")
        return is_closed and anything_of(Raw(text.encode())) is not None


class Calls:
    """The tool calls of one choice."""

    __slots__ = ("_choice", "_is_whole", "_nameless", "_open", "_reply")

    def __init__(self, reply: str, choice: int, *, is_whole: bool) -> None:
        """``is_whole`` where each call comes in one piece, so that every delta begins a call."""
        self._reply = reply
        self._choice = choice
        self._is_whole = is_whole
        self._open: list[_OpenCall] = []
        self._nameless: dict[int | None, CallDelta] = {}
        """The beginnings of calls that have no name yet, by their number."""

    def __bool__(self) -> bool:
        return bool(self._open)

    def take(self, delta: CallDelta, part: int, out: list[StreamEvent]) -> bool:
        """Give the events of one delta; true when it began a call, as part number ``part``."""
        if delta.custom is not None and (delta.custom.name or delta.custom.input):
            name, text, custom = _text(delta.custom.name), _text(delta.custom.input), True
        else:
            function = delta.function or Function()
            name, text = _text(function.name), arguments_text(function.arguments)
            custom = delta.type == "custom"
        call = self._find(delta, name)
        if call is None:
            if not name:
                # A call cannot start without a name; its id and first text wait for that.
                empty = CallDelta(function=Function(arguments=""))
                held = self._nameless.setdefault(_number(delta), empty)
                held.id = held.id or delta.id
                held.extra_content = held.extra_content or delta.extra_content
                if held.function is not None:
                    held.function.arguments += text
                return False
            if self._open and not self._open[-1].ended and self._open[-1].is_whole():
                self._end(self._open[-1], out)
            held = self._nameless.pop(_number(delta), CallDelta())
            call_id = next((i for i in (delta.id, held.id) if i and isinstance(i, str)), None)
            if call_id is None or any(call.id == call_id for call in self._open):
                # The same id however the stream is cut.
                reply = _UNFIT.sub("", self._reply)[-24:]
                call_id = f"call_{reply}_{self._choice}{len(self._open)}"
            signature = read_signature(delta.extra_content or held.extra_content)
            call = _OpenCall(part, call_id, _number(delta), signature, custom)
            self._open.append(call)
            tool_call = ToolCall(id=call_id, name=name, custom=custom, signature=signature)
            out.append(PartStarted(part, tool_call, self._choice))
            # What came of the arguments before the name did goes first.
            early = held.function.arguments if held.function is not None else ""
            self._grow(call, early + text, out)
            return True
        self._seal(call, read_signature(delta.extra_content), out)
        self._grow(call, text, out)
        return False

    def seal(self, signature: str, out: list[StreamEvent]) -> None:
        """A proof of the whole message goes to its first call that has none."""
        for call in self._open:
            if call.signature is None and not call.ended:
                self._seal(call, signature, out)
                return

    def _seal(self, call: _OpenCall, signature: str | None, out: list[StreamEvent]) -> None:
        if signature is not None and call.signature is None and not call.ended:
            call.signature = signature
            out.append(PartSealed(call.part, signature, None, self._choice))

    def end(self, out: list[StreamEvent]) -> None:
        for call in self._open:
            self._end(call, out)

    def _find(self, delta: CallDelta, name: str) -> _OpenCall | None:
        """The call that a delta belongs to, or ``None`` when it begins one."""
        if self._is_whole:
            return None
        call_id = delta.id if isinstance(delta.id, str) else ""
        number = _number(delta)
        if number is not None:
            calls = reversed(self._open)
            numbered = next((call for call in calls if call.key == number), None)
            is_other = numbered is not None and call_id not in ("", numbered.id) and bool(name)
            return None if is_other else numbered
        # Without an index a repeated id, or a delta without a name, goes on with the same call.
        same = next((call for call in self._open if call_id and call.id == call_id), None)
        if same is not None or (call_id and name):
            return same
        if not self._open or (name and self._open[-1].is_whole()):
            return None
        return self._open[-1] if not name or not self._open[-1].grown else None

    def _grow(self, call: _OpenCall, text: str, out: list[StreamEvent]) -> None:
        if text and not call.ended:
            call.grown.append(text)
            out.append(PartGrew(call.part, text, self._choice))

    def _end(self, call: _OpenCall, out: list[StreamEvent]) -> None:
        if not call.ended:
            call.ended = True
            out.append(PartEnded(call.part, self._choice))


def _number(delta: CallDelta) -> int | None:
    return delta.index if isinstance(delta.index, int) else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def arguments_text(value: object) -> str:
    """Arguments as JSON text; some vendors send the object itself."""
    if value is None:
        return ""
    return value if isinstance(value, str) else encode(value).decode()
