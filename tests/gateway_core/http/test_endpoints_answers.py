"""Which path speaks which format."""

import pytest

from gateway_core import Endpoint, WireFormat
from gateway_core.http.endpoints import Endpoints
from gateway_formats.intake import read_routing


def wire(id: str, *paths: str) -> WireFormat:
    endpoints = tuple(Endpoint(path=path, read=read_routing) for path in paths)
    return WireFormat(id=id, dialect=id, endpoints=endpoints)


ENDPOINTS = Endpoints(
    [wire("a", "/v1/chat", "/v1/both"), wire("b", "/v1/both", "/m/{model}:go", "/m/{model}:go.x")]
)


@pytest.mark.parametrize(
    ("path", "format", "parameters"),
    [
        ("/v1/chat", "a", {}),
        ("/v1/both", "a", {}),
        ("/m/x:go", "b", {"model": "x"}),
        ("/m/ac/deep/x:go", "b", {"model": "ac/deep/x"}),
        ("/m/x:go:go", "b", {"model": "x:go"}),
        ("/m/x:go.x", "b", {"model": "x"}),
    ],
)
def test_a_path_finds_its_format(path: str, format: str, parameters: dict[str, str]) -> None:
    found = ENDPOINTS.find(path)

    assert found is not None
    assert (found[0].wire.id, dict(found[1])) == (format, parameters)


@pytest.mark.parametrize(
    "path", ["", "/", "/v1/chat/", "/v1/chatter", "/m/:go", "/m/x:goox", "/m/x"]
)
def test_any_other_path_finds_nothing(path: str) -> None:
    assert ENDPOINTS.find(path) is None
