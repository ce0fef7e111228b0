"""A plugin may bring a kind of its own: its endpoint, its adapter and its catalog rows."""

from pathlib import Path

import httpx2
from drop_ins import folder_in
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import serve_gateway

EXTENSION = '''"""Horoscopes: a kind of work that the gateway knows nothing of.

API reference: https://docs.stars.example/api
"""

from gateway_core import Auth, Endpoint, Model, Price, ProviderSpec, Service, WireFormat, hookimpl
from gateway_core import Usage
from gateway_formats.intake import read_routing
from gateway_providers.services import JsonService

KIND = "horoscope"
ENDPOINT = Endpoint(
    path="/v1/horoscopes", kind=KIND, title="horoscopes", read=read_routing, route=KIND,
    sample={"sign": "leo"},
)


def write(question):
    question.lose_all_but("sign")
    return {"sign": question.members["sign"], "model": question.target.model.id}


def read(question, answer):
    return {"object": KIND, "text": answer["said"]}


STARS = JsonService(
    path="/stars", write=write, read=read, usage=lambda q, a: Usage(units={"horoscopes": 1})
)
VENDOR = ProviderSpec(
    id="stars",
    name="Stars",
    base_url="BASE_URL",
    auth=Auth(type="none"),
    models=(Model("zodiac-1", kind=KIND, price=Price(units={"horoscopes": 0.5})),),
    services=(Service(KIND, STARS),),
)


@hookimpl
def register_formats():
    return [WireFormat(id="horoscopes", dialect="horoscopes", endpoints=(ENDPOINT,))]


@hookimpl
def register_providers():
    return [VENDOR]
'''


def test_a_kind_of_its_own_needs_no_change_of_the_kernel(
    tmp_path: Path, http: httpx2.Client
) -> None:
    received: list[ReceivedRequest] = []

    def say(request: ReceivedRequest) -> MockResponse:
        received.append(request)
        return MockResponse((b'{"said":"luck"}',))

    with serve_gateway(tmp_path / "vendor", {"openai": say}) as elsewhere:
        source = EXTENSION.replace("BASE_URL", elsewhere.vendors["openai"].url)
        folder_in(tmp_path / "gateway", horoscopes=source)
        with serve_gateway(tmp_path / "gateway", {}) as here:
            body = {"sign": "leo", "mood": "good"}
            found = http.post(f"{here.url}/v1/horoscopes", json=body)
            listed = http.get(f"{here.url}/v1/models/horoscope").json()["data"]
            info = http.get(f"{here.url}/v1/models/info?id=stars/zodiac-1").json()
            refused = http.post(f"{here.url}/v1/horoscopes", json={"model": "openai/x"})
            [row] = [row for row in here.rows() if row.status == "ok"]

    assert found.json() == {"object": "horoscope", "text": "luck"}
    assert found.headers["x-gateway-dropped"] == "mood"
    assert received[0].json() == {"sign": "leo", "model": "zodiac-1"}
    assert [each["id"] for each in listed] == ["stars/zodiac-1"]
    assert info["kind"] == "horoscope"
    assert refused.json()["error"]["message"] == "Provider 'openai' does not support horoscopes."
    assert (row.endpoint, row.units, row.cost) == ("/v1/horoscopes", {"horoscopes": 1}, 500_000)
