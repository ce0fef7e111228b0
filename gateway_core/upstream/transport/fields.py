"""The header fields of an answer: as they came, and by name."""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence

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

    def items(self) -> ItemsView[str, str]:
        return self._by_name().items()

    def _by_name(self) -> dict[str, str]:
        if self._found is None:
            pairs = [(n.decode("latin-1").lower(), v.decode("latin-1")) for n, v in self.raw]
            self._found = dict(pairs)
            if len(self._found) < len(pairs):
                self._found = _joined(pairs)
        return self._found


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in pairs:
        before = found.get(name)
        found[name] = value if before is None else f"{before}, {value}"
    return found


NONE = Fields(())
