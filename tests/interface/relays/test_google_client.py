"""Google's own client, which opens live sessions over TLS only."""

import asyncio
from collections.abc import Iterator

import pytest
from certificates import Issued, issue
from gateway_server_fast import create
from google import genai
from realtime_client import says
from served_gateway import Served, serve_gateway
from vendor_sockets import LIVE_MODEL, bidi

from gateway_cli.tls_certificate import Certificate
from gateway_core.contracts.server import ServerOptions

LIVE = "/v1/native/gemini/live"
METHOD = "google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> Issued:
    return issue(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def here(issued: Issued, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    async def serve(*words):
        certificate = Certificate(issued.cert, issued.key, ["http/1.1"])
        await create(ServerOptions(certificate=certificate)).serve(*words)

    folder = tmp_path_factory.mktemp("data")
    with serve_gateway(folder, {"openai": says}, serve=serve) as served:
        served.url = served.url.replace("http", "https", 1)
        yield served


@pytest.mark.parametrize("name", [LIVE_MODEL, f"gemini/{LIVE_MODEL}"])
def test_googles_own_client_holds_a_live_session(here, vendor, issued, name):
    sockets = vendor("gemini", bidi)
    options = genai.types.HttpOptions(
        base_url=f"{here.url}{LIVE}",
        api_version="v1beta",
        async_client_args={"ssl": issued.trusting()},
    )
    client = genai.Client(api_key="placeholder", http_options=options)

    async def talk():
        written = []
        async with client.aio.live.connect(
            model=name, config={"response_modalities": ["TEXT"]}
        ) as session:
            for _ in range(2):
                await session.send_client_content(
                    turns={"role": "user", "parts": [{"text": "Hi"}]}, turn_complete=True
                )
                written += [message.text async for message in session.receive()]
        return written

    written = asyncio.run(talk())

    assert [text for text in written if text] == ["Hällo", "Hällo"]
    (request,) = sockets.requests
    assert request.path == f"/ws/{METHOD}?key=vendor-key"
    assert "authorization" not in request.headers
    assert "x-goog-api-key" not in request.headers
    first, second = (row for row in here.rows() if row.connection_id == sockets.account)
    assert (first.input_tokens, first.output_tokens) == (11, 4)
    assert (second.endpoint, second.model_sent) == (f"{LIVE}/ws/{METHOD}", LIVE_MODEL)
