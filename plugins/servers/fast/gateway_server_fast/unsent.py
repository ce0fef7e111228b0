"""How many response bytes a client has not acknowledged, the kernel's send buffer included.

A slow client is served from the send buffer first, which may hold megabytes: seen from the
transport alone it would seem to read nothing for minutes.
"""

import asyncio
import sys
from contextlib import suppress

try:
    from fcntl import ioctl
    from termios import TIOCOUTQ
except ImportError:  # Windows has no such request.
    ioctl = None  # type: ignore[assignment]


def unsent_bytes(transport: asyncio.WriteTransport) -> int:
    """Bytes in the transport's buffer and the kernel's."""
    return transport.get_write_buffer_size() + kernel_unsent_bytes(transport)


def kernel_unsent_bytes(transport: asyncio.BaseTransport) -> int:
    """Bytes in the send buffer, sent ones that are not acknowledged too (tcp(7)); 0 if unknown."""
    sock, count = transport.get_extra_info("socket"), bytearray(4)
    if ioctl is not None and sock is not None:
        with suppress(OSError, ValueError):  # The socket may be closed already.
            ioctl(sock.fileno(), TIOCOUTQ, count)
    return int.from_bytes(count, sys.byteorder)
