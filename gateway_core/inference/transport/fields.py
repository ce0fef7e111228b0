"""The header fields of an answer: as they came, and by name."""

from collections.abc import Iterator, Mapping, Sequence

Field = tuple[bytes, bytes]


class Fields(Mapping[str, str]):
    """Fields by lower-case name; values of a repeated name are joined by a comma.

    The mapping is built when it is first looked into: most answers are relayed
    without a look at their fields.
    """

    __slots__ = ("_found", "raw")

    def __init__(self, raw: Sequence[Field]) -> None:
        self.raw = raw
        """Names and values in their order, nothing joined."""
        self._found: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._by_name()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name())

    def __len__(self) -> int:
        return len(self._by_name())

    def _by_name(self) -> dict[str, str]:
        if self._found is None:
            self._found = {}
            for raw, value in self.raw:
                self._add(raw.decode("latin-1").lower(), value.decode("latin-1"))
        return self._found

    def _add(self, name: str, value: str) -> None:
        assert self._found is not None
        before = self._found.get(name)
        self._found[name] = value if before is None else f"{before}, {value}"


NONE = Fields(())
