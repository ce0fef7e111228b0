"""Where the gateway of a data directory listens, written down for its command line.

The file is locked for as long as the port is the gateway's. So an address that
a killed gateway left behind, whose port may be another program's by now, is
never taken for one where a gateway listens.
"""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gateway_core.config.data_dir import PRIVATE_FILE
from gateway_core.config.errors import DataDirUnusable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = logging.getLogger(__name__)

NAME = "gateway.address"
LONGEST = 512
"""Bytes of an address."""


@contextmanager
def announced(directory: Path, url: str) -> Iterator[None]:
    """While the block runs, the command line finds the gateway.

    Where the file cannot be written the gateway serves all the same, and the command line needs
    ``--url``.
    """
    descriptor = None
    try:
        descriptor = os.open(directory / NAME, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        _lock(descriptor)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, url.encode())
    except OSError as error:
        if descriptor is not None:
            os.close(descriptor)
            descriptor = None
        message = "the command line cannot be told where the gateway listens (%s); use its --url"
        log.warning(message, error.strerror)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                os.ftruncate(descriptor, 0)
            os.close(descriptor)


def where(directory: Path) -> str | None:
    """The address at which the gateway listens that uses the directory; ``None`` if none does.

    Raises DataDirUnusable.
    """
    path = directory / NAME
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise DataDirUnusable(
            f"{path} cannot be read: {error.strerror}. Run this as the gateway's own user."
        ) from error
    try:
        return os.read(descriptor, LONGEST).decode() or None if _is_locked(descriptor) else None
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        # What is locked cannot be read there, so it is a byte behind the address.
        os.lseek(descriptor, LONGEST, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

    def _is_locked(descriptor: int) -> bool:
        os.lseek(descriptor, LONGEST, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return True
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return False

else:

    def _lock(descriptor: int) -> None:
        """Wait for a command line that reads the file right now."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _is_locked(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
