"""The listening socket, opened once and shared by every worker process."""

import errno
import os
import socket

from gateway_core.config.errors import StartRefused

BACKLOG = 2048
"""Connections that the system keeps until a worker accepts them."""
INHERITED = "--inherited"
"""The option by which a new generation gets the socket."""


class ServerError(StartRefused):
    """The server cannot be started, with a sentence that says what to do."""


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 takes any free one. Raises ServerError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # "::" means every address of the machine, but IPV6_V6ONLY may be the system's default:
    # RFC 3493, section 5.3.
    is_dual = host == "::" and socket.has_dualstack_ipv6()
    try:
        listener = socket.create_server(
            (host, port), family=family, backlog=BACKLOG, dualstack_ipv6=is_dual
        )
    except OSError as error:
        number = error.errno or 0
        # ``strerror`` of a failed bind repeats the address; errors of name look-ups are negative.
        reason = os.strerror(number) if number > 0 else error.strerror
        advice = "Choose an address of this machine with --host."
        if number in (errno.EADDRINUSE, errno.EACCES, errno.EPERM):
            advice = "If another program uses the port, choose another one with --port."
        raise ServerError(f"Cannot listen on {host}:{port} ({reason}). {advice}") from None
    listener.setblocking(False)
    return listener
