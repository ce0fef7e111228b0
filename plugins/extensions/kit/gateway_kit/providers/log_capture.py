"""What is logged while a call is on its way, to see whether a secret is in it."""

import logging
from typing import Self


class LogCapture(logging.Handler):
    """Keeps every line that is logged inside its block, however unimportant."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self._lines: list[str] = []
        self._root = logging.getLogger()
        self._level = self._root.level

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))

    def __enter__(self) -> Self:
        self._level = self._root.level
        self._root.setLevel(logging.DEBUG)
        self._root.addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        self._root.removeHandler(self)
        self._root.setLevel(self._level)
