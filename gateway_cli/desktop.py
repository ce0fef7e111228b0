"""What a person at a desktop may be shown besides the server."""

import sys

import click
from msgspec import Struct

from gateway_core.config.environment import Environment, Mode

NO_DISPLAY = "There is no tray icon, because there is no display."
_REMOTE = ("SSH_CONNECTION", "SSH_TTY", "CI")
"""Variables of a shell whose desktop, if there is one, is not in front of a person."""


class Desktop(Struct, frozen=True, kw_only=True):
    """What is wanted there."""

    browser: bool = False
    tray: bool = False

    def possible(self, environment: Environment) -> "Desktop":
        """What of it can be shown. Prints why an icon cannot."""
        variables = environment.variables
        # On Linux a variable names the display server.
        is_named = "DISPLAY" in variables or "WAYLAND_DISPLAY" in variables
        has_display = is_named or sys.platform in ("win32", "darwin")
        if self.tray and not has_display:
            click.echo(NO_DISPLAY, err=True)
        is_apart = environment.mode is Mode.CONTAINER or any(name in variables for name in _REMOTE)
        is_person = not is_apart and sys.stdin.isatty() and sys.stdout.isatty()
        return Desktop(
            browser=self.browser and has_display and is_person, tray=self.tray and has_display
        )


NOTHING = Desktop()
