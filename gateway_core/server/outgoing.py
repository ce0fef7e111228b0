"""What of our bytes a client has not taken yet, the system's own buffers included.

A client that reads slowly empties the system's buffers first, and these may
hold megabytes: seen from here alone it would seem to read nothing for minutes.
"""

import asyncio
import sys
from contextlib import suppress

try:
    from fcntl import ioctl
    from termios import TIOCOUTQ
except ImportError:  # Where the system has no such question.
    ioctl = None  # type: ignore[assignment]


def on_the_way(transport: asyncio.WriteTransport) -> int:
    """Bytes that are not with the client, as far as that can be told."""
    return transport.get_write_buffer_size() + held(transport)


def held(transport: asyncio.BaseTransport) -> int:
    """Bytes that the system has taken and the client's has not; 0 where that is not told."""
    sock, told = transport.get_extra_info("socket"), bytearray(4)
    if ioctl is not None and sock is not None:
        with suppress(OSError, ValueError):  # It may be closed by now.
            ioctl(sock.fileno(), TIOCOUTQ, told)
    return int.from_bytes(told, sys.byteorder)
