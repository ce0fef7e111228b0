"""WebSockets of vendors that the gateway relays, declared as data.

Messages pass as they are. A vendor's plugin says where its sockets are, in which members of their
events a model is named, and reads from the events what was used.
"""

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from .usage import Usage


class Spent(Struct, frozen=True, kw_only=True):
    """What one response used."""

    id: str
    """Of the response. What is reported of it a second time is not counted again."""
    usage: Usage
    """As the vendor reports it."""
    fields: tuple[str, ...] = ()
    """Of ``SocketService.model_fields``: the first that was named is the model that was used.
    Empty, or where none was named, it is the model of the socket."""


class SocketEvent(Struct, frozen=True, kw_only=True):
    """What a message means for limits and the ledger. Most mean nothing."""

    begins: Literal["", "asked", "running"] = ""
    """A response begins, which the key's limits have to admit: ``asked`` where this message of the
    client asks for it and can be refused alone; ``running`` where the socket has to be closed."""
    spent: Spent | None = None
    """A response has ended."""


NOTHING = SocketEvent()
"""What most messages mean."""


class SocketReader(Protocol):
    """Reads the messages of one socket. Text that cannot be read means ``NOTHING``."""

    def read_client(self, message: str | bytes) -> SocketEvent:
        """Before a message of the client is sent on."""
        ...

    def read_vendor(self, message: str | bytes) -> SocketEvent:
        """Before a message of the vendor is sent on."""
        ...

    def close(self) -> Spent | None:
        """The socket is closed: what was used and not reported yet."""
        ...


class SocketService(Struct, frozen=True, kw_only=True):
    """One socket of a vendor."""

    kind: str
    """What its models are for."""
    paths: tuple[str, ...]
    """Where clients open it: ``/v1/realtime``, ``/v1/realtime/translations``,
    ``/v1/live/sessions``, or a path of the vendor's alone below ``/v1/native/<provider>/``."""
    url: str
    """The vendor's address, ``wss`` or ``ws``."""
    reader: Callable[[Mapping[str, str]], SocketReader]
    """Makes the reader of one socket from the parameters of its client's address."""
    model_query: str | None = None
    """The parameter of the address that names the model to the vendor; ``None`` for none."""
    unnamed: tuple[str, ...] = ()
    """Models that the vendor has no name for, so none is sent."""
    key_query: str | None = None
    """The parameter that carries the account's secret, in the place of a header."""
    query: tuple[str, ...] = ()
    """Parameters of the client's address that are passed on."""
    forward: tuple[str, ...] = ()
    """Headers of the client that are passed on, in lower case."""
    subprotocols: tuple[str, ...] = ()
    """Those that are offered to the vendor where the client offers them."""
    model_fields: tuple[str, ...] = ()
    """Where the client's events name models: ``session.model``, ``tools[].model``."""
    session_model: str | None = None
    """The one of them that decides on the model of the socket; ``None`` where only its address
    does, whatever an event says."""
    begins_with_model: bool = False
    """The client's first event names the model, so its address need not."""
    model_prefix: str = ""
    """What the vendor writes before the names in these fields."""
    takes_binary: bool = False
    """Binary messages of the client are passed on unread; else they are JSON, as text is."""
    opening: Callable[[str], str] | None = None
    """The event that is sent first, made for a model."""
    cancel: str | None = None
    """The event that stops a response, sent when the client leaves in the middle of one."""
    write_error: Callable[[str, str | None, str], str] | None = None
    """The event that tells a client of an error: its type, code and message."""

    @property
    def http_url(self) -> str:
        """The address of the handshake."""
        return f"http{self.url.removeprefix('ws')}"
