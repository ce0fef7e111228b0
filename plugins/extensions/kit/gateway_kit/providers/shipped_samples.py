"""Samples that a plugin ships: ``service_samples.json`` in its package.

```json
{"search": {"reply": {"hits": []}, "shown": ["Köln"]}, "video/status": null}
```

The keys are kinds, with a slash and the action where it is not the main one. ``null`` leaves a
service out that the kit cannot exercise. What a sample does not say is as in the usual one of its
kind. A job's earlier answers, to its submission and to looks at it, are in ``before``.
"""

from base64 import b64decode
from collections.abc import Mapping
from pkgutil import get_data
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from gateway_core import Usage

from .service_samples import JSON, SAMPLES, ServiceSample

FILE = "service_samples.json"
Samples = Mapping[str, ServiceSample | None]


class ShippedSample(Struct, frozen=True, forbid_unknown_fields=True):
    """One sample as it is written in the file."""

    request: Mapping[str, Any] | None = None
    """The client's members, without ``model``."""
    before: tuple[Any, ...] = ()
    """The vendor's JSON of the answers before ``reply``."""
    reply: Any = None
    """The vendor's JSON, or base64 of its bytes where ``reply_type`` is another type."""
    reply_type: str = JSON
    usage: Usage | UnsetType | None = UNSET
    """``null`` for a vendor that reports nothing."""
    shown: tuple[str, ...] | None = None
    named_as: str | None = None
    """What names the model to the vendor where that is not its id."""


_read = msgspec.json.Decoder(dict[str, ShippedSample | None]).decode


def shipped_samples(plugin: object) -> Samples:
    """The samples of a plugin's module; none without a file. Raises DecodeError."""
    name = getattr(plugin, "__name__", None)
    if not isinstance(name, str) or not hasattr(plugin, "__path__"):
        return {}
    try:
        data = get_data(name, FILE)
    except FileNotFoundError:
        return {}
    written = _read(data or b"{}")
    return {kind: None if each is None else sample_of(kind, each) for kind, each in written.items()}


def sample_of(kind: str, written: ShippedSample) -> ServiceSample:
    """The usual sample of a kind with what is written in the place of its own."""
    is_json = written.reply_type == JSON
    reply = msgspec.json.encode(written.reply) if is_json else b64decode(written.reply)
    usual = SAMPLES.get(kind, ServiceSample(reply=reply))
    changed: dict[str, Any] = {
        "before": tuple(map(msgspec.json.encode, written.before)),
        "reply": reply,
        "reply_type": written.reply_type,
        "is_json": is_json,
        "named_as": written.named_as,
    }
    if written.request is not None:
        changed["request"] = msgspec.json.encode({"model": "MODEL", **written.request})
    if written.usage is not UNSET:
        changed["usage"] = written.usage
    if written.shown is not None:
        changed["shown"] = tuple(word.encode() for word in written.shown)
    return replace(usual, **changed)
