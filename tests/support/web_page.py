"""A page of a web origin, as far as a browser lets it ask: CORS of WHATWG Fetch, section 4.8.

Requests without a preflight, and answers that the page may read, are found as browsers find them.
"""

from dataclasses import dataclass, field
from typing import Any

import httpx2

SAFE_METHODS = {"GET", "HEAD", "POST"}
SAFE_HEADERS = {"accept", "accept-language", "content-language"}
SAFE_TYPES = {"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}
READABLE = {
    *("cache-control", "content-language", "content-length", "content-type"),
    *("expires", "last-modified", "pragma"),
}


class Blocked(Exception):
    """The browser does not let the page do that, or see the answer."""


@dataclass
class WebPage:
    """``fetch`` raises Blocked where a browser would give a TypeError."""

    client: httpx2.Client
    origin: str
    allowed: set[tuple[str, ...]] = field(default_factory=set)
    """Preflights that were answered well: browsers remember them."""

    def fetch(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, **body: Any
    ) -> httpx2.Response:
        """The answer, without the headers that the page cannot see."""
        request = self.client.build_request(method, path, **body)
        # What the client library adds by itself, a browser would not ask about.
        own = {name.lower(): value for name, value in (headers or {}).items()}
        if "content-type" in request.headers:
            own.setdefault("content-type", request.headers["content-type"])
        unsafe = sorted(name for name, value in own.items() if not _is_safe(name, value))
        if method not in SAFE_METHODS or unsafe:
            received = (path, method, *unsafe)
            if received not in self.allowed:
                self._preflight(path, method, unsafe)
                self.allowed.add(received)
        answer = self.client.request(method, path, headers={**own, "origin": self.origin}, **body)
        if answer.headers.get("access-control-allow-origin") not in ("*", self.origin):
            raise Blocked("the answer has no Access-Control-Allow-Origin for this page")
        exposed = _names(answer, "access-control-expose-headers")
        for name in set(answer.headers) - READABLE - exposed:
            if "*" not in exposed:
                del answer.headers[name]
        return answer

    def _preflight(self, path: str, method: str, unsafe: list[str]) -> None:
        headers = {"origin": self.origin, "access-control-request-method": method}
        if unsafe:
            headers["access-control-request-headers"] = ",".join(unsafe)
        answer = self.client.request("OPTIONS", path, headers=headers)
        if not 200 <= answer.status_code < 300:
            raise Blocked(f"the preflight was answered with {answer.status_code}")
        if answer.headers.get("access-control-allow-origin") not in ("*", self.origin):
            raise Blocked("the preflight has no Access-Control-Allow-Origin for this page")
        methods = _names(answer, "access-control-allow-methods")
        if method not in SAFE_METHODS and not {method.lower(), "*"} & methods:
            raise Blocked(f"{method} is not allowed")
        allowed = _names(answer, "access-control-allow-headers")
        for name in unsafe:
            # The wildcard does not cover it.
            if name not in allowed and ("*" not in allowed or name == "authorization"):
                raise Blocked(f"the header {name} is not allowed")


def _is_safe(name: str, value: str) -> bool:
    if name == "content-type":
        return value.partition(";")[0].strip().lower() in SAFE_TYPES
    return name in SAFE_HEADERS


def _names(answer: httpx2.Response, header: str) -> set[str]:
    return {name.strip().lower() for name in answer.headers.get(header, "").split(",")}
