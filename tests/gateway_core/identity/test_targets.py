"""One spelling of a path for gate and routes; a request that could mean two things is refused."""

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.contracts.errors import BadRequest, GatewayError, Unauthorized
from gateway_core.identity.targets import (
    LONGEST,
    TargetTooLong,
    check_host,
    path_of,
    plain_path,
)


def scope_of(raw: str, root_path: str = "", query: bytes = b"") -> dict[str, Any]:
    """A request as servers hand it over: the raw path, and what it decodes to."""
    return {
        "path": unquote(raw),
        "raw_path": raw.encode("latin-1"),
        "root_path": root_path,
        "query_string": query,
    }


def read(raw: str, root_path: str = "") -> str | type[GatewayError]:
    try:
        return path_of(scope_of(raw, root_path))
    except GatewayError as error:
        return type(error)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/", "/"),
        ("/v1/models", "/v1/models"),
        ("/v1/models/", "/v1/models"),
        ("/v1/v1/models", "/v1/models"),
        ("/api/v1/models", "/v1/models"),
        ("/api/v1", "/v1"),
        ("/api/v1beta/models", "/v1beta/models"),
        ("/api/v1x", "/api/v1x"),
        ("/api/keys/", "/api/keys"),
        ("/%61pi/keys", "/api/keys"),
        ("/API/keys", "/API/keys"),
        ("/api%2fkeys%20", "refused"),
        ("/v1/models/a%2Fb", "/v1/models/a/b"),
        ("/v1/models/a%252Fb", "/v1/models/a%2Fb"),
        ("/v1/models/a.b..c", "/v1/models/a.b..c"),
        ("/v1/models/a;b", "/v1/models/a;b"),
        ("/api/combos/a.b", "/api/combos/a.b"),
        ("/v1/models/%C3%A9", "/v1/models/é"),
    ],
)
def test_a_path_has_one_spelling(raw: str, path: str) -> None:
    assert read(raw) == (Unauthorized if path == "refused" else path)


@pytest.mark.parametrize(
    "rest",
    [
        *("//keys", "/./keys", "/x/../keys", "/keys/..", "/keys/.", "/../keys", "/keys//"),
        *("/a%2fb", "/a%2Fb", "/a%5cb", "/a%5Cb", "/a\\b", "/%2e%2e/keys", "/a%2eb", "/keys%00"),
        *("/keys;a=b", "/keys%3ba=b", "/%", "/%zz", "/%u002e/keys", "/keys%c0%ae", "/keys%0a"),
        *("/keys%0d%0ax", "/keys%7f", "/keys%ff", "/%e2%80%a8", "/keys%1b[31m", "/keys%c2%85"),
    ],
)
def test_under_api_nothing_but_a_plain_path_is_looked_at(rest: str) -> None:
    assert read("/api" + rest) is Unauthorized
    assert read("/%61pi" + rest) is Unauthorized


@pytest.mark.parametrize(
    "raw",
    [
        *("//api/keys", "//v1/models", "/v1//models", "/v1/./models", "/v1/../api/keys", "/v1/.."),
        *("/v1/v1/..", "/%2e%2e/api/keys", "/v1/models%2f..%2f..%2fapi%2fkeys", "/v1/a%5cb"),
        *("/v1/%zz", "/v1/%", "/v1/a%00", "/v1/a%0a", "/v1/%ff", "/v1\\models", "", "*"),
        *("api/keys", "http://127.0.0.1/api/keys", "127.0.0.1:80", "/.", "/..", "/%5c"),
    ],
)
def test_elsewhere_a_path_with_two_meanings_makes_no_sense(raw: str) -> None:
    assert read(raw) is BadRequest


def test_the_prefix_of_a_mounted_gateway_is_no_part_of_its_paths() -> None:
    assert read("/gate/api/keys/", "/gate") == "/api/keys"
    assert read("/gate/v1/v1/models", "/gate") == "/v1/models"
    assert read("/gate/api//keys", "/gate") is Unauthorized
    assert read("/gate//v1/models", "/gate") is BadRequest
    assert read("/gate/", "/gate") == "/"


def test_a_server_that_keeps_no_raw_path_is_fine() -> None:
    scope = {"path": "/api/keys/"}

    assert path_of(scope) == "/api/keys"
    assert path_of({**scope, "raw_path": None}) == "/api/keys"
    with pytest.raises(Unauthorized):
        path_of({"path": "/api/../keys"})


def test_an_address_has_a_longest() -> None:
    assert path_of(scope_of("/v1/" + "a" * (LONGEST - 4))) == "/v1/" + "a" * (LONGEST - 4)
    with pytest.raises(TargetTooLong) as reported:
        path_of(scope_of("/v1/" + "a" * (LONGEST - 4), query=b"a"))
    assert reported.value.status == 414


@given(st.text(alphabet="/.%25fFcCe0;\\apivkeys1", max_size=30))
def test_whatever_passes_has_no_second_meaning(rest: str) -> None:
    path = read("/" + rest)

    if isinstance(path, str):
        segments = path.split("/")[1:]
        assert not {".", ".."} & set(segments)
        assert path == "/" or all(segments)
        assert "\\" not in path
        assert read(path.replace("%", "%25")) == path


@given(st.text(alphabet="/v1abetpi", max_size=40))
def test_a_plain_path_stays_as_it_is(text: str) -> None:
    # Four rounds take off more prefixes than anybody writes by mistake.
    path = plain_path("/" + text.replace("//", "/").strip("/"))

    assert path.count("/v1") > 4 or plain_path(path) == path


def host(*values: str, name: bytes = b"host") -> type[GatewayError] | None:
    pairs = [(name, value.encode("latin-1")) for value in values]
    headers = {name.decode(): value.decode("latin-1") for name, value in pairs}
    try:
        check_host({"headers": pairs}, headers)
    except GatewayError as error:
        return type(error)
    return None


@pytest.mark.parametrize(
    "value",
    [
        *("127.0.0.1", "127.0.0.1:20128", "localhost", "LOCALHOST:1", "gateway.example."),
        *("[::1]", "[::1]:20128", "[::ffff:127.0.0.1]:1", "my_host", "xn--bcher-kva.example"),
    ],
)
def test_a_host_is_a_name_or_address_with_or_without_port(value: str) -> None:
    assert host(value) is None


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "a b", "a/b", "a@b", "http://a", "a:b", "a:123456", "[::1", "::1", "a,b"),
        *("a?b", "a#b", "a\\b", "é.example", "a\n", "[::1]x", ":80", "[fe80::1%eth0]"),
    ],
)
def test_anything_else_is_no_host(value: str) -> None:
    assert host(value) is BadRequest


def test_there_is_exactly_one_host() -> None:
    assert host() is BadRequest
    assert host("127.0.0.1", "127.0.0.1") is BadRequest
    assert host("127.0.0.1", "evil.example") is BadRequest
    assert host("127.0.0.1", name=b"x-host") is BadRequest
    repeated = [(b"host", b"127.0.0.1"), (b"accept", b"a"), (b"accept", b"b")]
    check_host({"headers": repeated}, {"host": "127.0.0.1", "accept": "b"})
