"""Uploads: however a body arrives, its file is the same, or nothing is there."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from file_forms import FORM, field, file, form
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_core.contracts.errors import GatewayError
from gateway_core.pipeline.client_response import ClientGone
from gateway_files import upload
from gateway_files.store import FileStore
from gateway_files.unfinished import FileLimits
from gateway_files.upload import Uploaded, Uploads

LARGEST = 5000
Receive = Callable[[], Awaitable[dict[str, Any]]]


@contextmanager
def opened() -> Iterator[tuple[FileStore, Path]]:
    limits = FileLimits(largest=LARGEST, quota=100_000, most=10)
    with tempfile.TemporaryDirectory() as folder:
        yield FileStore(Path(folder), lambda: limits, lambda: 1.7e9), Path(folder)


def sender(pieces: list[bytes], last: dict[str, Any]) -> Receive:
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    waiting = iter([*messages, last])

    async def receive() -> dict[str, Any]:
        return next(waiting)

    return receive


def take(store: FileStore, receive: Receive) -> Uploaded:
    return asyncio.run(Uploads(store).take("a", FORM, receive, LARGEST))  # type: ignore[arg-type]


def cut(body: bytes, places: list[int]) -> list[bytes]:
    ends = sorted(place % (len(body) + 1) for place in places)
    return [body[a:b] for a, b in zip([0, *ends], [*ends, len(body)], strict=True)]


END = {"type": "http.request", "body": b"", "more_body": False}
GONE = {"type": "http.disconnect"}


@settings(max_examples=40)
@given(
    st.binary(max_size=300) | st.just(b"\r\n------boundar\r\n-" * 100),
    st.booleans(),
    st.lists(st.integers(0, 10_000), max_size=6),
    st.sampled_from([1, 7, 100, 256 * 1024]),
)
def test_a_body_in_any_pieces_is_the_same_file(
    content: bytes, is_last: bool, places: list[int], at_once: int
) -> None:
    parts = [field("purpose", b"vision"), field("more", b"x")]
    body = form(*parts, file(content)) if is_last else form(file(content), *parts)
    with pytest.MonkeyPatch.context() as patch, opened() as (store, _):
        patch.setattr(upload, "AT_ONCE", at_once)

        taken = take(store, sender(cut(body, places), END))

        assert store.path(taken.record).read_bytes() == content
        assert (taken.record.bytes, taken.record.purpose) == (len(content), "vision")
        assert taken.ignored == ("more",)


@settings(max_examples=40)
@given(st.integers(0, 1200), st.sampled_from([END, GONE]), st.sampled_from([1, 256 * 1024]))
def test_a_body_that_is_cut_off_leaves_nothing(
    length: int, last: dict[str, Any], at_once: int
) -> None:
    body = form(field("purpose", b"vision"), file(b"x" * 900))[:-6]
    with pytest.MonkeyPatch.context() as patch, opened() as (store, folder):
        patch.setattr(upload, "AT_ONCE", at_once)

        with pytest.raises((GatewayError, ClientGone)):
            take(store, sender([body[:length]], last))

        assert store.page("a", limit=10).records == []
        assert list((folder / "files" / ".parts").iterdir()) == []
        store.reserve("a", 100_000, 100_000)  # All of the quota is free again.


@pytest.mark.parametrize("size", [LARGEST, LARGEST + 1])
def test_the_largest_file_is_taken(size: int) -> None:
    with opened() as (store, folder):
        receive = sender([form(file(b"x" * size))], END)
        if size == LARGEST:
            assert take(store, receive).record.bytes == size
        else:
            with pytest.raises(GatewayError, match="at most 5000 bytes"):
                take(store, receive)
        assert list((folder / "files" / ".parts").iterdir()) == []


def test_an_upload_that_is_cancelled_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload, "AT_ONCE", 1000)
    pieces = [form(file(b"x" * 3000))[:-100]]

    async def work(store: FileStore, folder: Path) -> None:
        has_written = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not pieces:
                has_written.set()
                await asyncio.Event().wait()
            return {"type": "http.request", "body": pieces.pop(), "more_body": True}

        taking = Uploads(store).take("a", FORM, receive, LARGEST)  # type: ignore[arg-type]
        task = asyncio.create_task(taking)
        await has_written.wait()
        assert len(os.listdir(folder)) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert os.listdir(folder) == []

    with opened() as (store, folder):
        asyncio.run(work(store, folder / "files" / ".parts"))
