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
    """The vendor's id of the answer; empty when it gave none."""
    model: str
    """The model as the vendor names it."""
    created: int | None = None
    """Unix seconds."""
    extra: Extra = NOTHING
    """Members without a canonical name, in the vendor's dialect."""


class PartStarted(Struct, frozen=True):
    """``part`` holds all that is known at the start; growing text begins empty."""

    index: int
    """Which part of its choice."""
    part: AnyPart
    """What is known of it."""
    choice: int = 0
    """Which of the answers."""


class PartGrew(Struct, frozen=True):
    """More of a text, a refusal, a reasoning text or a tool call's arguments."""

    index: int
    """Which part of its choice."""
    text: str
    """What is added; never empty."""
    choice: int = 0
    """Which of the answers."""
    logprobs: Raw | None = None
    """Of the tokens in ``text``, in the chat-completions shape ``{"content": [...]}``."""


class CitationAdded(Struct, frozen=True):
    index: int
    """Which part of its choice: a text."""
    citation: Citation
    """The source."""
    choice: int = 0
    """Which of the answers."""


class PartSealed(Struct, frozen=True):
    """The vendor's signature of, or sealed form of, a part that has already started."""

    index: int
    """Which part of its choice."""
    signature: str | None = None
    """The vendor's proof; ``None`` when only ``sealed`` is told."""
    sealed: str | None = None
    """The thinking in its sealed form; ``None`` when only ``signature`` is told."""
    choice: int = 0
    """Which of the answers."""
    origin: str = ""
    """Who can read it; the gateway fills it in."""


class PartEnded(Struct, frozen=True):
    index: int
    """Which part of its choice."""
    choice: int = 0
    """Which of the answers."""


class UsageReported(Struct, frozen=True):
    """Totals so far; a later report replaces an earlier one."""

    usage: Usage
    """The totals."""


class ChoiceEnded(Struct, frozen=True):
    finish: Finish
    """Why it ended."""
    choice: int = 0
    """Which of the answers."""
    stop_sequence: str | None = None
    """The stop sequence that was met, where the vendor says."""
    extra: Extra = NOTHING
    """Members without a canonical name, in the vendor's dialect."""
    failure: str | None = None
    """The vendor's words on why it failed, where ``finish`` is ``error``."""


class ReplyFailed(Struct, frozen=True):
    """The answer broke off; nothing follows."""

    message: str
    """The vendor's words."""
    kind: str | None = None
    """The vendor's word for the condition, such as ``overloaded_error``."""
    code: str | None = None
    """The vendor's code for the condition."""
    status: int = 502
    """The HTTP status that the condition would have had."""
    retry_after: float | None = None
    """Seconds after which the vendor may be asked again; ``None`` when it did not say."""


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
