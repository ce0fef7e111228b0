"""Which members of a stored document are secrets, and how a document is parted by that.

```text
{apiKey, defaultModel, providerSpecificData: {region, clientSecret}}
    open    {defaultModel, providerSpecificData: {region}}
    sealed  {apiKey, providerSpecificData: {clientSecret}}
```
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

Document = Mapping[str, Any]

_DEEPEST = 8
_SECRET = ("firecrawlheaders", "credentials", "serviceaccount", "serviceaccountjson")
_SECRET_ENDS = (
    "apikey",
    "token",
    "secret",
    "cookie",
    "password",
    "privatekey",
    "accesskey",
    "secretkey",
    "authkey",
)
# Proxy addresses may carry a user and a password, but the operator gets to see them.
_PRIVATE = ("connectionproxyurl", "proxyurl", "outboundproxyurl")


def is_secret(name: str) -> bool:
    """True for a member that is never shown, such as ``apiKey`` or ``sessionCookie``."""
    if name.startswith("modelLock_"):  # The rest of the name is a model's.
        return False
    plain = name.replace("_", "").replace("-", "").lower()
    return plain in _SECRET or plain.endswith(_SECRET_ENDS)


def is_sealed(name: str) -> bool:
    """True for a member that is encrypted at rest: the secret ones and those that may hold one."""
    return is_secret(name) or name.replace("_", "").lower() in _PRIVATE


def part(
    document: Document, belongs: Callable[[str], bool], *, depth: int = _DEEPEST
) -> tuple[Document, Document]:
    """The members whose names do not belong, and those that do, each in its place.

    An object nested too deeply to be looked into belongs as a whole, and so
    does a list that holds what belongs.
    """
    rest: dict[str, Any] = {}
    taken: dict[str, Any] = {}
    for name, value in document.items():
        is_object = isinstance(value, Mapping)
        is_whole = (is_object and depth == 0) or (
            isinstance(value, list | tuple) and holds(value, belongs, depth=depth)
        )
        if belongs(name) or is_whole:
            taken[name] = value
        elif is_object:
            rest[name], inner = part(value, belongs, depth=depth - 1)
            if inner:
                taken[name] = inner
        else:
            rest[name] = value
    return rest, taken


def parted(value: Any, belongs: Callable[[str], bool]) -> tuple[Any, Any]:
    """What of any value is left, and what belongs; UNSET where there is nothing.

    A list cannot be parted: one that holds what belongs, belongs with all that is around it.
    """
    rest, taken = part(value, belongs) if isinstance(value, Mapping) else (value, {})
    if holds(rest, belongs):
        return UNSET, value
    return rest, taken or UNSET


def holds(value: Any, belongs: Callable[[str], bool], *, depth: int = _DEEPEST) -> bool:
    """Whether a member's name belongs, however deep, in lists too; what is too deep does."""
    if isinstance(value, list | tuple):
        inner: Any = value
    elif isinstance(value, Mapping):
        if any(map(belongs, value)):
            return True
        inner = value.values()
    else:
        return False
    return depth == 0 or any(holds(each, belongs, depth=depth - 1) for each in inner)


def join(one: Document, other: Document) -> Document:
    """One document of two parts; the second wins where both say something."""
    whole = dict(one)
    for name, value in other.items():
        mine = whole.get(name)
        if isinstance(mine, Mapping) and isinstance(value, Mapping):
            whole[name] = join(mine, value)
        else:
            whole[name] = value
    return whole
