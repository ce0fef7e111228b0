"""Exchanges of several requests: inputs that are too many, and jobs that are polled."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service, UpstreamError
from gateway_providers import openai_compatible
from gateway_providers.services import (
    Again,
    Content,
    JsonService,
    PassThroughService,
    Question,
)

INTERVAL = 0.02


class Vendor:
    """Counts words of embeddings, and paints pictures in jobs."""

    def __init__(self) -> None:
        self.polls_needed = 2
        self.is_failing = False
        self.polled = threading.Event()

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        match received.path.removeprefix("/v1"):
            case "/embeddings":
                return self.vectors(received)
            case "/embed":
                texts = received.json()["texts"]
                return MockResponse(
                    (b'{"vectors":[%s]}' % b",".join(b"[%s]" % t.encode() for t in texts),)
                )
            case "/jobs":
                return MockResponse((b'{"id":"job-1","state":"queued"}',), status=202)
            case "/jobs/job-1":
                return self.state()
            case "/results/job-1":
                return MockResponse((b"\x89PNGbytes",), content_type="image/png")
        return MockResponse(status=404)

    def vectors(self, received: ReceivedRequest) -> MockResponse:
        inputs = received.json()["input"]
        if self.is_failing and "9" in inputs:
            return MockResponse((b'{"error":{"message":"too much"}}',), status=429)
        rows = b",".join(
            b'{"index":%d,"embedding":[%s]}' % (place, text.encode())
            for place, text in reversed(list(enumerate(inputs)))
        )
        usage = b'{"prompt_tokens":%d,"total_tokens":%d}' % (len(inputs), len(inputs))
        return MockResponse(
            (b'{"object":"list","data":[%b],"model":"v","usage":%b}' % (rows, usage),)
        )

    def state(self) -> MockResponse:
        self.polled.set()
        if self.is_failing:
            return MockResponse((b'{"id":"job-1","state":"failed","reason":"no colours"}',))
        self.polls_needed -= 1
        state = b"running" if self.polls_needed > 0 else b"done"
        return MockResponse((b'{"id":"job-1","state":"%b"}' % state,))


def read_job(question: Question, answer: Any) -> Mapping[str, Any] | Content | Again:
    if isinstance(answer, bytes):
        return Content(answer, "image/png")
    match answer["state"]:
        case "done":
            return Again(path=f"/results/{answer['id']}", is_job=False)
        case "failed":
            raise UpstreamError(answer["reason"])
    return Again(path=f"/jobs/{answer['id']}")


def write_vectors(question: Question) -> Mapping[str, Any]:
    question.lose_all_but("input")
    return {"texts": question.members["input"]}


def read_vectors(question: Question, answer: Any) -> Mapping[str, Any]:
    rows = [{"index": i, "embedding": vector} for i, vector in enumerate(answer["vectors"])]
    return {"object": "list", "data": rows, "model": question.target.model.id}


def specs(vendor: FakeVendor) -> list[ProviderSpec]:
    def spec(id: str, kind: str, *services: Service) -> ProviderSpec:
        price = Price(units={"images": 0.04})
        return ProviderSpec(
            id=id,
            name=id,
            base_url=f"{vendor.url}/v1",
            auth=Auth(type="none"),
            models=(Model("m-1", kind=kind, price=price if kind == Kind.IMAGE else None),),
            services=services,
        )

    def job(deadline: float | None) -> JsonService:
        return JsonService(
            path="/jobs",
            write=lambda question: dict(question.members),
            read=read_job,
            interval=INTERVAL,
            deadline=deadline,
        )

    few = PassThroughService("/embeddings", batch_limit=3)
    other = JsonService(path="/embed", write=write_vectors, read=read_vectors, batch_limit=2)
    return [
        openai_compatible(spec("few", Kind.EMBEDDING, Service(Kind.EMBEDDING, few))),
        spec("other", Kind.EMBEDDING, Service(Kind.EMBEDDING, other)),
        spec("painter", Kind.IMAGE, Service(Kind.IMAGE, job(None))),
        spec("hasty", Kind.IMAGE, Service(Kind.IMAGE, job(0.1))),
    ]


@pytest.fixture
def vendor() -> Vendor:
    return Vendor()


@pytest.fixture
def here(connected: Any, vendor: Vendor) -> Iterator[Served]:
    return connected(vendor, "few", specs=specs)  # type: ignore[no-any-return]


def test_inputs_above_the_vendors_limit_are_sent_in_parts_and_put_together(
    here: Served, http: httpx2.Client
) -> None:
    texts = [str(number) for number in range(8)]
    body = {"model": "few/m-1", "input": texts, "dimensions": 2}

    found = http.post(f"{here.url}/v1/embeddings", json=body).json()

    received = [each.json() for each in here.vendors["vendor"].received]
    row = here.rows()[0]
    assert [each["input"] for each in received] == [texts[:3], texts[3:6], texts[6:]]
    assert all(each["dimensions"] == 2 and each["model"] == "m-1" for each in received)
    assert [item["index"] for item in found["data"]] == list(range(8))
    assert [item["embedding"] for item in found["data"]] == [[n] for n in range(8)]
    assert found["usage"] == {"prompt_tokens": 8, "total_tokens": 8}
    assert (row.input_tokens, row.attempts) == (8, 1)


@pytest.mark.parametrize("value", ["one text", [1, 2, 3, 4, 5], ["a", "b", "c"]])
def test_one_input_is_one_request(here: Served, http: httpx2.Client, value: Any) -> None:
    http.post(f"{here.url}/v1/embeddings", json={"model": "few/m-1", "input": value})

    assert [each.json()["input"] for each in here.vendors["vendor"].received] == [value]


def test_a_translated_vendor_is_asked_in_parts_too(here: Served, http: httpx2.Client) -> None:
    body = {"model": "other/m-1", "input": ["0", "1", "2"], "user": "me"}

    response = http.post(f"{here.url}/v1/embeddings", json=body)

    found = response.json()
    assert [item["embedding"] for item in found["data"]] == [[0], [1], [2]]
    assert [item["index"] for item in found["data"]] == [0, 1, 2]
    assert response.headers["x-gateway-dropped"] == "user"


def test_a_part_that_is_refused_refuses_the_call(
    here: Served, http: httpx2.Client, vendor: Vendor
) -> None:
    vendor.is_failing = True
    body = {"model": "few/m-1", "input": [str(number) for number in range(10)]}

    found = http.post(f"{here.url}/v1/embeddings", json=body)

    assert found.status_code == 429
    assert found.json()["error"]["message"] == "too much"


def test_a_job_is_submitted_polled_and_fetched(here: Served, http: httpx2.Client) -> None:
    body = {"model": "painter/m-1", "prompt": "a cat"}

    found = http.post(f"{here.url}/v1/images/generations", json=body)

    received = [each.path for each in here.vendors["vendor"].received]
    assert found.content == b"\x89PNGbytes"
    assert found.headers["content-type"] == "image/png"
    assert received == ["/v1/jobs", "/v1/jobs/job-1", "/v1/jobs/job-1", "/v1/results/job-1"]


def test_a_job_that_fails_says_why(here: Served, http: httpx2.Client, vendor: Vendor) -> None:
    vendor.is_failing = True
    body = {"model": "painter/m-1", "prompt": "a cat"}

    found = http.post(f"{here.url}/v1/images/generations", json=body)

    assert found.status_code == 502
    assert found.json()["error"]["message"] == "no colours"


def test_a_job_has_a_deadline(here: Served, http: httpx2.Client, vendor: Vendor) -> None:
    vendor.polls_needed = 1_000_000
    body = {"model": "hasty/m-1", "prompt": "a cat"}

    found = http.post(f"{here.url}/v1/images/generations", json=body)

    assert found.status_code == 504


def test_a_client_that_leaves_ends_the_polling(here: Served, vendor: Vendor) -> None:
    vendor.polls_needed = 1_000_000
    body = b'{"model":"painter/m-1","prompt":"a cat"}'

    async def leave() -> None:
        port = int(here.url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /v1/images/generations HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        writer.write(head + b"content-length: %d\r\n\r\n%b" % (len(body), body))
        await asyncio.to_thread(vendor.polled.wait, 10)
        writer.close()

    asyncio.run(leave())

    async def over() -> None:
        async with asyncio.timeout(2):
            while len(here.gateway.core.in_flight):
                await asyncio.sleep(0)

    here.do(over())
    assert here.rows()[0].status == "client_gone"
