"""Events to the client's stream, and a whole reply to the object that ends one."""

from collections.abc import Sequence

from msgspec.structs import replace

from gateway_core import (
    AnyPart,
    ChoiceEnded,
    CitationAdded,
    Conversation,
    Foreign,
    Losses,
    Media,
    PartEnded,
    PartGrew,
    PartSealed,
    PartStarted,
    Reasoning,
    Refusal,
    ReplyFailed,
    ReplyStarted,
    StreamEvent,
    Text,
    ToolCall,
    Usage,
    UsageReported,
)
from gateway_formats.sequence import Sequencer

from .._dialect import DIALECT, MESSAGE, is_on_message
from .._frames import Frames, opening
from .._namespaces import namespaced_names
from .._output_items import text_of
from .._usage import write_usage
from ..errors import error_frame, write_failed
from .custom_tools import custom_names
from .echo import Echo
from .item_list import OutputList
from .items import COMPLETED, IN_PROGRESS, INCOMPLETE, CallItem, Message, Thought, foreign, image
from .pieces import Piece

FAILED = b"failed"
# https://platform.openai.com/docs/api-reference/responses/object#responses-object-incomplete_details
_REASONS = {
    "length": b'{"reason":"max_output_tokens"}',
    "pause": b'{"reason":"max_output_tokens"}',
    "content_filter": b'{"reason":"content_filter"}',
}
"""Why an answer that is not complete ended. A client that is to call again with
the answer so far does what it does when the limit was met."""


class Writer:
    """Writes one answer. Choices beyond the first are left out."""

    def __init__(self, request: Conversation, losses: Losses) -> None:
        self._echo = Echo(request)
        self._namespaced = namespaced_names(request.tools)
        self._custom = custom_names(request.tools)
        wanted = None if request.thinking is None else request.thinking.summary
        self._wants_summary = wanted not in (None, "none")
        """Agents that ask for a summary show nothing else of the thinking."""
        self._losses = losses
        self._out = Frames()
        self._sequence = Sequencer()
        self._list = OutputList(self._out)
        self._pieces: dict[int, Piece] = {}
        self._items: dict[int, int] = {}
        self._thoughts: dict[int, Thought] = {}
        self._ids: set[str] = set()
        self._usage: Usage | None = None
        self._ended = ChoiceEnded("stop")
        self._refused = False
        self._started = False
        self._over = False

    def feed(self, events: Sequence[StreamEvent]) -> bytes:
        only = events[0] if len(events) == 1 else None
        if not isinstance(only, PartGrew) or not self._sequence.passes(only):
            if any(isinstance(event, PartStarted) and event.choice for event in events):
                self._losses.add("candidates")
            # The vendor's own items never overlap, and its clients keep one open at a time.
            events = self._sequence.feed(events)
        for event in events:
            if isinstance(event, PartGrew):
                piece = self._pieces.get(event.index)
                if piece is not None and not self._over:
                    piece.grow(event.text, event.logprobs, self._out)
            elif not self._over:
                match event:
                    case PartStarted(index, part, 0):
                        self._start(index, part)
                    case PartEnded(index, 0):
                        piece = self._pieces.get(index)
                        if piece is not None and not piece.ended:
                            piece.end(self._out)
                            self._list.ended(self._items[index])
                    case PartSealed(choice=0):
                        thought = self._thoughts.get(event.index)
                        if thought is None:
                            self._losses.add("reasoning_signature")
                        else:
                            thought.seal(event.signature, event.sealed, event.origin)
                    case CitationAdded(index, citation, 0):
                        if index in self._pieces:
                            self._pieces[index].cite(citation)
                    case UsageReported(usage):
                        self._usage = usage
                    case ChoiceEnded(choice=0):
                        self._ended = event
                    case ReplyStarted():
                        self._started = True
                        self._echo.begin(event.id, event.model, event.created)
                        # Two events with the same object, in the vendor's order:
                        # https://platform.openai.com/docs/api-reference/responses-streaming/response/created
                        response = b'"response":' + self._echo.response(IN_PROGRESS)
                        self._out.add(opening("response.created", response))
                        self._out.add(opening("response.in_progress", response))
                    case ReplyFailed():
                        self._fail(event)
                    case _:
                        pass  # of another choice
        return self._out.take()

    def close(self) -> bytes:
        if self._over:
            return b""
        if not self._started:
            self._fail(ReplyFailed("The answer never began"))
            return self._out.take()
        left_open = self.feed((self._ended,))  # Parts that nobody has ended are over now.
        self._over = True
        final = self.response()
        kind = self._final_status()[0].decode()
        self._out.add(opening(f"response.{kind}", b'"response":' + final))
        return left_open + self._out.take()

    def response(self) -> bytes:
        """The final object, once everything has been fed."""
        status, error, details = self._final_status()
        items = self._list.close(COMPLETED if status == COMPLETED else INCOMPLETE)
        return self._echo.response(
            status, b",".join(items), write_usage(self._usage), error=error, details=details
        )

    def _fail(self, failure: ReplyFailed) -> None:
        """Both events that the vendor sends: its own library reads one, agents the other."""
        self._over = True
        self._out.add_whole(error_frame(failure, self._out.number))
        if self._started:
            failed = self._echo.response(FAILED, error=write_failed(failure))
            self._out.add(opening("response.failed", b'"response":' + failed))

    def _final_status(self) -> tuple[bytes, bytes, bytes]:
        """The answer's status, error and details of why it is not complete."""
        finish = self._ended.finish
        if finish == "error":
            failure = ReplyFailed("The upstream failed before the answer was complete")
            return FAILED, write_failed(failure), b"null"
        # A refusal without words is an answer that a filter cut off.
        if finish == "refusal" and not self._refused:
            finish = "content_filter"
        reason = _REASONS.get(finish)
        return (COMPLETED, b"null", b"null") if reason is None else (INCOMPLETE, b"null", reason)

    def _start(self, index: int, part: AnyPart) -> None:
        """Begin the item, or the piece of one, that a part is; some items come whole."""
        piece: Piece | None = None
        match part:
            case Text() | Refusal():
                if part.signature is not None:
                    self._losses.add("reasoning_signature")
                refused = isinstance(part, Refusal)
                self._refused = self._refused or refused
                message = self._list.latest()
                if not isinstance(message, Message) or any(map(is_on_message, part.extra)):
                    message = Message(
                        self._new_id("msg"), len(self._list), part.extra, self._losses
                    )
                    self._list.add(message)
                piece = message.piece(refused=refused, out=self._out)
            case Reasoning():
                # The vendor refuses ids of reasoning items that do not begin with rs_.
                identity = part.id if part.id and part.id.startswith("rs_") else None
                if identity is None or identity in self._ids:
                    identity = self._new_id("rs")
                self._ids.add(identity)
                is_summary = part.summary or self._wants_summary
                thought = Thought(identity, len(self._list), part, is_summary=is_summary)
                self._thoughts[index] = thought
                self._list.add(thought)
                piece = thought.piece
            case ToolCall():
                piece = self._add_call(part)
            case Foreign() if part.dialect == DIALECT and not part.type.startswith(MESSAGE):
                self._list.add(foreign(part))
            case Media() if part.kind == "image" and part.data:
                self._list.add(image(self._new_id("ig"), part))
            case Foreign():
                self._losses.add(f"part:{part.type}")
            case Media():
                self._losses.add(part.kind)
            case _:
                self._losses.add("part:tool_result")
        if piece is None:
            return
        self._pieces[index] = piece
        self._items[index] = len(self._list) - 1
        if text := text_of(part):
            piece.grow(text, None, self._out)
        for citation in part.citations if isinstance(part, Text) else ():
            piece.cite(citation)

    def _add_call(self, part: ToolCall) -> Piece:
        call_id = part.id or self._new_id("call")
        # Results name their call by call_id, so two calls cannot share one.
        if call_id in self._ids:
            call_id = f"{call_id}_{len(self._list)}"
        self._ids.add(call_id)
        custom = part.custom or part.name in self._custom
        call = CallItem(
            self._new_id("ctc" if custom else "fc"),
            len(self._list),
            replace(part, id=call_id, custom=custom),
            self._namespaced.get(part.name),
            wrapped=custom and not part.custom,
        )
        self._list.add(call)
        return call

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}_{self._echo.stem}{len(self._list):04x}"
