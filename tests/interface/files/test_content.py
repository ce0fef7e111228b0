"""Parts of a content, and conditions (RFC 9110, sections 13 and 14)."""

from collections.abc import Callable

import httpx2
import pytest
from served_gateway import Served

CONTENT = bytes(range(256)) * 1000
SIZE = len(CONTENT)
Upload = Callable[..., httpx2.Response]


@pytest.fixture(scope="module")
def here(anywhere: Served) -> Served:
    """Every test here is of both places for contents."""
    return anywhere


@pytest.fixture
def path(client: httpx2.Client, upload: Upload) -> str:
    return f"/v1/files/{upload(client, CONTENT).json()['id']}/content"


@pytest.mark.parametrize(
    ("range", "begin", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199999", 100, 200_000),
        ("bytes=255999-", 255_999, SIZE),
        ("bytes=10-99999999", 10, SIZE),
        ("bytes=-300", SIZE - 300, SIZE),
        ("bytes=-99999999", 0, SIZE),
    ],
)
def test_a_range_is_sent(
    client: httpx2.Client, path: str, range: str, begin: int, end: int
) -> None:
    part = client.get(path, headers={"range": range})

    assert (part.status_code, part.content) == (206, CONTENT[begin:end])
    assert part.headers["content-range"] == f"bytes {begin}-{end - 1}/{SIZE}"
    assert part.headers["content-length"] == str(end - begin)
    assert part.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize(
    "range", ["bytes=5-2", "lines=1-2", "bytes=a-", "bytes=0-1,3-4", "bytes=" + "0-0," * 2000]
)
def test_a_range_that_is_not_served_is_ignored(
    client: httpx2.Client, path: str, range: str
) -> None:
    whole = client.get(path, headers={"range": range})

    assert (whole.status_code, whole.content) == (200, CONTENT)
    assert "content-range" not in whole.headers


@pytest.mark.parametrize("range", [f"bytes={SIZE}-", "bytes=-0", "bytes=9999999999999-"])
def test_a_range_beyond_the_end_cannot_be_satisfied(
    client: httpx2.Client, path: str, range: str
) -> None:
    refused = client.get(path, headers={"range": range})

    assert refused.status_code == 416
    assert refused.headers["content-range"] == f"bytes */{SIZE}"
    assert refused.json()["error"]["code"] == "range_not_satisfiable"


def test_head_ignores_a_range(client: httpx2.Client, path: str) -> None:
    probed = client.head(path, headers={"range": "bytes=0-1"})

    assert (probed.status_code, probed.headers["content-length"]) == (200, str(SIZE))


def test_a_download_that_broke_off_goes_on(client: httpx2.Client, path: str) -> None:
    taken = b""
    with client.stream("GET", path) as answer:
        tag = answer.headers["etag"]
        for piece in answer.iter_bytes(1000):
            taken += piece
            if len(taken) >= 5000:
                break
    rest = client.get(path, headers={"range": f"bytes={len(taken)}-", "if-range": tag})

    assert rest.status_code == 206
    assert taken + rest.content == CONTENT
    other = client.get(path, headers={"range": "bytes=5-", "if-range": '"other"'})
    assert (other.status_code, other.content) == (200, CONTENT)


def test_a_content_that_the_client_has_is_not_sent_again(client: httpx2.Client, path: str) -> None:
    tag = client.head(path).headers["etag"]

    same = client.get(path, headers={"if-none-match": f'"x", {tag}'})

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert client.get(path, headers={"if-none-match": '"x"'}).status_code == 200
    assert client.get(path, headers={"if-match": tag}).status_code == 200
    refused = client.get(path, headers={"if-match": '"x"'})
    assert refused.status_code == 412
    assert refused.json()["error"]["code"] == "precondition_failed"


def test_an_empty_file_has_an_empty_content(client: httpx2.Client, upload: Upload) -> None:
    path = f"/v1/files/{upload(client, b'').json()['id']}/content"

    whole = client.get(path)

    assert (whole.status_code, whole.content, whole.headers["content-length"]) == (200, b"", "0")
    assert client.get(path, headers={"range": "bytes=0-"}).status_code == 416
    assert client.get(path, headers={"range": "bytes=-1"}).status_code == 200
