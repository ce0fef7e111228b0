"""What a model's id tells about what it accepts.

The generations differ in how thinking is asked for, in which schemas they
take and in whether a tool round trip must bring its signatures back.
"""

import re

from msgspec import Struct

from gateway_core import Model

_GENERATION = re.compile(r"gemini-(?:[a-z]+-)*(\d)(?:\.(\d))?(?!\d)")
_GEMMA = re.compile(r"gemma-([123])")


class Nature(Struct, frozen=True):
    """``generation`` is (3, 1) for 3.1; ``None`` for an id that does not say."""

    generation: tuple[int, int] | None
    pro: bool
    lite: bool
    instructed: bool
    """Whether it takes a system instruction."""
    reasoning: bool | None

    @property
    def thinks(self) -> bool:
        """Whether it may be told how much to think."""
        if self.generation is None:
            return self.reasoning is not False
        return self.generation >= (2, 5) and self.reasoning is not False

    def since(self, generation: int) -> bool:
        return self.generation is not None and self.generation[0] >= generation

    def before(self, generation: int) -> bool:
        """Certainly older; an id that does not say is not."""
        return self.generation is not None and self.generation[0] < generation


def nature(model: Model) -> Nature:
    name = model.id.lower().removeprefix("models/")
    return Nature(
        generation=_generation(name),
        pro="-pro" in name,
        lite="-lite" in name,
        instructed=_GEMMA.search(name) is None,
        reasoning=model.reasoning,
    )


def _generation(name: str) -> tuple[int, int] | None:
    found = _GENERATION.search(name)
    if found:
        return int(found[1]), int(found[2] or 0)
    # The floating names point at the newest generation.
    return (3, 0) if name.startswith("gemini-") and name.endswith("-latest") else None
