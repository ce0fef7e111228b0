"""Which coding of a file a client gets, and whether it has the file already."""

import re
from collections.abc import Iterable

_coding = re.compile(r"\s*([\w*-]+)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?").fullmatch
"""A member of Accept-Encoding: RFC 9110, section 12.5.3."""
_tags = re.compile(r'(?:W/)?("[^"]*")').findall
"""Entity tags without the mark of weak ones: If-None-Match compares weakly (section 13.1.2)."""


def choose_encoding(accepted: Iterable[str], there: Iterable[str]) -> str | None:
    """The first of the codings that are there and wanted; ``None`` for none at all.

    ``accepted`` are the lines of Accept-Encoding. Which of several a client likes better does
    not count: the file is the same, and the first one the smallest.
    """
    weights = {}
    for part in ",".join(accepted).lower().split(","):
        found = _coding(part)
        if found is not None:
            weights[found[1].removeprefix("x-")] = float(found[2] or 1)
    others = weights.get("*", 0)
    return next((coding for coding in there if weights.get(coding, others) > 0), None)


def entity_tag(digest: str, encoding: str | None) -> str:
    """Each coding has a tag of its own: RFC 9110, section 8.8.3.3."""
    return f'"{digest}"' if encoding is None else f'"{digest}-{encoding}"'


def is_known(tag: str, known: Iterable[str]) -> bool:
    """Whether the lines of If-None-Match name the tag."""
    text = ",".join(known)
    return text.strip() == "*" or tag in _tags(text)
