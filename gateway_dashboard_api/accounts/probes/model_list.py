"""Reading lists of models in the various envelopes that vendors send. No I/O.

```text
{data: [{id}]}                        most vendors; has_more and last_id point to the next page
{models: [{name: "models/…"}]}        with nextPageToken; also {name} of local servers
[{model_id}], ["name"], {data: {models: […]}}
```
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from gateway_core.contracts.errors import UpstreamError

_ENVELOPES = ("data", "models", "items", "results", "result")
_IDS = ("id", "model_id", "model", "name", "slug")
_NAMES = ("display_name", "displayName", "name", "title")
_CONTEXT = (
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
    "max_input_tokens",
    "inputTokenLimit",
)
_OUTPUT = ("max_output_tokens", "max_completion_tokens", "outputTokenLimit", "max_tokens")
_RESOURCE = "models/"
_decode = msgspec.json.Decoder().decode


class NotAList(UpstreamError):
    """A successful answer that holds no list of models."""


class Listed(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One model of a vendor's own list."""

    id: str
    """What to send as the model."""
    name: str
    owned_by: str | None = None
    context_length: int | None = None
    """Tokens."""
    max_output_tokens: int | None = None


class Page(Struct, frozen=True):
    """A list, or a part of one."""

    models: tuple[Listed, ...]
    following: Mapping[str, str] = {}
    """The query parameters of the next part; empty at the end."""


def read_page(body: bytes) -> Page:
    """Read an answer. Raises NotAList."""
    try:
        answer = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise NotAList("The provider's list of models is not JSON") from None
    rows = _rows(answer)
    if rows is None:
        raise NotAList("The provider's answer is not a list of models")
    models = tuple(model for model in map(_listed, rows) if model is not None)
    return Page(models, _following(answer) if isinstance(answer, dict) else {})


def _rows(answer: Any, *, deeper: bool = True) -> Sequence[Any] | None:
    if isinstance(answer, list):
        return answer
    if not isinstance(answer, dict):
        return None
    for name in _ENVELOPES:
        inner = answer.get(name)
        if isinstance(inner, list):
            return inner
        if deeper and isinstance(inner, dict):
            rows = _rows(inner, deeper=False)
            if rows is not None:
                return rows
    return None


def _listed(row: Any) -> Listed | None:
    if isinstance(row, str) and row:
        return Listed(id=row, name=row)
    if not isinstance(row, dict):
        return None
    key = next((key for key in _IDS if isinstance(row.get(key), str) and row[key]), None)
    if key is None:
        return None
    # A resource name starts with its collection, which calls leave out; an id is used as it is.
    identity = row[key].removeprefix(_RESOURCE) if key == "name" else row[key]
    owner = row.get("owned_by")
    return Listed(
        id=identity,
        name=next((row[n] for n in _NAMES if isinstance(row.get(n), str) and row[n]), identity),
        owned_by=owner if isinstance(owner, str) and owner else None,
        context_length=_count(row, _CONTEXT),
        max_output_tokens=_count(row, _OUTPUT),
    )


def _count(row: Mapping[str, Any], names: Sequence[str]) -> int | None:
    values = (row.get(name) for name in names)
    return next(
        (n for n in values if isinstance(n, int) and not isinstance(n, bool) and n > 0), None
    )


def _following(answer: Mapping[str, Any]) -> Mapping[str, str]:
    for name, parameter in (("nextPageToken", "pageToken"), ("next_page_token", "page_token")):
        token = answer.get(name)
        if isinstance(token, str) and token:
            return {parameter: token}
    last = answer.get("last_id")
    if answer.get("has_more") is True and isinstance(last, str) and last:
        return {"after_id": last}
    return {}
