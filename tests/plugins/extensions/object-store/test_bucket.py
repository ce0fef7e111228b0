"""Contents in a bucket."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
from gateway_extension_object_store import Settings, register_file_contents
from gateway_extension_object_store.bucket import Bucket
from gateway_extension_object_store.reader import ObjectReader
from gateway_extension_object_store.writer import MOST_HELD, PART
from msgspec.structs import replace
from object_store import BUCKET, ObjectStore
from postgres_servers import free_port

CONTENT = bytes(range(256)) * 48 * 1024
"""Of more than two parts."""


def settings_of(store: ObjectStore, **change: Any) -> Settings:
    variables = store.variables
    settings = Settings(
        bucket=BUCKET,
        endpoint=store.url,
        access_key_id=variables["GATEWAY_OBJECT_STORE_ACCESS_KEY_ID"],
        secret_access_key=variables["GATEWAY_OBJECT_STORE_SECRET_ACCESS_KEY"],
        wait_seconds=5,
    )
    return replace(settings, **change)


@pytest.fixture
def bucket(store: ObjectStore) -> Bucket:
    return Bucket(settings_of(store))


def write(bucket: Bucket, key: str, content: bytes) -> None:
    writer = bucket.create(key)
    for begin in range(0, len(content), 999_999):
        writer.write(content[begin : begin + 999_999])
    writer.finish()
    writer.abandon()


def read(reader: ObjectReader) -> bytes:
    taken = b""
    with closing(reader):
        while piece := reader.read(65536):
            taken += piece
    return taken


@pytest.mark.parametrize("size", [0, 1, PART - 1, PART, PART + 1, 2 * PART, len(CONTENT)])
def test_a_content_comes_back_and_goes(store: ObjectStore, bucket: Bucket, size: int) -> None:
    write(bucket, f"key{size}", CONTENT[:size])

    assert store.objects() == [f"model-gateway/files/key{size}"]
    if size:
        assert read(bucket.open(f"key{size}", 0, size)) == CONTENT[:size]
        assert read(bucket.open(f"key{size}", size // 3, size)) == CONTENT[size // 3 : size]
    bucket.remove(f"key{size}")
    assert store.objects() == store.unfinished() == []


def test_what_is_not_there_is_not_found_and_may_be_removed(bucket: Bucket) -> None:
    with pytest.raises(FileNotFoundError):
        bucket.open("nothing", 0, 1)
    bucket.remove("nothing")


def test_parts_of_a_killed_process_are_removed(store: ObjectStore, bucket: Bucket) -> None:
    bucket.create("killed").write(CONTENT)
    assert store.unfinished() == ["model-gateway/files/killed"]

    bucket.remove("killed")

    assert store.unfinished() == []


def test_all_uploads_together_hold_so_much_and_no_more(bucket: Bucket) -> None:
    writers = [bucket.create(f"w{n}") for n in range(MOST_HELD // (PART - 1) + 1)]
    for writer in writers[:-1]:
        writer.write(CONTENT[: PART - 1])

    with pytest.raises(OSError, match="too many uploads"):
        writers[-1].write(CONTENT[: PART - 1])
    writers[0].abandon()
    writers[-1].write(CONTENT[: PART - 1])


def test_a_reader_goes_on_where_its_connection_broke(store: ObjectStore, bucket: Bucket) -> None:
    write(bucket, "long", CONTENT)
    with breaking(store.port) as url:
        taken = read(Bucket(settings_of(store, endpoint=url)).open("long", 7, len(CONTENT)))
    bucket.remove("long")

    assert taken == CONTENT[7:]


@contextmanager
def breaking(port: int) -> Iterator[str]:
    """An address of the store whose first connection breaks in the middle of an answer."""

    def serve() -> None:
        for most in (PART, 2**40):
            near = listener.accept()[0]
            far = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=pump, args=(near, far, 2**40)).start()
            pump(far, near, most)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = threading.Thread(target=serve)
        serving.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        serving.join(20)
        assert not serving.is_alive()


def pump(source: socket.socket, target: socket.socket, most: int) -> None:
    """Send on at most so many bytes, and close both."""
    with source, target, suppress(OSError):
        while most > 0 and (piece := source.recv(65536)):
            target.sendall(piece)
            most -= len(piece)
        for each in (source, target):
            each.shutdown(socket.SHUT_RDWR)


WRONG = {
    "an unknown key": ({"access_key_id": "AKIAUNKNOWN"}, "InvalidAccessKeyId"),
    "another secret": ({"secret_access_key": "canary-secret"}, "SignatureDoesNotMatch"),
    "no such bucket": ({"bucket": "nowhere"}, "NoSuchBucket"),
    "nobody there": ({"endpoint": f"http://127.0.0.1:{free_port()}"}, "Could not connect"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_check_says_what_is_wrong(store: ObjectStore, name: str) -> None:
    change, reason = WRONG[name]

    is_usable, detail = Bucket(settings_of(store, **change)).check()

    assert not is_usable
    assert reason in detail
    assert "canary-secret" not in detail


def test_a_check_leaves_nothing(store: ObjectStore, bucket: Bucket) -> None:
    assert bucket.check() == (True, f"bucket {BUCKET} at {store.url} can be written and read")
    assert store.objects() == []


def test_without_a_bucket_files_stay_in_their_folder() -> None:
    assert register_file_contents(Settings()) == []


def test_half_a_key_is_refused() -> None:
    with pytest.raises(ValueError, match="belong together"):
        Settings(bucket="b", access_key_id="a")
