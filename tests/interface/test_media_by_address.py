"""Images that a client names by address, for vendors that take them by value only."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from chat_endpoints import CLAUDE
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served, serve_gateway
from vendor_answers import WHOLE

from gateway_core.pipeline import media_by_value

PUBLIC = "93.184.216.34"
"""Every name resolves to it, unless a test says otherwise."""
PNG = b"\x89PNG\r\n\x1a\n and so on"
IMAGE = "image/png"


class Web:
    """The public internet: one server on loopback, which all public addresses lead to."""

    def __init__(self, server: FakeVendor) -> None:
        self.server = server
        self.names: dict[str, list[str]] = {}
        self.pages: dict[str, Callable[[ReceivedRequest], MockResponse]] = {}

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        return self.pages[received.path](received)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Served]:
    scripts = {
        "ollama": lambda _: MockResponse((WHOLE["ollama"],)),
        "claude": lambda _: MockResponse((CLAUDE,)),
    }
    with serve_gateway(tmp_path, scripts, server="asyncio") as running:
        yield running


@pytest.fixture
def web(here: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    web = Web(FakeVendor(lambda received: web(received)))
    here.do(web.server.open())
    core, loop = here.gateway.core, here.loop
    connect = loop.create_connection

    async def resolve(name: str) -> list[str]:
        return web.names.get(name, [PUBLIC])

    async def dial(factory: Any, host: str, port: int, **options: Any) -> Any:
        there = (host, port) if host != PUBLIC else ("127.0.0.1", web.server.port)
        return await connect(factory, *there, **options)

    monkeypatch.setattr(core.network._guard, "_resolve", resolve)
    monkeypatch.setattr(loop, "create_connection", dial)
    yield web
    here.do(web.server.aclose())


def ask(http: httpx2.Client, here: Served, *urls: str, model: str = "v-ollama/m") -> Any:
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    content = [{"type": "text", "text": "what is this?"}, *shown]
    body = {"model": model, "messages": [{"role": "user", "content": content}]}
    return http.post(f"{here.url}/v1/chat/completions", json=body)


def seen(here: Served) -> list[Any]:
    return [json.loads(received.body) for received in here.vendors["ollama"].received]


def test_they_are_fetched_once_and_sent_by_value(
    here: Served, web: Web, http: httpx2.Client
) -> None:
    web.pages["/a.png"] = lambda _: MockResponse((PNG,), content_type=IMAGE)
    web.pages["/b.png"] = lambda _: MockResponse((PNG * 2,), content_type="")

    answer = ask(http, here, "http://x.test/a.png", "http://x.test/b.png", "http://x.test/a.png")

    assert answer.status_code == 200, answer.text
    images = [base64.b64decode(image) for image in seen(here)[0]["messages"][0]["images"]]
    assert images == [PNG, PNG * 2, PNG]
    assert sorted(received.path for received in web.server.received) == ["/a.png", "/b.png"]
    for received in web.server.received:
        assert not {"authorization", "cookie", "x-api-key"} & {
            name.lower() for name in received.headers
        }


def test_a_redirect_is_followed_and_checked(here: Served, web: Web, http: httpx2.Client) -> None:
    web.pages["/a"] = lambda _: MockResponse((), status=302, headers={"location": "/b.png"})
    web.pages["/b.png"] = lambda _: MockResponse((PNG,), content_type=IMAGE)
    web.pages["/in"] = lambda _: MockResponse(
        (), status=302, headers={"location": "http://127.0.0.1/"}
    )
    web.pages["/on"] = lambda _: MockResponse((), status=302, headers={"location": "/on"})

    assert ask(http, here, "http://x.test/a").status_code == 200
    assert ask(http, here, "http://x.test/in").status_code == 403
    assert ask(http, here, "http://x.test/on").status_code == 400
    assert len(seen(here)) == 1


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("http://127.0.0.1/a.png", 403, "media_forbidden"),
        ("http://[::1]/a.png", 403, "media_forbidden"),
        ("http://169.254.169.254/latest/meta-data", 403, "media_forbidden"),
        ("http://10.0.0.1/a.png", 403, "media_forbidden"),
        ("http://x.test:22/a.png", 403, "media_forbidden"),
        ("http://inside.test/a.png", 403, "media_forbidden"),
        ("http://mixed.test/a.png", 403, "media_forbidden"),
        ("http://user:pw@x.test/a.png", 400, "media_unreachable"),
        ("http://0x7f.1/a.png", 400, "media_unreachable"),
    ],
)
def test_only_public_addresses_are_asked(
    here: Served, web: Web, http: httpx2.Client, url: str, status: int, code: str
) -> None:
    web.names = {"inside.test": ["192.168.1.2"], "mixed.test": [PUBLIC, "127.0.0.1"]}

    answer = ask(http, here, url)

    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["code"] == code
    assert not web.server.received
    assert not seen(here)
    assert not here.gateway.core.cooldowns.find("v-ollama:public", "m")


def test_what_is_no_image_is_refused(here: Served, web: Web, http: httpx2.Client) -> None:
    web.pages["/page"] = lambda _: MockResponse((b"<html>",), content_type="text/html")
    web.pages["/gone"] = lambda _: MockResponse((), status=404)

    page = ask(http, here, "http://x.test/page")
    gone = ask(http, here, "http://x.test/gone")

    assert (page.status_code, gone.status_code) == (400, 400)
    assert "its server sends text/html" in page.json()["error"]["message"]
    assert "its server answers 404" in gone.json()["error"]["message"]
    assert not seen(here)


def test_an_answer_without_end_is_cut_off(
    here: Served, web: Web, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media_by_value, "LIMIT", 256 * 1024)
    web.pages["/endless"] = lambda _: MockResponse((b"a" * 65536,) * 64, content_type=IMAGE)

    answer = ask(http, here, "http://x.test/endless")

    assert answer.status_code == 400
    assert "exceed 262144 bytes" in answer.json()["error"]["message"]
    assert not seen(here)


def test_a_server_that_says_nothing_is_given_up(
    here: Served, web: Web, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media_by_value, "TIME", 0.2)
    web.pages["/slow"] = lambda _: MockResponse((PNG,), content_type=IMAGE, delay=30)

    answer = ask(http, here, "http://x.test/slow")

    assert answer.status_code == 400
    assert not seen(here)


def test_too_many_addresses_are_refused(here: Served, web: Web, http: httpx2.Client) -> None:
    urls = [f"http://x.test/{number}.png" for number in range(media_by_value.MOST + 1)]

    answer = ask(http, here, *urls)

    assert answer.status_code == 400
    assert not web.server.received


def test_the_next_member_of_a_combo_is_asked_where_an_image_cannot_be_fetched(
    here: Served, web: Web, http: httpx2.Client, add_combo: Callable[..., None]
) -> None:
    add_combo(here, "pair", "v-ollama/m", "v-claude/m")

    answer = ask(http, here, "http://10.0.0.1/a.png", model="pair")

    assert answer.status_code == 200, answer.text
    assert not seen(here)
    sent = json.loads(here.vendors["claude"].received[0].body)
    assert sent["messages"][0]["content"][1]["source"]["url"] == "http://10.0.0.1/a.png"


def test_a_vendor_that_takes_addresses_gets_the_address(
    here: Served, web: Web, http: httpx2.Client
) -> None:
    answer = ask(http, here, "http://x.test/a.png", model="v-claude/m")

    assert answer.status_code == 200
    assert not web.server.received
