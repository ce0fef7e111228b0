"""What a call consumed and what it cost."""

from collections.abc import Mapping

from msgspec import Struct


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Token counts; zero means not reported.

    ``input_tokens`` counts the whole prompt, so ``cached_tokens`` (read from a
    cache) and ``cache_write_tokens`` are parts of it; ``reasoning_tokens`` is a
    part of ``output_tokens``. Readers of formats that count otherwise convert.
    """

    input_tokens: int = 0
    """The whole prompt, whatever part of it came from a cache."""
    output_tokens: int = 0
    """The whole answer, thinking included."""
    cached_tokens: int = 0
    """The part of the prompt that was read from the vendor's cache."""
    cache_write_tokens: int = 0
    """The part of the prompt that was written into the vendor's cache."""
    reasoning_tokens: int = 0
    """The part of the answer that was thinking."""
    estimated: bool = False
    """True when the vendor reported nothing and the gateway counted by a heuristic."""
    units: Mapping[str, float] | None = None
    """What is counted besides tokens: ``images``, ``seconds``, ``characters``, ``pages``,
    ``queries``, ``documents`` or another word, to how much. Behind a slash a unit may be finer,
    as in ``images/1024x1024/high``."""


class Price(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """US dollars per million tokens, where ``None`` falls back to ``input`` or ``output``, and
    per unit."""

    input: float = 0.0
    """For a million prompt tokens that are neither read from nor written into a cache."""
    output: float = 0.0
    """For a million tokens of the answer."""
    cached: float | None = None
    """For a million prompt tokens that were read from a cache."""
    cache_write: float | None = None
    """For a million prompt tokens that were written into a cache."""
    reasoning: float | None = None
    """For a million tokens of thinking."""
    units: Mapping[str, float] | None = None
    """US dollars for one of a unit of ``Usage.units``. A finer unit without a price of its own
    takes that of the coarser one: ``images/1024x1024/high``, ``images/1024x1024``, ``images``."""
