"""The canonical reply in motion. Events are named for what has just happened.

A reader promises this order, whatever its vendor sent::

    ReplyStarted
    ( PartStarted (PartGrew | CitationAdded | PartSealed)* PartEnded   per part, parts may overlap
    | UsageReported )*
    ChoiceEnded per choice
    UsageReported*
    or, at any point after which nothing comes: ReplyFailed

Part indices count from 0 per choice in the order parts start.
"""

from msgspec import Raw, Struct

from .conversation import NOTHING, AnyPart, Citation, Extra, Finish
from .usage import Usage


class ReplyStarted(Struct, frozen=True):
    id: str
    model: str
    created: int | None = None
    """Unix seconds."""
    extra: Extra = NOTHING


class PartStarted(Struct, frozen=True):
    """``part`` holds all that is known at the start; growing text begins empty."""

    index: int
    part: AnyPart
    choice: int = 0


class PartGrew(Struct, frozen=True):
    """More of a text, a refusal, a reasoning text or a tool call's arguments."""

    index: int
    text: str
    choice: int = 0
    logprobs: Raw | None = None
    """Of the tokens in ``text``, in the chat-completions shape ``{"content": [...]}``."""


class CitationAdded(Struct, frozen=True):
    index: int
    citation: Citation
    choice: int = 0


class PartSealed(Struct, frozen=True):
    """The vendor's signature of, or sealed form of, a part that has already started."""

    index: int
    signature: str | None = None
    sealed: str | None = None
    choice: int = 0
    origin: str = ""


class PartEnded(Struct, frozen=True):
    index: int
    choice: int = 0


class UsageReported(Struct, frozen=True):
    """Totals so far; a later report replaces an earlier one."""

    usage: Usage


class ChoiceEnded(Struct, frozen=True):
    finish: Finish
    choice: int = 0
    stop_sequence: str | None = None
    extra: Extra = NOTHING


class ReplyFailed(Struct, frozen=True):
    """The answer broke off; nothing follows."""

    message: str
    kind: str | None = None
    """The vendor's word for the condition, such as ``overloaded_error``."""
    code: str | None = None
    status: int = 502
    retry_after: float | None = None


StreamEvent = (
    ReplyStarted
    | PartStarted
    | PartGrew
    | CitationAdded
    | PartSealed
    | PartEnded
    | UsageReported
    | ChoiceEnded
    | ReplyFailed
)
