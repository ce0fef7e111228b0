"""Shows the dashboard in the browser of the person who has started the gateway."""

import threading
import webbrowser


def open_page(url: str) -> None:
    """Return at once: a browser may take seconds to start."""
    threading.Thread(target=webbrowser.open, args=(url,), name="browser", daemon=True).start()
