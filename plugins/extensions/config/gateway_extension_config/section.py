"""What a section of the file is to the commands; ``sections`` has all of them."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .world import Fields, Name, Stored, World

FieldPath = tuple[str, ...]
"""Members inside an object, from the outside in."""
Route = tuple[str, str]
"""Method and path."""
VALUE = ""
"""The only field of an object that is a plain value."""


class NotInFile(Exception):
    """An object cannot be described by a file; the message says why and what to do."""


class Section(ABC):
    """One kind of object: how it is read, made, changed and deleted."""

    name: str
    levels: int = 1
    """How many names stand above an object; none where the section is the object itself."""
    is_plain: bool = False
    """Whether an object is a plain value in place of fields."""
    can_prune: bool = True
    routes: tuple[Route, ...]
    """Every route that writes these objects."""
    skipped: Mapping[str, str] = {}
    """Members of the routes' bodies that have no place in a file, and why."""
    nulls_remove: bool = False
    """Whether ``null`` inside a field is left out of what is sent, rather than sent."""

    @abstractmethod
    def read(self, world: World) -> Iterable[Stored]:
        """The objects that the gateway has. Raises CallRefused."""

    @abstractmethod
    def fields(self, world: World, name: Name) -> Collection[str]:
        """The fields that an object of this name may have. Raises NotInFile."""

    @abstractmethod
    def update(self, world: World, stored: Stored, fields: Fields) -> None:
        """Set fields of an object. Raises CallRefused."""

    def create(self, world: World, name: Name, fields: Fields) -> Mapping[str, Any]:
        """Make an object and return the gateway's answer. Raises CallRefused, and NotInFile where
        a file can make none."""
        raise NotInFile(f"{self.name} are made by the gateway itself")

    def delete(self, world: World, stored: Stored) -> None:
        """Delete an object. Raises CallRefused, and NotInFile where a file can delete none."""
        raise NotInFile(f"{self.name} are never deleted")

    def check_new(self, world: World, name: Name, fields: Fields) -> None:
        """Raises NotInFile where no such object can be made."""
        return

    def body(self, world: World, name: Name, fields: Fields, *, new: bool) -> Any:
        """What is sent, to be checked against ``schema``. Raises NotInFile."""
        return fields

    def schema(self, world: World, *, new: bool) -> Mapping[str, Any] | None:
        """The schema of ``body``."""
        return None

    def hides(self, world: World, name: Name, path: FieldPath) -> bool:
        """Whether the gateway never shows this member, so that it cannot be compared."""
        return False

    def completed(self, world: World, name: Name, path: FieldPath, value: Any) -> Any:
        """A value with what the gateway adds to it when it is stored."""
        return value

    def owes_secrets(self, stored: Stored, fields: Fields, changed: Sequence[FieldPath]) -> bool:
        """Whether hidden members have to be sent again with these changes."""
        return False

    def exported(self, world: World, stored: Stored) -> Fields | None:
        """Which of an object's fields an export has; ``None`` leaves the object out."""
        return {name: value for name, value in stored.fields.items() if value is not None}

    def secrets(self, world: World, stored: Stored) -> Iterable[FieldPath]:
        """Hidden members that an export writes references for."""
        return ()
