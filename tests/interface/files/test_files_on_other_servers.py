"""Files over servers that others wrote."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from file_forms import FORM, file, form
from other_servers import SERVERS, Guest, embedded

FILES = "/v1/files"
CONTENT = bytes(range(256)) * 8192
Upload = Callable[..., httpx2.Response]


@pytest.fixture(scope="module", params=SERVERS)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    folder: Path = tmp_path_factory.mktemp("guest")
    with embedded(request.param, folder, {}, variables={"MAX_FILE_BYTES": "4000000"}) as guest:
        yield guest


def test_a_file_is_kept_and_sent_in_parts(place: Guest, upload: Upload) -> None:
    with place.client() as client:
        made = upload(client, CONTENT).json()
        path = f"{FILES}/{made['id']}/content"

        assert made["bytes"] == len(CONTENT)
        assert client.get(path).content == CONTENT
        part = client.get(path, headers={"range": "bytes=1000-1999999"})
        assert (part.status_code, part.content) == (206, CONTENT[1000:2_000_000])
        assert client.head(path).headers["content-length"] == str(len(CONTENT))
        assert client.get(path, headers={"range": "bytes=9999999-"}).status_code == 416
        assert client.delete(f"{FILES}/{made['id']}").json()["deleted"] is True


def test_an_upload_that_is_refused_leaves_the_server_usable(place: Guest) -> None:
    with place.client() as client:
        large = client.post(FILES, content=form(file(bytes(4_100_000))), headers=FORM)
        broken = client.post(FILES, content=form(file(CONTENT), is_whole=False), headers=FORM)
        wrong = client.post(FILES, json={"file": "x"})

        assert (large.status_code, broken.status_code, wrong.status_code) == (413, 400, 415)
        assert client.get(FILES).status_code == 200
    parts = place.here.gateway.core.data_dir.path / "files" / ".parts"
    assert list(parts.iterdir()) == []


def test_a_client_that_leaves_a_download_leaves_nothing_open(place: Guest, upload: Upload) -> None:
    with place.client() as client:
        path = f"{FILES}/{upload(client, CONTENT).json()['id']}/content"
    for _ in range(3):
        with place.client() as client, client.stream("GET", path) as answer:
            next(answer.iter_raw(100))

    with place.client() as client:
        assert client.get(path).content == CONTENT
