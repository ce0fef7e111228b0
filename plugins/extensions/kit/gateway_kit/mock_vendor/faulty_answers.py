"""Answers with status 200 that are not as they should be: broken, doubled, late, cut or odd."""

from collections.abc import Callable
from dataclasses import replace as changed

from msgspec.structs import replace

from .answer import MockAnswer
from .content import TokenCounts
from .frames import FrameRole
from .server import MockResponse

TROUBLE = "The model crashed"
MIDDLE = 0
"""As a number of bytes: half of the answer."""

Pieces = Callable[[bytes], list[bytes]]


def slow(answer: MockAnswer, seconds: int) -> MockResponse:
    return changed(answer.response(), delay=float(seconds or 5))


def cut(answer: MockAnswer, at: int) -> MockResponse:
    return changed(answer.response([_beginning(answer, at)]), cut=True)


def stall(answer: MockAnswer, at: int) -> MockResponse:
    return changed(answer.response([_beginning(answer, at)]), hang=True)


def split(answer: MockAnswer, size: int) -> MockResponse:
    """Pieces of one byte, so that every character of several bytes is torn."""
    body, step = answer.body(), size or 1
    return answer.response([body[at : at + step] for at in range(0, len(body), step)])


def broken_json(answer: MockAnswer, _: int) -> MockResponse:
    if not answer.stream:
        return answer.response([answer.body()[:-2]])
    frames = [frame.data for frame in answer.frames()]
    middle = len(frames) // 2
    torn = (
        frames[middle].replace(b"}", b"", 1) if answer.dialect.framing != "binary" else b"\0" * 40
    )
    return answer.response([*frames[:middle], torn, *frames[middle + 1 :]])


def error_in_200(answer: MockAnswer, _: int) -> MockResponse:
    body = answer.dialect.broken(TROUBLE) if answer.stream else answer.dialect.refusal(TROUBLE, 500)
    return answer.response([body])


def error_mid_stream(answer: MockAnswer, _: int) -> MockResponse:
    if not answer.stream:
        return error_in_200(answer, _)
    kept = [frame.data for frame in answer.frames() if frame.role not in ("finish", "usage", "end")]
    return answer.response([*kept, answer.dialect.broken(TROUBLE)])


def without_usage(answer: MockAnswer, _: int) -> MockResponse:
    return replace(answer, content=replace(answer.content, usage=None)).response()


def wrong_usage(answer: MockAnswer, _: int) -> MockResponse:
    """More tokens from the cache than there were at all."""
    wrong = TokenCounts(input=5, output=7, cached=5_000)
    return replace(answer, content=replace(answer.content, usage=wrong)).response()


def repeated(*does: FrameRole) -> Callable[[MockAnswer, int], MockResponse]:
    """Each frame that does this comes twice."""

    def apply(answer: MockAnswer, _: int) -> MockResponse:
        if not answer.stream:
            return answer.response()
        frames = [(frame.data,) * (1 + (frame.role in does)) for frame in answer.frames()]
        return answer.response([data for pair in frames for data in pair])

    return apply


def late_usage(answer: MockAnswer, _: int) -> MockResponse:
    """Usage after the end marker, where it has a frame of its own."""
    frames = answer.frames() if answer.stream else ()
    late = [frame.data for frame in frames if frame.role == "usage"]
    rest = [frame.data for frame in frames if frame.role != "usage"]
    return answer.response([*rest, *late]) if late else answer.response()


def without_end(answer: MockAnswer, _: int) -> MockResponse:
    """No end marker, in the formats that have one which says nothing."""
    if not answer.stream or answer.dialect.framing != "sse":
        return answer.response()
    return answer.response(
        [frame.data for frame in answer.frames() if not frame.data.startswith(b"data: [DONE]")]
    )


def comments(answer: MockAnswer, _: int) -> MockResponse:
    if not _is_sse(answer):
        return answer.response()
    return answer.response(
        [piece for each in answer.pieces() for piece in (b": keep-alive\n\n", each)]
    )


def crlf(answer: MockAnswer, _: int) -> MockResponse:
    return _encode_stream(answer, lambda body: body.replace(b"\n", b"\r\n"))


def bom(answer: MockAnswer, _: int) -> MockResponse:
    return _encode_stream(answer, lambda body: b"\xef\xbb\xbf" + body)


def quota_headers(answer: MockAnswer, _: int) -> MockResponse:
    left = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "1"}
    return changed(answer.response(), headers={**left, "x-ratelimit-reset-requests": "12ms"})


def _is_sse(answer: MockAnswer) -> bool:
    return answer.stream and answer.dialect.framing == "sse"


def _encode_stream(answer: MockAnswer, encode_body: Callable[[bytes], bytes]) -> MockResponse:
    return answer.response([encode_body(answer.body())]) if _is_sse(answer) else answer.response()


def _beginning(answer: MockAnswer, at: int) -> bytes:
    body = answer.body()
    return body[: at or len(body) // 2]
