"""The list of output items, in the order they were added."""

from collections.abc import Sequence

from .._frames import Frames, opening
from .items import COMPLETED, IN_PROGRESS, Item


class OutputList:
    """Adds items, and says that one is done when another has begun and its parts have ended."""

    def __init__(self, out: Frames) -> None:
        self._out = out
        self._items: list[Item] = []
        self._done: dict[int, bytes] = {}

    def __len__(self) -> int:
        return len(self._items)

    def latest(self) -> Item | None:
        """The item that was added last; more may be put into it."""
        return self._items[-1] if self._items else None

    def add(self, item: Item) -> None:
        # The vendor ends an item before it begins the next.
        self.settle(len(self) - 1)
        self._items.append(item)
        index = len(self) - 1
        self._out.add(_item_event("added", item.write(IN_PROGRESS), index))

    def ended(self, index: int) -> None:
        """A part of this item has ended."""
        if index < len(self) - 1:
            self.settle(index)

    def settle(self, index: int) -> None:
        """Report an item as done once, when it is whole."""
        if index >= 0 and index not in self._done and self._items[index].is_whole():
            self._finish(index, COMPLETED)

    def close(self, status: bytes) -> Sequence[bytes]:
        """End whatever is open; ``status`` is that of the last item."""
        last = len(self) - 1
        for index, item in enumerate(self._items):
            if index not in self._done:
                item.end(self._out)
                self._finish(index, status if index == last else COMPLETED)
        return [self._done[index] for index in range(len(self))]

    def _finish(self, index: int, status: bytes) -> None:
        written = self._done[index] = self._items[index].write(status)
        self._out.add(_item_event("done", written, index))


def _item_event(what: str, item: bytes, index: int) -> bytes:
    return opening(f"response.output_item.{what}", b'"output_index":%d,"item":%b' % (index, item))
