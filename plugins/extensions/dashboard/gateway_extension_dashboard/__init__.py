"""The web dashboard: a single-page application below ``/dashboard``, which talks to ``/api`` only.

``/`` and ``/login`` lead to it. Its files are built from ``web`` into ``static`` beside this
module, and none of them is looked at before the first request.
"""

from pathlib import Path

import click

from gateway_core import Guarded, hookimpl

from .built_files import BuiltFiles
from .routes import routes

GATEWAY_PROTOCOL = 1
STATIC = Path(__file__).parent / "static"


@hookimpl
def register_routes() -> list[Guarded]:
    return routes(BuiltFiles(STATIC))


@hookimpl
def listening(address: str, browser: bool, tray: bool) -> None:
    """Say where the dashboard is, and show it to a person."""
    url = f"{address}/"
    click.echo(f"Dashboard: {url}")
    # Imported only here, because most gateways have no desktop.
    if browser:
        from .browser import open_page

        open_page(url)
    if tray:
        from .tray import show_icon

        reason = show_icon(url)
        if reason is not None:
            click.echo(reason, err=True)
