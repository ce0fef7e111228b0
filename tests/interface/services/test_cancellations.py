"""Jobs that nobody waits for any more are stopped at vendors that can stop them."""

import asyncio
import threading
from typing import Any

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from served_gateway import Served

from gateway_core import Auth, Kind, Model, ProviderSpec, Service, UpstreamError
from gateway_providers.services import Again, Cancel, JsonService, Question


class Painter:
    """Paints in jobs that never end, or that fail at the first look."""

    def __init__(self) -> None:
        self.is_failing = False
        self.polled, self.stopped = threading.Event(), threading.Event()

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        if received.method == "DELETE" or received.path.endswith(("/queue", "/cancel")):
            self.stopped.set()
            return MockResponse(status=204)
        if received.method == "POST":
            return MockResponse((b'{"id":"job-1","prompt_id":"job-1"}',))
        self.polled.set()
        if self.is_failing:
            return MockResponse((b'{"id":"job-1","state":"failed"}',))
        # What each vendor answers of a job that runs.
        return MockResponse(
            (b"{}",) if "/history/" in received.path else (b'{"id":"job-1","status":"RUNNING"}',)
        )


def read(question: Question, answer: Any) -> Again:
    if answer.get("state") == "failed":
        raise UpstreamError("no colours")
    cancel = Cancel(path="/jobs/job-1/cancel", method="PUT", members={"why": "gone"})
    return Again(path="/jobs/job-1", cancel=cancel)


def specs(vendor: FakeVendor) -> list[ProviderSpec]:
    def spec(id: str, deadline: float | None) -> ProviderSpec:
        job = JsonService(
            path="/jobs", write=lambda q: q.members, read=read, interval=0.02, deadline=deadline
        )
        return ProviderSpec(
            id=id,
            name=id,
            base_url=f"{vendor.url}/v1",
            models=(Model("m-1", kind=Kind.IMAGE),),
            auth=Auth(scheme="bearer"),
            services=(Service(Kind.IMAGE, job),),
        )

    return [spec("painter", None), spec("hasty", 0.1)]


@pytest.fixture
def painter() -> Painter:
    return Painter()


def leave(here: Served, painter: Painter, model: str) -> None:
    """Begin a picture, and go once the vendor was asked for it."""
    body = b'{"model":"%b","prompt":"a cat"}' % model.encode()

    async def work() -> None:
        port = int(here.url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /v1/images/generations HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        writer.write(head + b"content-length: %d\r\n\r\n%b" % (len(body), body))
        await asyncio.to_thread(painter.polled.wait, 10)
        writer.close()

    asyncio.run(work())


def test_a_client_that_leaves_stops_the_job(connected: Any, painter: Painter) -> None:
    here = connected(painter, "painter", specs=specs)

    leave(here, painter, "painter/m-1")

    assert painter.stopped.wait(2)
    last = here.vendors["vendor"].received[-1]
    assert (last.method, last.path) == ("PUT", "/v1/jobs/job-1/cancel")
    assert last.json() == {"why": "gone"}
    assert last.headers["authorization"] == "Bearer sk-vendor-0123456789"
    assert here.rows()[0].status == "client_gone"


def test_a_job_whose_time_is_up_is_stopped(
    connected: Any, painter: Painter, http: httpx2.Client
) -> None:
    here = connected(painter, "hasty", specs=specs)

    found = http.post(
        f"{here.url}/v1/images/generations", json={"model": "hasty/m-1", "prompt": "a cat"}
    )

    assert found.status_code == 504
    assert painter.stopped.is_set()


def test_a_job_that_has_failed_is_left_alone(
    connected: Any, painter: Painter, http: httpx2.Client
) -> None:
    painter.is_failing = True
    here = connected(painter, "painter", specs=specs)

    found = http.post(
        f"{here.url}/v1/images/generations", json={"model": "painter/m-1", "prompt": "a cat"}
    )

    assert (found.status_code, found.json()["error"]["message"]) == (502, "no colours")
    assert not painter.stopped.is_set()


@pytest.mark.parametrize(
    ("model", "method", "path", "body"),
    [
        ("runwayml/gen4_image", "DELETE", "/v1/tasks/job-1", b""),
        ("comfyui/flux-dev", "POST", "/v1/queue", b'{"delete":["job-1"]}'),
    ],
)
def test_a_vendors_job_is_stopped_by_its_own_request(
    connected: Any, painter: Painter, model: str, method: str, path: str, body: bytes
) -> None:
    here = connected(painter, model.partition("/")[0])

    leave(here, painter, model)

    assert painter.stopped.wait(2)
    last = here.vendors["vendor"].received[-1]
    assert (last.method, last.path, last.body) == (method, path, body)
