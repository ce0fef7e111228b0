"""The header fields of an answer: as they came, and by name."""

from collections.abc import ItemsView, Iterator, Mapping, Sequence

Field = tuple[bytes, bytes]


class Fields(Mapping[str, str]):
    """Fields by lower-case name; values of a repeated name are joined by a comma.

    The mapping is built when it is first looked into: most answers are relayed
    without a look at their fields.
    """

    __slots__ = ("_values", "raw")

    def __init__(self, raw: Sequence[Field]) -> None:
        self.raw = raw
        """Names and values in their order, nothing joined."""
        self._values: dict[str, str] | None = None

    def __getitem__(self, name: str) -> str:
        return self._by_name()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name())

    def __len__(self) -> int:
        return len(self._by_name())

    def items(self) -> ItemsView[str, str]:
        return self._by_name().items()

    def _by_name(self) -> dict[str, str]:
        if self._values is None:
            # RFC 9110 section 5.5: values were Latin-1 once, which also reads every byte.
            pairs = [(n.decode("latin-1").lower(), v.decode("latin-1")) for n, v in self.raw]
            values = dict(pairs)
            if len(values) < len(pairs):
                # RFC 9110 section 5.3: lines of one name are joined by a comma, in their order.
                values = {}
                for name, value in pairs:
                    values[name] = f"{values[name]}, {value}" if name in values else value
            self._values = values
        return self._values


NONE = Fields(())
