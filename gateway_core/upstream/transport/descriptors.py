"""A lack of file descriptors: the gateway's own trouble, for which no vendor is at fault."""

import errno
import logging
import math
import socket
import time
from collections.abc import Callable

from ...contracts.errors import Unavailable

AGAIN = 60.0
"""Seconds until a lack that lasts is logged again."""
_LACK = (errno.EMFILE, errno.ENFILE)
_ADVICE = "raise the limit of open files (ulimit -n), or lower GATEWAY_MAX_CONNECTIONS"

log = logging.getLogger(__name__)


class Descriptors:
    """Recognizes that none was free, and logs it once a minute."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._logged_at = -math.inf

    def lack(self, error: BaseException) -> Unavailable | None:
        """What to raise for a failed connection; ``None`` where it failed for another reason."""
        # A look-up of a name and the engine of proxies hide the number of the error.
        if getattr(error, "errno", None) not in _LACK and is_one_free():
            return None
        now = self._monotonic()
        if now - self._logged_at >= AGAIN:
            self._logged_at = now
            log.error("No file descriptor is free for a connection: %s", _ADVICE)
        return Unavailable("The gateway has no file descriptor free", retry_after=1)


def is_one_free() -> bool:
    try:
        socket.socket().close()
    except OSError as error:
        return error.errno not in _LACK
    return True


DESCRIPTORS = Descriptors()
"""The process has one set of them, however many networks it has."""
