"""A server for HTTP/1.1 (RFC 9112) and, over TLS, HTTP/2 (RFC 9113).

It keeps limits of size and time on everything a client sends, and offers the
gateway the extensions of its ASGI scope, with which an answer leaves in the
moment in which it comes. See https://www.rfc-editor.org/rfc/rfc9112 and
https://www.rfc-editor.org/rfc/rfc9113.
"""

from gateway_core import Server, ServerOptions, ServerSpec, hookimpl


def create(options: ServerOptions) -> Server:
    """A server in this process."""
    # Imported only here, because most commands of the command line do not serve.
    from .server import FastServer

    return FastServer(options)


@hookimpl
def register_servers() -> list[ServerSpec]:
    return [ServerSpec(name="fast", create=create)]
