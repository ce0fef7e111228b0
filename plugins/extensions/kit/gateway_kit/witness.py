"""Seeing what code writes beside its results: log, output and files."""

import io
import logging
import os
import sys
import threading
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import Any, Self

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_open: list["Witness"] = []
"""Those that look on. An audit hook cannot be taken away again, so there is one for all."""


class Witness(logging.Handler):
    """Keeps what is logged and printed inside its block, and the names of files written to."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self._lines: list[str] = []
        self._output = io.StringIO()
        self._stack = ExitStack()
        self._root = logging.getLogger()
        self._level = self._root.level
        self.written: list[str] = []
        self._thread = threading.get_ident()

    @property
    def text(self) -> str:
        return "\n".join([*self._lines, self._output.getvalue()])

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))

    def __enter__(self) -> Self:
        _install()
        self._level = self._root.level
        self._root.setLevel(logging.DEBUG)
        self._root.addHandler(self)
        self._stack.enter_context(redirect_stdout(self._output))
        self._stack.enter_context(redirect_stderr(self._output))
        _open.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _open.remove(self)
        self._stack.close()
        self._root.removeHandler(self)
        self._root.setLevel(self._level)

    def saw(self, path: str) -> None:
        """A file was opened for writing in the thread of the block."""
        if threading.get_ident() == self._thread:
            self.written.append(path)


def _install() -> None:
    if not getattr(sys, "_gateway_kit_witness", False):
        sys.addaudithook(_look)
        sys._gateway_kit_witness = True  # type: ignore[attr-defined]


def _look(event: str, arguments: tuple[Any, ...]) -> None:
    if _open and event == "open":
        path, _, flags = arguments
        if isinstance(path, str) and isinstance(flags, int) and flags & _WRITING:
            for witness in _open:
                witness.saw(path)
