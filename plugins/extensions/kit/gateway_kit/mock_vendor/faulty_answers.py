"""Answers with status 200 that are not as they should be: broken, doubled, late, cut or odd."""

from collections.abc import Callable
from dataclasses import replace as changed

from msgspec.structs import replace

from .answer import Scene
from .content import Counted
from .frames import Does, Frame
from .server import Said

TROUBLE = "The model crashed"
MIDDLE = 0
"""As a number of bytes: half of the answer."""

Pieces = Callable[[bytes], list[bytes]]


def slow(scene: Scene, seconds: int) -> Said:
    return changed(scene.said(), delay=float(seconds or 5))


def cut(scene: Scene, at: int) -> Said:
    return changed(scene.said([_beginning(scene, at)]), cut=True)


def stall(scene: Scene, at: int) -> Said:
    return changed(scene.said([_beginning(scene, at)]), hang=True)


def split(scene: Scene, size: int) -> Said:
    """Pieces of one byte, so that every character of several bytes is torn."""
    body, step = scene.body(), size or 1
    return scene.said([body[at : at + step] for at in range(0, len(body), step)])


def broken_json(scene: Scene, _: int) -> Said:
    if not scene.stream:
        return scene.said([scene.body()[:-2]])
    frames = [frame.data for frame in scene.frames()]
    middle = len(frames) // 2
    torn = frames[middle].replace(b"}", b"", 1) if scene.dialect.framing != "binary" else b"\0" * 40
    return scene.said([*frames[:middle], torn, *frames[middle + 1 :]])


def error_in_200(scene: Scene, _: int) -> Said:
    told = scene.dialect.broken(TROUBLE) if scene.stream else scene.dialect.refusal(TROUBLE, 500)
    return scene.said([told])


def error_mid_stream(scene: Scene, _: int) -> Said:
    if not scene.stream:
        return error_in_200(scene, _)
    kept = [frame.data for frame in scene.frames() if frame.does not in ("finish", "usage", "end")]
    return scene.said([*kept, scene.dialect.broken(TROUBLE)])


def without_usage(scene: Scene, _: int) -> Said:
    return replace(scene, content=replace(scene.content, usage=None)).said()


def wrong_usage(scene: Scene, _: int) -> Said:
    """More tokens from the cache than there were at all."""
    wrong = Counted(input=5, output=7, cached=5_000)
    return replace(scene, content=replace(scene.content, usage=wrong)).said()


def repeated(*does: Does) -> Callable[[Scene, int], Said]:
    """Each frame that does this comes twice."""

    def said(scene: Scene, _: int) -> Said:
        if not scene.stream:
            return scene.said()
        frames = [(frame.data,) * (1 + (frame.does in does)) for frame in scene.frames()]
        return scene.said([data for pair in frames for data in pair])

    return said


def late_usage(scene: Scene, _: int) -> Said:
    """Usage after the end marker, where it has a frame of its own."""
    frames = scene.frames() if scene.stream else ()
    late = [frame.data for frame in frames if frame.does == "usage"]
    rest = [frame.data for frame in frames if frame.does != "usage"]
    return scene.said([*rest, *late]) if late else scene.said()


def without_end(scene: Scene, _: int) -> Said:
    """No end marker, in the formats that have one which says nothing."""
    if not scene.stream or scene.dialect.framing != "sse":
        return scene.said()
    return scene.said([frame.data for frame in scene.frames() if not _is_marker(frame)])


def comments(scene: Scene, _: int) -> Said:
    if not _is_sse(scene):
        return scene.said()
    return scene.said([piece for each in scene.pieces() for piece in (b": keep-alive\n\n", each)])


def crlf(scene: Scene, _: int) -> Said:
    return _spelled(scene, lambda body: body.replace(b"\n", b"\r\n"))


def bom(scene: Scene, _: int) -> Said:
    return _spelled(scene, lambda body: b"\xef\xbb\xbf" + body)


def quota_headers(scene: Scene, _: int) -> Said:
    left = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "1"}
    return changed(scene.said(), headers={**left, "x-ratelimit-reset-requests": "12ms"})


def _is_marker(frame: Frame) -> bool:
    return frame.data.startswith(b"data: [DONE]")


def _is_sse(scene: Scene) -> bool:
    return scene.stream and scene.dialect.framing == "sse"


def _spelled(scene: Scene, spelling: Callable[[bytes], bytes]) -> Said:
    return scene.said([spelling(scene.body())]) if _is_sse(scene) else scene.said()


def _beginning(scene: Scene, at: int) -> bytes:
    body = scene.body()
    return body[: at or len(body) // 2]
