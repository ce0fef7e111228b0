"""What a request is aimed at: a host and a path, in the one spelling that every check compares.

The gate and the routes see the same text, the path as the server decoded it,
and a request whose path could mean two things is refused before either looks:

- a path under ``/api`` must be plain: no encoded slash, dot or NUL, no ``;``
- no path has empty or dotted segments, backslashes or control characters
- upper and lower case differ; one slash at the end does not
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..contracts.errors import BadRequest, Unauthorized

PREFIXES = (("/api/v1beta", "/v1beta"), ("/api/v1", "/v1"), ("/v1/v1", "/v1"))
"""Paths that begin with the left mean those that begin with the right (9.1)."""
ADMIN_PREFIX = "/api"
LONGEST = 8192
"""Bytes of path and query."""

_is_host = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{0,5})?").fullmatch
_ambiguous = re.compile(
    "//|/\\.\\.?(?:/|\\Z)|[\x00-\x1f\x7f-\x9f\\\\\u2028\u2029\ufffd\ud800-\udfff]"
).search
_malformed = re.compile(rb"%(?![0-9A-Fa-f]{2})").search
_hidden = re.compile(rb"%(?:00|2[eEfF]|5[cC]|3[bB])|;").search


class TargetTooLong(BadRequest):
    """The address of the request passes its limit."""

    status = 414
    code = "uri_too_long"


def check_host(scope: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Insist on exactly one host name. Raises BadRequest."""
    pairs = scope["headers"]
    if len(headers) != len(pairs) and sum(name == b"host" for name, _ in pairs) > 1:
        raise BadRequest("The request has more than one Host header")
    if _is_host(headers.get("host", "")) is None:
        raise BadRequest("The Host header is missing or malformed")


def path_of(scope: Mapping[str, Any]) -> str:
    """The path as routes know it.

    Raises TargetTooLong, and Unauthorized (under ``/api``) or BadRequest
    (elsewhere) for a path that could be read in two ways.
    """
    raw: bytes = scope.get("raw_path") or b""
    if len(raw) + len(scope.get("query_string") or b"") > LONGEST:
        raise TargetTooLong("The address is too long")
    return _read(scope["path"].removeprefix(scope.get("root_path", "")), raw)


@lru_cache(maxsize=256)
def _read(path: str, raw: bytes) -> str:
    plain = plain_path(path)
    target = raw.partition(b"?")[0]
    is_ambiguous = not path.startswith("/") or _ambiguous(path)
    is_malformed = b"%" in target and _malformed(target)
    is_hidden = plain.startswith(ADMIN_PREFIX) and _hidden(target)
    if not (is_ambiguous or is_malformed or is_hidden):
        return plain
    # Under ``/api`` a path that cannot be decoded reveals nothing (5.2).
    if path.startswith(ADMIN_PREFIX):
        raise Unauthorized("Unauthorized")
    raise BadRequest("Malformed path")


def plain_path(path: str) -> str:
    """A path without the prefixes and the last slash that change nothing about its meaning."""
    for _ in range(4):
        before = path
        for prefix, meaning in PREFIXES:
            if path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in ("/", ""):
                path = meaning + path[len(prefix) :]
        if path == before:
            break
    return path[:-1] if len(path) > 1 and path.endswith("/") else path
