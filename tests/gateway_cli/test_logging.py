"""The log: one line for each event, and nothing secret in it."""

import logging
import sys

import msgspec
import pytest

from gateway_cli.logging import LONGEST, Lines

SECRET = "sk-" + "abcdefgh12345678"


def record(message: str, *arguments: object, failed: bool = False) -> logging.LogRecord:
    trouble = None
    if failed:
        try:
            raise ValueError(f"the vendor said {SECRET}")
        except ValueError:
            trouble = sys.exc_info()
    return logging.LogRecord("gateway", logging.ERROR, "f.py", 1, message, arguments, trouble)


def test_a_record_is_one_line_of_json() -> None:
    line = Lines(plain=False).format(record("a\nb\r\x1b[31m %s", "c", failed=True))

    reported = msgspec.json.decode(line)
    assert "\n" not in line
    assert (reported["level"], reported["logger"]) == ("ERROR", "gateway")
    assert reported["message"] == "a\nb\r\x1b[31m c"
    assert reported["trace"].startswith("Traceback")


@pytest.mark.parametrize("plain", [True, False])
def test_what_looks_like_a_secret_is_masked(plain: bool) -> None:
    line = Lines(plain=plain).format(
        record("asked with %s at http://user:pass@host/?key=abcd1234", SECRET, failed=True)
    )

    assert "***" in line
    assert not [word for word in (SECRET, "pass@", "abcd1234") if word in line]


def test_a_terminal_gets_one_line_for_a_message() -> None:
    line = Lines(plain=True).format(record("a\nb\x1b[31m"))

    assert line.endswith("gateway: a\\nb\\x1b[31m")


def test_a_long_message_is_cut() -> None:
    reported = msgspec.json.decode(Lines(plain=False).format(record("x" * 100_000)))

    assert len(reported["message"]) == LONGEST
