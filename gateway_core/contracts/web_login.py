"""Signing in at a vendor's web pages with the gateway's help, for accounts that are a cookie.

The gateway shows the pages at a host of their own, under
``/__web_login/<provider>/``. What they are is the plugin's business: it may
pass the vendor's pages on, or ask its own questions. Once the plugin has the
account's cookies it hands their text over, and the operator saves it.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from .exchange import Transport


class WebLoginRequest(Struct, frozen=True, kw_only=True):
    """What the operator's browser asks for."""

    method: str
    """The HTTP method, in upper case."""
    path: str
    """Behind ``/__web_login/<provider>/``, without a slash in front."""
    query: str = ""
    """As it was sent, without the question mark."""
    headers: Mapping[str, str] = {}
    """Names in lower case. The gateway's own cookie is not among them."""
    body: bytes = b""
    """The body, whole."""
    memory: dict[str, Any] = {}
    """Of this one sign-in: what is put here comes back with its next request, wherever that is
    served. Plain values: texts, numbers, bytes, lists, mappings; at most 64 KiB together."""


class WebLoginAnswer(Struct, frozen=True, kw_only=True):
    """What the browser is shown."""

    body: bytes = b""
    """What is shown, encoded as ``media_type`` says."""
    status: int = 200
    """The HTTP status."""
    media_type: str = "text/html; charset=utf-8"
    """The value of ``content-type``."""
    headers: Mapping[str, str] = {}
    """Further headers. ``set-cookie`` is kept back: cookies belong into the memory."""
    captured: str | None = None
    """The account's cookies, as a Cookie header has them, once they are known."""

    def __repr__(self) -> str:
        return f"WebLoginAnswer({self.status}, captured={self.captured is not None})"


class WebLogin(Protocol):
    """Leads one browser through one vendor's sign-in."""

    async def handle(self, request: WebLoginRequest, transport: Transport) -> WebLoginAnswer:
        """Answer one request. ``transport`` is the way to the vendor."""
        ...
