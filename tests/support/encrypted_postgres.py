"""TLS before a PostgreSQL server, for the servers from wheels are built without it."""

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

from certificates import Issued

_REQUEST = (8).to_bytes(4) + (80877103).to_bytes(4)
"""SSLRequest: https://www.postgresql.org/docs/current/protocol-message-formats.html"""


class Front(ThreadingTCPServer):
    """Takes encrypted and plain connections, on every address of this machine."""

    # Connections that are still open at the end are waited for by nobody: that took a minute.
    daemon_threads = True

    def __init__(self, port: int, issued: Issued) -> None:
        super().__init__(("", 0), _Connection)
        self.port: int = self.server_address[1]
        self.behind = port
        self.encrypted = 0
        """How many connections became encrypted."""
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(issued.cert, issued.key)


class _Connection(BaseRequestHandler):
    server: Front

    def handle(self) -> None:
        # A refused certificate ends the handshake with an error.
        with ExitStack() as stack, suppress(OSError):
            client: socket.socket = self.request
            first = client.recv(8, socket.MSG_WAITALL)
            if first == _REQUEST:
                client.sendall(b"S")
                client = self.server.context.wrap_socket(client, server_side=True)
                stack.enter_context(client)
                self.server.encrypted += 1
                first = b""
            server = socket.create_connection(("127.0.0.1", self.server.behind))
            stack.enter_context(server)
            server.sendall(first)
            while True:
                is_read = isinstance(client, ssl.SSLSocket) and client.pending()
                ready = [client] if is_read else select.select([client, server], [], [])[0]
                for source, sink in ((client, server), (server, client)):
                    if source in ready:
                        if not (data := source.recv(65536)):
                            return
                        sink.sendall(data)


@contextmanager
def encrypted(port: int, issued: Issued) -> Iterator[Front]:
    """Take connections for the server on a port, with a certificate."""
    with Front(port, issued) as front:
        thread = threading.Thread(target=front.serve_forever)
        thread.start()
        try:
            yield front
        finally:
            front.shutdown()
            thread.join()
