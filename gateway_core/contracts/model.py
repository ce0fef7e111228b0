"""One callable row of a provider's catalog."""

from msgspec import Struct

from .kinds import Kind
from .usage import Price


class Model(Struct, frozen=True, omit_defaults=True):
    """A model a provider offers.

    ``None`` means the vendor does not say, which is different from ``False``.
    """

    id: str
    """The vendor's own id, sent as it stands."""
    name: str | None = None
    """As people write it; ``None`` shows the id."""
    kind: str = Kind.LLM
    """What it is for: a ``Kind``, or a kind that a plugin brings."""
    context: int | None = None
    """Context window, tokens."""
    max_output: int | None = None
    """Longest answer, tokens."""
    tools: bool | None = None
    """Whether it calls tools."""
    reasoning: bool | None = None
    """Whether it thinks before it answers."""
    vision: bool | None = None
    """Whether it looks at images."""
    unsupported: tuple[str, ...] = ()
    """Top-level request members this model rejects; dropped on the way out."""
    format: str | None = None
    """Wire format, when it differs from the provider's."""
    price: Price | None = None
    """The vendor's own price; ``None`` takes the price table's."""
