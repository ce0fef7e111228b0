"""Pictures of vendors that ask and answer in words of their own: what a client wants in the
completions vendor's members, and the answer in its shape."""

import time
from base64 import b64encode
from collections.abc import Iterable, Mapping
from math import gcd, log
from typing import Any, NamedTuple
from urllib.parse import quote

from gateway_core import BadRequest, Model, UpstreamError, Usage

from .completions import images
from .forms import content_of
from .translated import Again, Question

DATA = "data:"
_FILES = ("image", "image[]", "images")


class Size(NamedTuple):
    """Of a picture, in pixels."""

    width: int
    height: int

    @property
    def ratio(self) -> str:
        """In lowest terms, as ``16:9``."""
        divisor = gcd(*self)
        return f"{self.width // divisor}:{self.height // divisor}"


def read_size(question: Question) -> Size | None:
    """What the client calls ``size``; ``None`` where the vendor is to choose. Raises BadRequest."""
    size = question.members.get("size")
    if size in (None, "", "auto"):
        return None
    width, _, height = str(size).lower().partition("x")
    if not (_is_length(width) and _is_length(height)):
        raise BadRequest("size is not a width and a height, such as 1024x1024", param="size")
    return Size(int(width), int(height))


def ratio_of(question: Question) -> str | None:
    """``aspect_ratio``, or that of ``size``, such as ``16:9``."""
    own = question.members.get("aspect_ratio")
    if isinstance(own, str) and own:
        return own
    size = read_size(question)
    return None if size is None else size.ratio


def files_of(question: Question) -> list[tuple[str, str]]:
    """Media type and base64 of each picture in the client's form."""
    return [
        (part.media_type or "image/png", b64encode(content_of(part)).decode())
        for part in question.call.form
        if part.name in _FILES and part.filename is not None
    ]


def nearest(size: Size, offered: Iterable[str]) -> str:
    """Of ratios such as ``16:9`` or sizes such as ``1280:720``, the one that differs least: in
    shape, and of equal shapes in area."""

    def distance(words: str) -> tuple[float, int]:
        width, height = map(int, words.split(":"))
        shape = abs(log(size.width * height / (size.height * width)))
        return round(shape, 3), abs(width * height - size.width * size.height)

    return min(offered, key=distance)


def read_count(question: Question, most: int = 1) -> int:
    """How many pictures are wanted, up to what the vendor makes at once; the rest is lost.
    Raises BadRequest."""
    wanted = question.members.get("n")
    if wanted is None:
        return 1
    # A form has words only.
    if isinstance(wanted, str) and wanted.isdecimal():
        wanted = int(wanted)
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 1:
        raise BadRequest("n is not a positive integer", param="n")
    if wanted > most:
        question.losses.add("n")
    return min(wanted, most)


def lose_pictures_but(question: Question, *names: str) -> None:
    """Name every member as lost that is not among these and is not of every picture vendor."""
    question.lose_all_but("prompt", "n", "size", "response_format", "stream", *names)


def wants_bytes(question: Question) -> bool:
    """Whether the client wants a picture itself and not its address."""
    return question.members.get("response_format") == "b64_json"


def lose_address(question: Question) -> None:
    """For a vendor that gives no addresses."""
    if question.members.get("response_format") == "url":
        question.losses.add("response_format")


def show_pictures(pictures: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The client's answer. Raises UpstreamError where there is no picture."""
    data = list(pictures)
    if not data:
        raise UpstreamError("The upstream gave no picture")
    return {"created": int(time.time()), "data": data}


def show_bytes(*pictures: bytes | str) -> Mapping[str, Any]:
    """The client's answer with pictures themselves, as bytes or in base64 already."""
    encoded = (b64encode(p).decode() if isinstance(p, bytes) else _plain(p) for p in pictures)
    return show_pictures({"b64_json": picture} for picture in encoded)


def show_address(question: Question, url: Any) -> Mapping[str, Any] | Again:
    """The client's answer with a picture's address; where it wants the picture, that is fetched
    first and reaches ``read`` as bytes. Raises UpstreamError."""
    if not isinstance(url, str) or not url:
        raise UpstreamError("The upstream gave no picture")
    if wants_bytes(question):
        return Again(path=url, is_public=True, is_job=False)
    return show_pictures([{"url": url}])


def count_made(question: Question, count: int = 1) -> Usage:
    """Pictures by size and quality, as far as the client named them."""
    return Usage(units=images(question.call, {"data": [None] * count}))


def count_shown(question: Question, answer: Any) -> Usage:
    """The pictures of an answer with ``images``; one where it has no such list."""
    listed = answer.get("images") if isinstance(answer, Mapping) else None
    return count_made(question, len(listed) if isinstance(listed, list) else 1)


def path_of(model: Model) -> str:
    """A model's id as part of a path. The kernel refuses ids with empty segments or dots alone."""
    return quote(model.id, safe="/@:")


def _is_length(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and int(digits[:6]) > 0 and len(digits) < 6


def _plain(encoded: str) -> str:
    """Base64 without what a data URL has before it (RFC 2397)."""
    return encoded.partition(",")[2] if encoded.startswith(DATA) else encoded
