"""The gateway's log as its author reads it: whole, with the lines of a traceback, and once."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gateway_core.upstream.redaction import hidden

PROBLEMS = "gateway_core.plugins"
"""Logs what is wrong with plugins, each time that they are loaded."""


class LogOutput(logging.Handler):
    """Tells each record; those of ``once`` and of what is below it only once.

    The plugin is loaded twice, so its problems would come twice.
    """

    def __init__(self, show: Callable[[str], None], *, without_repeats: str = PROBLEMS) -> None:
        super().__init__(logging.WARNING)
        self._once = without_repeats
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        self._show = show
        self._shown: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        text = hidden(self.format(record)).rstrip()
        if text in self._shown:
            return
        if record.name.startswith(self._once):
            self._shown.add(text)
        try:
            self._show(text)
        except OSError:  # nobody listens any more
            return


@contextmanager
def without_repeats(show: Callable[[str], None]) -> Iterator[None]:
    """Tell everything that is logged meanwhile, and nothing twice."""
    handler, root = LogOutput(show, without_repeats=""), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def configure(show: Callable[[str], None]) -> None:
    """Tell everything that is logged in this process, from warnings on."""
    logging.basicConfig(level=logging.WARNING, handlers=[LogOutput(show)], force=True)
