"""What a platform has besides chat, at its host's root."""

from gateway_core import Service

from .pictures import pictures
from .search import search
from .videos import videos


def services(host: str) -> tuple[Service, ...]:
    """``host`` is the platform's, with its scheme."""
    return (pictures(host), *videos(host), search(host))
