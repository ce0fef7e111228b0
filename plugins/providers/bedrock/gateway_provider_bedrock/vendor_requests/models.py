"""What a model behind Converse accepts, read from its id.

Converse is one form for many makers' models, but each refuses what it does not
know. An id that tells nothing, such as an application's own profile, gets the
common ground. ``ProviderSpec.options`` may say more; see the package.

Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
and the parameter page of each maker.
"""

import re
from typing import Literal

from msgspec import Struct

Thinks = Literal["budget", "adaptive", "nova", "effort", "no"]
Off = Literal["omit", "disabled", "between_tools", "never"]

_CLAUDE = re.compile(
    r"claude-(?:(?P<family>opus|sonnet|haiku|fable|mythos)-(?P<new>\d{1,2}(?:[-.]\d{1,2})?)(?!\d)"
    r"|(?P<preview>mythos)-preview|(?P<old>\d(?:[-.]\d{1,2})?)(?!\d)|instant|v\d)"
)
_EFFORT = {"openai.gpt-oss": "reasoning_effort", "qwen.qwen3": "reasoning_config"}
"""Makers that take an effort, and where in the model's own fields."""
_STRUCTURED = ("openai.", "qwen.", "minimax.", "zai.", "moonshot", "deepseek.v3", "google.gemma-3")
"""Open models whose answers the service itself keeps to a schema."""


class Traits(Struct, frozen=True, kw_only=True):
    """The request surface of one model."""

    thinks: Thinks = "no"
    off: Off = "omit"
    """How thinking is turned off; ``never`` for a model that always thinks."""
    thinks_unasked: bool = False
    forced_tools: bool = True
    """Takes a tool choice that forces a call."""
    thinking_field: str = ""
    """Of ``additionalModelRequestFields``, for a model that takes an effort."""
    claude: bool = False
    caches: bool = False
    """Takes cache points."""
    statuses: bool = False
    """Takes the status of a tool's result."""
    structured: bool = False
    """Keeps its answer, and strict tools' arguments, to a JSON schema."""
    top_k: str = ""
    """Where among the model's own fields; empty when it takes none."""
    samples: bool = True
    """Takes temperature and top_p."""
    one_sampler: bool = False
    """Takes temperature or top_p, not both."""


def traits_of(model: str) -> Traits:
    name = model.lower()
    match = _CLAUDE.search(name)
    if match is not None:
        if match["preview"]:
            return _claude("mythos", (4, 7))
        version = match["new"] or match["old"] or "2"
        major, _, minor = version.replace("-", ".").partition(".")
        return _claude(match["family"] or "", (int(major), int(minor or 0)))
    if "amazon.nova" in name:
        thinks: Thinks = "nova" if "nova-2" in name else "no"
        return Traits(thinks=thinks, caches=True, statuses=True, top_k="inferenceConfig.topK")
    structured = any(maker in name for maker in _STRUCTURED)
    for maker, field in _EFFORT.items():
        if maker in name:
            return Traits(thinks="effort", thinking_field=field, structured=structured)
    return Traits(structured=structured)


def _claude(family: str, version: tuple[int, int]) -> Traits:
    samples = version < (4, 7)
    off: Off = "disabled"
    if family in ("fable", "mythos") or (family == "opus" and version >= (5, 5)):
        off = "never"
    elif version < (5, 0):
        off = "omit"
    elif family == "sonnet" and version >= (5, 5):
        off = "between_tools"
    return Traits(
        claude=True,
        thinks="adaptive" if version >= (4, 6) else "budget" if version >= (3, 7) else "no",
        off=off,
        thinks_unasked=version >= (5, 0),
        forced_tools=version < (5, 5),
        caches=version >= (3, 5),
        statuses=version >= (3, 0),
        structured=version >= (4, 5),
        top_k="top_k" if samples else "",
        samples=samples,
        one_sampler=version >= (4, 1),
    )
