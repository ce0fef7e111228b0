"""A file that is made from another gateway's configuration, and what was left out of it."""

from typing import Any

from msgspec import Struct, field

from .documents import write_document
from .references import reference_to
from .sections import FORM, VERSION


class Imported(Struct, kw_only=True):
    """What was read so far."""

    tree: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    """Variables that the file needs, and what each is for."""
    notes: list[str] = field(default_factory=list)
    """What was not carried over, or otherwise than it was."""

    def put(self, value: Any, *path: str) -> None:
        place = self.tree
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = value

    def variable(self, name: str, about: str) -> str:
        """A reference to a variable, which is listed."""
        self.variables.setdefault(name, about)
        return reference_to(name)

    def text(self, origin: str) -> str:
        """The file, with what its reader has to know at its head."""
        lines = [f"Made from {origin}; look it through before it is applied."]
        if self.variables:
            lines += ["", "Set these variables:"]
            lines += [f"  {name}: {about}" for name, about in sorted(self.variables.items())]
        if self.notes:
            lines += ["", "Not carried over, or otherwise than it was:"]
            lines += [f"  {note}" for note in self.notes]
        # A name with a line break in it must not end the comment.
        head = "".join(f"# {' '.join(line.splitlines())}".rstrip() + "\n" for line in lines)
        return head + write_document({VERSION: FORM, **self.tree})
