"""The web application over a socket: its page, its files, and what stays as it was."""

import gzip
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import gateway_extension_dashboard as dashboard
import httpx2
import pytest
from served_gateway import Served, serve_gateway

PAGE = b"<!doctype html><title>Model Gateway</title>" + b" " * 2000
SCRIPT = b"export const answer = 42;" * 200
SCRIPT_NAME = "assets/main-B1c2D3e4.js"
SECRET = "canary-outside"


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built application, beside a file that is no part of it."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "secret.txt").write_text(SECRET)
    made = folder / "static"
    (made / "assets").mkdir(parents=True)
    (made / "index.html").write_bytes(PAGE)
    (made / SCRIPT_NAME).write_bytes(SCRIPT)
    (made / f"{SCRIPT_NAME}.br").write_bytes(brotli.compress(SCRIPT))
    (made / f"{SCRIPT_NAME}.gz").write_bytes(gzip.compress(SCRIPT))
    (made / "icon.svg").write_text("<svg/>")
    (made / "link.txt").symlink_to(folder / "secret.txt")
    return made


@pytest.fixture(scope="module")
def here(static: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dashboard, "STATIC", static)
        with serve_gateway(tmp_path_factory.mktemp("data"), {}) as running:
            yield running


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    blocked = {"GATEWAY_BLOCK_PLUGINS": "extension-dashboard"}
    with serve_gateway(tmp_path_factory.mktemp("data"), {}, variables=blocked) as running:
        yield running


def get(here: Served, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    # The client's own wish for compression would hide what is tested.
    return httpx2.request(
        method, here.url + path, headers={"accept-encoding": "identity", **named}, trust_env=False
    )


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard/", "/dashboard/models/gpt-4.1?q=1"])
def test_the_page_answers_every_address_of_the_application(here: Served, path: str) -> None:
    answer = get(here, path)

    assert answer.status_code == 200
    assert answer.content == PAGE
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "/dashboard"),
        ("/login", "/dashboard/login"),
        ("/login?error=denied&a=%0d%0ab", "/dashboard/login?error=denied&a=%0d%0ab"),
    ],
)
def test_entrances_lead_to_the_application(here: Served, path: str, target: str) -> None:
    answer = get(here, path)

    assert answer.status_code == 302
    assert answer.headers["location"] == target
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/dashboard", f"/dashboard/{SCRIPT_NAME}", "/", "/dashboard/x.y"])
def test_no_script_but_the_gateways_own_may_run(here: Served, path: str) -> None:
    headers = get(here, path).headers

    policy = dict(
        part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert not any("http" in sources or "*" in sources for sources in policy.values())
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"


def test_a_file_with_a_digest_in_its_name_is_kept_for_good(here: Served) -> None:
    answer = get(here, f"/dashboard/{SCRIPT_NAME}")

    assert answer.content == SCRIPT
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"


def test_a_file_without_one_is_asked_about_each_time(here: Served) -> None:
    answer = get(here, "/dashboard/icon.svg")

    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.1", "gzip"),
        ("*", "br"),
        ("*;q=0", None),
        ("BR", "br"),
        ("identity", None),
        ("br;q=nonsense", None),
        (", ,;q=,", None),
    ],
)
def test_compressed_files_are_sent_as_they_were_built(
    here: Served, accepted: str, encoding: str | None
) -> None:
    answer = get(here, f"/dashboard/{SCRIPT_NAME}", accept_encoding=accepted)

    assert answer.headers.get("content-encoding") == encoding
    assert answer.content == SCRIPT
    assert "accept-encoding" in answer.headers["vary"].lower()
    smaller = int(answer.headers["content-length"]) < len(SCRIPT)
    assert smaller is (encoding is not None)


def test_a_file_that_was_not_compressed_is_sent_as_it_is(here: Served) -> None:
    answer = get(here, "/dashboard", accept_encoding="br, gzip")

    assert "content-encoding" not in answer.headers
    assert answer.content == PAGE


def test_each_encoding_has_a_tag_of_its_own_and_is_not_sent_twice(here: Served) -> None:
    path = f"/dashboard/{SCRIPT_NAME}"
    tags = {each: get(here, path, accept_encoding=each).headers["etag"] for each in ("br", "gzip")}
    tags["identity"] = get(here, path).headers["etag"]

    assert len(set(tags.values())) == 3
    for encoding, tag in tags.items():
        for known in (tag, f'"other", W/{tag}', "*"):
            answer = get(here, path, accept_encoding=encoding, if_none_match=known)
            assert (answer.status_code, answer.content) == (304, b"")
            assert answer.headers["etag"] == tag
            assert "immutable" in answer.headers["cache-control"]
            assert "content-security-policy" in answer.headers
        changed = get(here, path, accept_encoding=encoding, if_none_match='"other"')
        assert changed.status_code == 200


@pytest.mark.parametrize("path", ["/dashboard", f"/dashboard/{SCRIPT_NAME}", "/"])
def test_head_gives_the_head_of_get(here: Served, path: str) -> None:
    whole, head = get(here, path), get(here, path, "HEAD")

    varying = ("date", "x-request-id")
    assert head.content == b""
    assert head.status_code == whole.status_code
    assert {name: value for name, value in head.headers.items() if name not in varying} == {
        name: value for name, value in whole.headers.items() if name not in varying
    }


@pytest.mark.parametrize(
    "path", ["/dashboard", "/dashboard/models", "/", f"/dashboard/{SCRIPT_NAME}"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_sent_there(here: Served, path: str, method: str) -> None:
    answer = get(here, path, method)

    assert answer.status_code == 405
    assert answer.json()["error"] == "Method not allowed"


@pytest.mark.parametrize("path", ["/dashboard/assets/gone-1.js", "/dashboard/assets"])
def test_a_file_that_is_gone_is_not_the_page(here: Served, path: str) -> None:
    answer = get(here, path)

    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "no-store"


def raw(here: Served, target: str) -> bytes:
    """An answer to a target that no client would send."""
    host, _, port = here.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), 20) as connection:
        head = f"GET {target} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\n\r\n"
        connection.sendall(head.encode("latin-1"))
        with connection.makefile("rb") as answer:
            return answer.read()


@pytest.mark.parametrize(
    "target",
    [
        "/dashboard/../secret.txt",
        "/dashboard/%2e%2e/secret.txt",
        "/dashboard/..%2fsecret.txt",
        "/dashboard/assets/../../secret.txt",
        "/dashboard/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/dashboard//secret.txt",
        "/dashboard/..\\secret.txt",
        "/dashboard/..%5csecret.txt",
        "/dashboard/%00/../secret.txt",
        "/dashboard/link.txt",
        "/dashboard/../../../../../../../../etc/passwd",
        "/dashboard/%2fetc%2fpasswd",
        "/dashboard/%252e%252e/secret.txt",
        "/dashboard/__init__.py",
        f"/dashboard/{SCRIPT_NAME}.br/../../../secret.txt",
    ],
)
def test_nothing_outside_the_built_files_is_sent(here: Served, target: str) -> None:
    answer = raw(here, target)

    head, _, body = answer.partition(b"\r\n\r\n")
    assert SECRET.encode() not in body
    assert b"root:" not in body
    assert b"GATEWAY_PROTOCOL" not in body
    is_page = head.startswith(b"HTTP/1.1 200") and body == PAGE
    assert is_page or head.startswith(b"HTTP/1.1 4"), head


def test_compressed_copies_have_no_address(here: Served) -> None:
    for suffix in (".br", ".gz"):
        assert get(here, f"/dashboard/{SCRIPT_NAME}{suffix}").status_code == 404


OUTSIDE = [
    *("/api/nothing", "/v1/nothing", "/v1beta/nothing", "/api/v1/nothing", "/codex/nothing"),
    *("/nothing", "/index.html", "/favicon.ico", "/assets/main.js", "/dashboards", "/Dashboard"),
    *("/login/x", "/static/index.html"),
]


def reported(
    here: Served, path: str, method: str, **headers: str
) -> tuple[int, Any, dict[str, str]]:
    answer = get(here, path, method, **headers)
    body = answer.json() if answer.content else None
    varying = ("date", "x-request-id", "content-length")
    if isinstance(body, dict):
        body.pop("request_id", None)
        if isinstance(body.get("error"), dict):
            body["error"].pop("request_id", None)
    kept = {name: value for name, value in answer.headers.items() if name not in varying}
    return answer.status_code, body, kept


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_elsewhere_are_answered_as_without_the_application(
    here: Served, without: Served, path: str, method: str
) -> None:
    for headers in ({}, {"x_forwarded_for": "203.0.113.5"}, {"accept": "text/html"}):
        assert reported(here, path, method, **headers) == reported(without, path, method, **headers)


@pytest.mark.parametrize("path", ["/", "/login", "/dashboard", "/dashboard/models"])
def test_without_the_plugin_there_is_no_application(without: Served, path: str) -> None:
    assert get(without, path).json()["error"] == "Unauthorized"
    paths = {getattr(each.route, "path", "") for each in without.gateway.app.routes}
    assert not any(each.startswith("/dashboard") or each == "/" for each in paths)


def test_a_plugin_that_is_blocked_is_not_imported() -> None:
    look = "import sys; from gateway_core.plugins import load; "
    look += "load(blocked=frozenset({'extension-dashboard'})); "
    look += "print([name for name in sys.modules if 'dashboard' in name and 'api' not in name])"

    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_the_page_needs_no_credential_and_the_api_does(here: Served) -> None:
    far = {"x_forwarded_for": "203.0.113.5"}

    assert get(here, "/dashboard", **far).status_code == 200
    assert get(here, "/api/keys", **far).status_code == 401


def test_the_openapi_document_is_the_same_with_and_without_it(
    here: Served, without: Served
) -> None:
    def paths(served: Served) -> list[str]:
        token = served.gateway.core.identity.cli_token
        return sorted(get(served, "/api/openapi.json", x_gateway_cli_token=token).json()["paths"])

    assert paths(here) == paths(without)


def test_an_application_that_is_not_built_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboard, "STATIC", tmp_path / "nothing")
    with serve_gateway(tmp_path / "data", {}) as here:
        answer = get(here, "/dashboard")

    assert answer.status_code == 503
    assert "make dashboard" in answer.text
