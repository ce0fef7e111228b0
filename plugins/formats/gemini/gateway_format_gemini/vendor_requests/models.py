"""What a model accepts, read from its id.

The generations differ in how thinking is requested, in which schemas they take and in whether a
tool round trip must bring its signatures back.
https://ai.google.dev/gemini-api/docs/models
"""

import re

from msgspec import Struct

from gateway_core import Model

_GENERATION = re.compile(r"gemini-(?:[a-z]+-)*(\d)(?:\.(\d))?(?!\d)")
_GEMMA = re.compile(r"gemma-([123])")


class Traits(Struct, frozen=True):
    """``generation`` is (3, 1) for 3.1; ``None`` for an id that does not say."""

    generation: tuple[int, int] | None
    pro: bool
    lite: bool
    instructed: bool
    """Whether it takes a system instruction."""
    reasoning: bool | None

    @property
    def thinks(self) -> bool:
        """Whether a request may say how much to think."""
        if self.generation is None:
            return self.reasoning is not False
        return self.generation >= (2, 5) and self.reasoning is not False

    def since(self, generation: int) -> bool:
        return self.generation is not None and self.generation[0] >= generation

    def before(self, generation: int) -> bool:
        """Certainly older; an id that does not say is not."""
        return self.generation is not None and self.generation[0] < generation


def traits_of(model: Model) -> Traits:
    name = model.id.lower()
    match = _GENERATION.search(name)
    generation: tuple[int, int] | None = None
    if match:
        generation = int(match[1]), int(match[2] or 0)
    elif name.startswith("gemini-") and name.endswith("-latest"):
        # The floating names point at the newest generation.
        generation = (3, 0)
    return Traits(
        generation=generation,
        pro="-pro" in name,
        lite="-lite" in name,
        # https://ai.google.dev/gemma/docs/core/prompt-structure
        instructed=_GEMMA.search(name) is None,
        reasoning=model.reasoning,
    )
