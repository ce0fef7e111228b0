"""An icon in the tray with the actions open, copy address and quit.

The extra ``tray`` installs what draws it: pystray and Pillow.
"""

import logging
import os
import shutil
import signal
import subprocess
import threading
import webbrowser
from typing import Any

NO_PACKAGE = (
    "There is no tray icon, because its package is missing: pip install 'model-gateway[tray]'."
)
SIZE = 64
"""Pixels of each side of the icon."""
_COLOUR = (34, 139, 230, 255)
_COPIERS = (
    ("pbcopy",),
    ("clip",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
)
"""Programs that put what they read into the clipboard: macOS, Windows, Wayland, X11."""
log = logging.getLogger(__name__)


def show_icon(url: str) -> str | None:
    """Show the icon until the process ends. Gives the reason when there can be none."""
    try:
        import pystray
    except ImportError:
        return NO_PACKAGE
    except Exception as error:  # The display's own library raises what it likes.
        return f"There is no tray icon: {error}"
    icon = pystray.Icon("model-gateway", _picture(), "Model Gateway", _menu(pystray, url))
    threading.Thread(target=_run, args=(icon,), name="tray", daemon=True).start()
    return None


def _run(icon: Any) -> None:
    try:
        icon.run()
    except Exception as error:
        log.warning("the tray icon is gone: %s", error)


def _menu(pystray: Any, url: str) -> Any:
    def quit_gateway(icon: Any) -> None:
        icon.stop()
        os.kill(os.getpid(), signal.SIGTERM)

    copier = next((each for each in _COPIERS if shutil.which(each[0])), None)
    return pystray.Menu(
        pystray.MenuItem("Open", lambda: webbrowser.open(url), default=True),
        pystray.MenuItem(
            "Copy address",
            lambda: copy(copier or (), url),
            enabled=copier is not None,
        ),
        pystray.MenuItem("Quit", quit_gateway),
    )


def copy(copier: tuple[str, ...], text: str) -> None:
    """Put a text into the clipboard."""
    subprocess.run(copier, input=text.encode(), check=False, timeout=5)


def _picture() -> Any:
    """A ring with a bar through it: a gate."""
    from PIL import Image, ImageDraw

    picture = Image.new("RGBA", (SIZE, SIZE))
    draw = ImageDraw.Draw(picture)
    edge, width = SIZE // 8, SIZE // 8
    draw.ellipse((edge, edge, SIZE - edge, SIZE - edge), outline=_COLOUR, width=width)
    draw.rectangle((0, (SIZE - width) // 2, SIZE, (SIZE + width) // 2), fill=_COLOUR)
    return picture
