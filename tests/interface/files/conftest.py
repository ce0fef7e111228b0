"""Gateways that keep files in a folder or in an object store, and their clients."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from file_forms import new_key
from object_store import object_store
from served_gateway import Served, serve_gateway

FILES = "/v1/files"
Upload = Callable[..., httpx2.Response]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("gateway"), {}) as running:
        yield running


@pytest.fixture(scope="module", params=["folder", "store"])
def place(request: pytest.FixtureRequest) -> Iterator[Mapping[str, str]]:
    """Variables of a gateway that says where contents are."""
    if request.param == "folder":
        yield {}
    else:
        with object_store() as store:
            yield store.variables


@pytest.fixture(scope="module")
def anywhere(
    place: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    with serve_gateway(tmp_path_factory.mktemp("gateway"), {}, variables=place) as running:
        yield running


@pytest.fixture
def narrow(tmp_path: Path, place: Mapping[str, str]) -> Iterator[Served]:
    """A gateway with small limits."""
    variables = {
        **place,
        "MAX_FILE_BYTES": "1000",
        "FILE_QUOTA_BYTES": "2500",
        "MAX_FILES_PER_KEY": "5",
    }
    with serve_gateway(tmp_path, {}, variables=variables) as running:
        yield running


def client_of(here: Served, headers: dict[str, str] | None = None) -> httpx2.Client:
    return httpx2.Client(base_url=here.url, headers=headers, trust_env=False, timeout=30)


@pytest.fixture
def client(here: Served) -> Iterator[httpx2.Client]:
    """A client with a key of its own."""
    with client_of(here, new_key(here)) as made:
        yield made


@pytest.fixture
def clients() -> Iterator[Callable[..., httpx2.Client]]:
    """Makes clients of a gateway with these headers, or with a key of their own."""
    made: list[httpx2.Client] = []

    def make(here: Served, headers: dict[str, str] | None = None) -> httpx2.Client:
        made.append(client_of(here, new_key(here) if headers is None else headers))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def upload() -> Upload:
    """Sends a file as a form."""

    def send(client: httpx2.Client, content: bytes, name: str = "rows.jsonl", **data: Any) -> Any:
        return client.post(FILES, files={"file": (name, content)}, data=data)

    return send
