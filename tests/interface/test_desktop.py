"""The dashboard in the browser of whoever starts the gateway at a desktop, and the tray's icon."""

import os
import pty
import re
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from gateway_process import COMMAND

DESKTOP = {"DISPLAY": ":99"}
NAMES = ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY", "CI", "GATEWAY_MODE")
LIMIT = 60
"""Seconds."""


class Terminal:
    """A gateway that a person starts in a terminal; the browser writes down what it is to show."""

    def __init__(self, folder: Path, arguments: tuple[str, ...], variables: dict[str, str]) -> None:
        self.shown = folder / "shown"
        os.mkfifo(self.shown)
        # Open at both ends, so that neither side waits for the other.
        self._pages = os.open(self.shown, os.O_RDWR)
        browser = folder / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > "{self.shown}"\n')
        browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
        outside = {name: value for name, value in os.environ.items() if name not in NAMES}
        self._screen, inner = pty.openpty()
        self.process = subprocess.Popen(
            [COMMAND, "--port", "0", *arguments],
            env={**outside, "DATA_DIR": str(folder / "data"), "BROWSER": str(browser), **variables},
            stdin=inner,
            stdout=inner,
            stderr=inner,
        )
        os.close(inner)
        self.printed = self._read_greeting()

    def _read_greeting(self) -> str:
        text = ""
        timer = threading.Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            while '-d \'{"model"' not in text:
                text += os.read(self._screen, 4096).decode()
        finally:
            timer.cancel()
        return text

    def page(self) -> str:
        """The address that the browser was called with; waits for it."""
        timer = threading.Timer(LIMIT, os.write, (self._pages, b"nothing\n"))
        timer.start()
        try:
            return os.read(self._pages, 4096).decode().strip()
        finally:
            timer.cancel()

    def stop(self) -> str:
        """Stop it in order, and give what it printed since."""
        self.process.send_signal(signal.SIGTERM)
        rest = ""
        with suppress(OSError):  # The terminal's other side is closed.
            while True:
                rest += os.read(self._screen, 4096).decode()
        assert self.process.wait(20) == 0
        return rest

    def shows_nothing(self) -> bool:
        """Whether nothing was shown. To be asked after the stop."""
        os.write(self._pages, b"end\n")
        return os.read(self._pages, 4096) == b"end\n"

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)
        os.close(self._screen)
        os.close(self._pages)


@contextmanager
def terminal(folder: Path, *arguments: str, **variables: str) -> Iterator[Terminal]:
    here = Terminal(folder, arguments, variables)
    try:
        yield here
    finally:
        here.close()


def test_the_dashboard_is_opened_for_a_person_at_a_desktop(tmp_path: Path) -> None:
    with terminal(tmp_path, **DESKTOP) as here:
        page = here.page()
        rest = here.stop()

    address = re.search(r"listens on (http://[0-9.:]+)", here.printed)
    assert address is not None
    assert page == f"{address[1]}/"
    assert f"Dashboard: {address[1]}/" in here.printed + rest


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (("--no-browser",), DESKTOP),
        ((), {}),
        ((), {**DESKTOP, "SSH_CONNECTION": "203.0.113.5 1 203.0.113.6 22"}),
        ((), {**DESKTOP, "GATEWAY_MODE": "container", "HOST": "127.0.0.1"}),
        ((), {**DESKTOP, "GATEWAY_BLOCK_PLUGINS": "extension-dashboard"}),
    ],
    ids=["--no-browser", "no display", "over ssh", "in a container", "no dashboard"],
)
def test_it_is_not_opened_otherwise(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str]
) -> None:
    with terminal(tmp_path, *arguments, **variables) as here:
        rest = here.stop()

        assert here.shows_nothing()
    has_dashboard = "GATEWAY_BLOCK_PLUGINS" not in variables
    assert ("Dashboard: " in here.printed + rest) is has_dashboard


def test_a_browser_is_not_opened_from_a_program(tmp_path: Path) -> None:
    """Its input and output are no terminal."""
    marker = tmp_path / "shown"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{marker}"\n')
    browser.chmod(0o700)
    env = {**os.environ, **DESKTOP, "BROWSER": str(browser), "DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(
        [COMMAND, "--port", "0"], env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "listens on" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.stdout.read()

    assert process.returncode == 0
    assert not marker.exists()


def test_without_a_display_the_tray_says_in_a_line_why_there_is_no_icon(tmp_path: Path) -> None:
    with terminal(tmp_path, "--tray") as here:
        text = here.printed + here.stop()

    assert text.count("There is no tray icon, because there is no display.") == 1
    assert "Traceback" not in text


def test_a_display_that_cannot_be_reached_is_a_line_too(tmp_path: Path) -> None:
    with terminal(tmp_path, "--tray", "--no-browser", DISPLAY=":987") as here:
        text = here.printed + here.stop()

    assert len(re.findall(r"There is no tray icon: .+", text)) == 1
    assert "Traceback" not in text
