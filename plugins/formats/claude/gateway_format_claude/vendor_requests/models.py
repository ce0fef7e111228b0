"""What a model behind this wire accepts, read from its id.

The vendor's own models changed their request surface with their version
numbers: thinking budgets gave way to adaptive thinking, sampling parameters
went, then forced tool choice. A model of another vendor that speaks this wire
gets the oldest and most widely copied surface. ``ProviderSpec.options``
overrides either; the package's docstring lists the switches.

Sources: https://platform.claude.com/docs/en/build-with-claude/thinking and the
"What's new" and migration pages of each model.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Style = Literal["adaptive", "budget", "none"]
Off = Literal["disabled", "between_tools", "omit", "never"]

_ID = re.compile(
    r"claude-(?:(?P<family>opus|sonnet|haiku|fable|mythos)-(?P<new>\d{1,2}(?:[-.]\d{1,2})?)(?!\d)"
    r"|(?P<preview>mythos)-preview"
    r"|(?P<old>\d(?:[-.]\d{1,2})?)(?:-(?P<kind>opus|sonnet|haiku))?(?!\d)"
    r"|instant)"
)

_LOW_TO_MAX = ("low", "medium", "high", "max")
_ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")


class Traits(Struct, frozen=True, kw_only=True):
    """The request surface of one model."""

    own: bool = False
    """One of the vendor's own models."""
    style: Style = "budget"
    """How thinking is requested; ``none`` for a model that cannot think."""
    budgets: bool = True
    """Whether ``thinking.type: enabled`` with a token budget is accepted."""
    off: Off = "disabled"
    """How thinking is turned off; ``never`` for a model that always thinks."""
    thinks: bool = False
    """Thinks even when the request does not mention it."""
    efforts: tuple[str, ...] = ()
    sampling: bool = True
    """Takes temperature, top_p and top_k."""
    one_sampler: bool = False
    """Takes temperature or top_p, not both."""
    forced_tools: bool = True
    """Takes a tool choice that forces a call."""
    structured: bool = False
    """Constrains its answer, and strict tools' arguments, to a JSON schema."""
    system_turns: bool = False
    """Takes a system message between turns."""
    hosted: bool = False
    """Has the vendor's web search, web fetch and code execution."""
    unsigned_thinking: bool = False
    """Takes earlier thinking back without a signature."""


_ADAPTIVE = Traits(
    own=True,
    style="adaptive",
    budgets=False,
    efforts=_ALL_EFFORTS,
    sampling=False,
    structured=True,
    hosted=True,
)
_THINKING = replace(_ADAPTIVE, thinks=True)
_OFF_SINCE_5_5: Mapping[str, Off] = {"opus": "never", "sonnet": "between_tools"}


def traits_of(model: str, options: Mapping[str, str | bool]) -> Traits:
    """The request surface of a model; the provider's options win."""
    traits = _read_id(model)
    if not options:
        return traits
    style = options.get("thinking")
    if style == "adaptive":
        traits = replace(traits, style="adaptive", budgets=False, efforts=_ALL_EFFORTS)
    elif style == "budget":
        traits = replace(traits, style="budget", budgets=True)
    elif style == "none":
        traits = replace(traits, style="none", off="omit", thinks=False)
    return replace(
        traits,
        structured=_switch(options, "structured_outputs", traits.structured),
        system_turns=_switch(options, "system_turns", traits.system_turns),
        hosted=_switch(options, "hosted_tools", traits.hosted),
        unsigned_thinking=_switch(options, "unsigned_thinking", traits.unsigned_thinking),
    )


@lru_cache(maxsize=1024)
def _read_id(model: str) -> Traits:
    match = _ID.search(model.lower())
    if match is None:
        return Traits()
    if match["preview"]:
        family, version = "mythos", (4, 7)
    else:
        # A bare "claude-instant" is of the first generation.
        family = match["family"] or match["kind"] or ""
        major, _, minor = (match["new"] or match["old"] or "1").replace("-", ".").partition(".")
        version = int(major), int(minor or 0)
    if version < (3, 7):
        return Traits(own=True, style="none", off="omit")
    if version < (4, 6):
        return Traits(
            own=True,
            one_sampler=version >= (4, 1),
            structured=version >= (4, 5) or (family, version) == ("opus", (4, 1)),
            hosted=version >= (4, 0),
            efforts=("low", "medium", "high") if (family, version) == ("opus", (4, 5)) else (),
        )
    if version < (4, 7):
        return replace(
            _ADAPTIVE, budgets=True, efforts=_LOW_TO_MAX, sampling=True, one_sampler=True
        )
    if family in ("fable", "mythos"):
        return replace(
            _THINKING, off="never", forced_tools=version < (5, 1), system_turns=version >= (5, 0)
        )
    if version < (5, 0):
        # Without the member these do not think; the vendor's notes disagree on "disabled".
        return replace(_ADAPTIVE, off="omit", system_turns=family == "opus" and version >= (4, 8))
    if version < (5, 5):
        return replace(_THINKING, system_turns=family == "opus")
    off: Off = _OFF_SINCE_5_5.get(family, "disabled")
    return replace(_THINKING, off=off, forced_tools=False, system_turns=True)


def _switch(options: Mapping[str, str | bool], name: str, usual: bool) -> bool:
    value = options.get(name, usual)
    return value if isinstance(value, bool) else value.lower() == "true"
