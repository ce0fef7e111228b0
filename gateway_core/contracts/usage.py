"""What a call consumed and what it cost."""

from msgspec import Struct


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Token counts; zero means not reported.

    ``input_tokens`` counts the whole prompt, so ``cached_tokens`` (read from a
    cache) and ``cache_write_tokens`` are parts of it; ``reasoning_tokens`` is a
    part of ``output_tokens``. Readers of formats that count otherwise convert.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False
    """True when the vendor reported nothing and the gateway counted by a heuristic."""


class Price(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """US dollars per million tokens; ``None`` falls back to ``input`` or ``output``."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    reasoning: float | None = None
