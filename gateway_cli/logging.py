"""How the log is written: a line for each event, without secrets; JSON unless a person watches."""

import logging
import sys

import msgspec

from gateway_core.storage.moments import iso
from gateway_core.upstream.redaction import hidden

LONGEST = 2048
"""Characters of a message."""
LONGEST_TRACE = 16 * 1024


class Lines(logging.Formatter):
    """Writes a record as one line."""

    def __init__(self, *, plain: bool) -> None:
        super().__init__()
        self._plain = plain

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": iso(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": _cut(hidden(record.getMessage()), LONGEST),
        }
        if record.exc_info:
            entry["trace"] = _cut(hidden(self.formatException(record.exc_info)), LONGEST_TRACE)
        return _plain(entry) if self._plain else msgspec.json.encode(entry).decode()


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _plain(entry: dict[str, str]) -> str:
    """For a terminal: the trace may take lines of its own, a message never does."""
    message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in entry["message"])
    line = f"{entry['at']} {entry['level']} {entry['logger']}: {message}"
    return f"{line}\n{entry['trace']}" if "trace" in entry else line


def begin(level: str) -> None:
    """Write the log to standard error, from this level on."""
    handler = logging.StreamHandler()
    handler.setFormatter(Lines(plain=sys.stderr.isatty()))
    logging.basicConfig(level=level, handlers=[handler], force=True)
