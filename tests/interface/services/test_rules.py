"""The rules of media routes, video jobs, search, fetch and decisions (4.4 to 4.7)."""

import socket
from collections.abc import Mapping
from typing import Any

import httpx2
import msgspec
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from own_stores import own_stores
from served_gateway import Served

from gateway_administration.stores.combos import ComboChange
from gateway_core import Auth, Kind, Model, Price, ProviderSpec, Service
from gateway_providers import openai_compatible
from gateway_providers.image_cache import IMAGES
from gateway_providers.services import JsonService

WORDS = (
    *("embedding", "rerank", "moderation", "image", "tts", "stt", "systemone"),
    *("video/generations", "video/edits", "video/extensions", "video/status"),
)
KINDS = (
    *(Kind.EMBEDDING, Kind.RERANK, Kind.MODERATION, Kind.IMAGE, Kind.SPEECH),
    *(Kind.TRANSCRIPTION, Kind.VIDEO, Kind.DECISION, Kind.MUSIC),
)
SOUND = {
    "/embeddings": b'{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":1}}',
    "/rerank": b'{"results":[{"index":0,"relevance_score":0.5}]}',
    "/moderations": b'{"id":"m","results":[{"flagged":false}]}',
    "/images/generations": b'{"created":1,"data":[{"b64_json":"AAAA"}]}',
    "/audio/transcriptions": b'{"text":"hi"}',
    "/systemone": b'{"answers":{"a":{}},"usage":{"input_tokens":7,"output_tokens":2}}',
    "/music": b'{"object":"music.generation","data":[]}',
    "/videos/generations": b'{"request_id":"job-1","status":"pending"}',
    "/videos/job-1": b'{"status":"done","video":{"url":"https://v.example/1"}}',
}


class Vendors:
    """Two vendors, ``one`` and ``two``. Each answers soundly, or with the status set for it."""

    def __init__(self) -> None:
        self.status: dict[str, int] = {}

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        _, name, path = received.path.split("/", 2)
        status = self.status.get(name, 200)
        if status != 200:
            return MockResponse((b'{"error":{"message":"%d here"}}' % status,), status=status)
        if path == "audio/speech":
            return MockResponse((b"ID3audio",), content_type="audio/mpeg")
        return MockResponse((SOUND[f"/{path}"],))


def music(question: Any) -> Mapping[str, Any]:
    return {**question.members, "model": question.target.model.id}


def specs(vendor: FakeVendor) -> list[ProviderSpec]:
    plain = JsonService(path="/music", write=music, read=lambda question, answer: answer)
    return [
        openai_compatible(
            ProviderSpec(
                id=name,
                name=name,
                base_url=f"{vendor.url}/{name}",
                auth=Auth(type="none"),
                models=tuple(Model(f"{kind}-{name}", kind=kind) for kind in KINDS),
                services=(Service(Kind.MUSIC, plain),),
            ),
            services=WORDS,
        )
        for name in ("one", "two")
    ]


@pytest.fixture(scope="module")
def every_vendor() -> Vendors:
    return Vendors()


@pytest.fixture
def vendors(every_vendor: Vendors) -> Vendors:
    every_vendor.status = {}
    return every_vendor


SERVED: dict[str, Any] = {
    "specs": specs,
    "variables": {"GATEWAY_BLOCK_PLUGINS": "echo"},
    "accounts": (),
}


@pytest.fixture(scope="module")
def shared(connected_once: Any, every_vendor: Vendors) -> Served:
    served: Served = connected_once(every_vendor, **SERVED)
    return served


@pytest.fixture
def here(shared: Served, vendors: Vendors, renewed: Any) -> Served:
    """The module's gateway, in which a test stores nothing."""
    served: Served = renewed(shared)
    return served


@pytest.fixture
def own(connected: Any, vendors: Vendors) -> Served:
    """The same for one test, which stores something."""
    served: Served = connected(vendors, **SERVED)
    return served


def asked_by(here: Served) -> list[str]:
    """Which vendors were asked, in order."""
    return [each.path.split("/")[1] for each in here.vendors["vendor"].received]


def save_route(here: Served, kind: str, *models: str) -> None:
    async def work() -> None:
        core = here.gateway.core
        await core.stores.settings.patch({"mediaRoutes": {kind: list(models)}})
        await core.refresh()

    here.do(work())


FORM = {"file": ("a.mp3", b"abc")}
ROUTED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "embedding": ("embedding", "/v1/embeddings", {"input": "hi"}),
    "image": ("image", "/v1/images/generations", {"prompt": "hi"}),
    "tts": ("tts", "/v1/audio/speech", {"input": "hi", "voice": "a"}),
    "stt": ("stt", "/v1/audio/transcriptions", {}),
    "music": ("music", "/v1/music/generations", {"prompt": "hi"}),
    "music alias": ("music", "/v1/audio/music", {"prompt": "hi"}),
    "video": ("video", "/v1/videos/generations", {"prompt": "hi"}),
}


def post(here: Served, http: httpx2.Client, path: str, body: dict[str, Any]) -> httpx2.Response:
    if "transcriptions" in path:
        form = {name: (None, value) for name, value in body.items()}
        return http.post(f"{here.url}{path}", files={**form, **FORM})
    return http.post(f"{here.url}{path}", json=body)


@pytest.mark.parametrize("model", [None, "auto"], ids=["missing", "auto"])
@pytest.mark.parametrize("case", ROUTED)
def test_a_call_without_a_model_takes_the_first_connected_one(
    here: Served, http: httpx2.Client, case: str, model: str | None
) -> None:
    kind, path, body = ROUTED[case]

    found = post(here, http, path, body if model is None else {**body, "model": model})

    assert found.status_code == 200, found.text
    assert asked_by(here) == ["one"]
    assert here.rows()[0].model_sent == f"{kind}-one"


@pytest.mark.parametrize("case", ROUTED)
def test_a_saved_route_has_the_operators_order(own: Served, http: httpx2.Client, case: str) -> None:
    kind, path, body = ROUTED[case]
    save_route(own, kind, "gone/x", f"two/{kind}-two", f"one/{kind}-one")

    found = post(own, http, path, body)

    assert found.status_code == 200
    assert asked_by(own) == ["two"]


@pytest.mark.parametrize("case", ROUTED)
def test_a_route_none_of_whose_models_is_available_is_refused(
    own: Served, http: httpx2.Client, case: str
) -> None:
    kind, path, body = ROUTED[case]
    save_route(own, kind, "gone/x", "anthropic/y")

    found = post(own, http, path, body)

    assert found.status_code == 400
    assert found.json()["error"]["code"] == "no_provider_for_kind"
    assert found.json()["error"]["type"] == "invalid_request_error"
    assert asked_by(own) == []


@pytest.mark.parametrize(
    ("case", "status", "expected"),
    [
        ("image", 429, ["one", "two"]),
        ("image", 500, ["one", "two"]),
        ("image", 503, ["one", "two"]),
        ("image", 401, ["one", "two"]),
        ("image", 400, ["one"]),
        ("image", 404, ["one"]),
        ("tts", 429, ["one", "two"]),
        ("stt", 502, ["one", "two"]),
        ("music", 500, ["one", "two"]),
        ("embedding", 429, ["one"]),
        ("embedding", 500, ["one"]),
        ("video", 429, ["one"]),
        ("video", 500, ["one"]),
    ],
)
def test_another_model_is_asked_only_where_one_is_not_available(
    here: Served,
    http: httpx2.Client,
    vendors: Vendors,
    case: str,
    status: int,
    expected: list[str],
) -> None:
    _, path, body = ROUTED[case]
    vendors.status = {"one": status}

    found = post(here, http, path, body)

    assert asked_by(here) == expected
    assert found.status_code == (200 if len(expected) > 1 else status)


def test_a_model_that_was_named_is_the_only_one(
    here: Served, http: httpx2.Client, vendors: Vendors
) -> None:
    vendors.status = {"one": 500}

    found = post(here, http, "/v1/images/generations", {"model": "one/image-one", "prompt": "hi"})

    assert found.status_code == 500
    assert asked_by(here) == ["one"]


def test_a_provider_that_cannot_do_this_endpoint_is_left_out_of_a_route(
    here: Served, http: httpx2.Client
) -> None:
    found = http.post(f"{here.url}/v1/audio/translations", files=FORM)
    named = http.post(
        f"{here.url}/v1/audio/translations", files={**FORM, "model": (None, "one/stt-one")}
    )

    assert found.json()["error"]["code"] == "no_provider_for_kind"
    assert named.status_code == 400
    assert named.json()["error"]["message"] == "Provider 'one' does not support audio translations."


def test_a_server_that_is_not_there_does_not_count_as_connected(
    own: Served, http: httpx2.Client
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    node = {"name": "gone", "prefix": "gone", "baseUrl": f"http://127.0.0.1:{port}/v1"}
    created = http.post(f"{own.url}/api/provider-nodes", json=node).json()["node"]["id"]
    body = {"provider": created, "name": "gone", "apiKey": ""}
    http.post(f"{own.url}/api/providers", json=body)
    save_route(own, "embedding", "gone/vectors", "one/embedding-one")

    found = post(own, http, "/v1/embeddings", {"input": "hi"})

    assert found.status_code == 200, found.text
    assert asked_by(own) == ["one"]


# Combos.


def add_combo(here: Served, name: str, kind: str | None, *models: str) -> None:
    async def work() -> None:
        core = here.gateway.core
        await own_stores(core).combos.create(ComboChange(name=name, kind=kind, models=models))
        await core.refresh()

    here.do(work())


def test_a_combo_of_the_kind_is_served_member_by_member(
    own: Served, http: httpx2.Client, vendors: Vendors
) -> None:
    add_combo(own, "painters", "image", "one/image-one", "two/image-two")
    vendors.status = {"one": 500}

    found = post(own, http, "/v1/images/generations", {"model": "painters", "prompt": "hi"})

    assert found.status_code == 200
    assert asked_by(own) == ["one", "two"]
    assert own.rows()[0].combo_name == "painters"


def test_a_combo_of_another_kind_is_refused(own: Served, http: httpx2.Client) -> None:
    add_combo(own, "painters", "image", "one/image-one")

    found = post(own, http, "/v1/embeddings", {"model": "painters", "input": "hi"})

    assert found.status_code == 400
    assert found.json()["error"]["message"] == 'Combo "painters" is not a combo for embeddings'


def test_an_alias_stands_for_a_model_of_any_kind(own: Served, http: httpx2.Client) -> None:
    http.put(f"{own.url}/api/models/alias", json={"alias": "voice", "model": "two/tts-two"})

    found = post(own, http, "/v1/audio/speech", {"model": "voice", "input": "hi"})

    assert found.content == b"ID3audio"
    assert asked_by(own) == ["two"]


# Video jobs.


def test_a_video_job_names_its_account_and_is_polled_there(
    own: Served, http: httpx2.Client
) -> None:
    made = post(own, http, "/v1/videos/generations", {"model": "two/video-two", "prompt": "hi"})
    account = made.headers["x-gateway-connection-id"]

    polled = http.get(f"{own.url}/v1/videos/job-1", headers={"x-connection-id": account})

    assert made.json()["request_id"] == "job-1"
    assert made.headers["access-control-expose-headers"] == "x-gateway-connection-id"
    assert polled.json()["video"]["url"] == "https://v.example/1"
    assert asked_by(own) == ["two", "two"]
    assert own.vendors["vendor"].received[-1].method == "GET"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"model": "films", "prompt": "hi"}, "Combos are not supported for video generation"),
        (
            {"model": "video-three", "prompt": "hi"},
            "No connected provider has video-three: name it as provider/model",
        ),
    ],
)
def test_a_video_needs_one_model(
    own: Served, http: httpx2.Client, body: dict[str, str], message: str
) -> None:
    add_combo(own, "films", "video", "one/video-one")

    found = post(own, http, "/v1/videos/generations", body)

    assert found.status_code == 400
    assert found.json()["error"]["message"] == message
    assert asked_by(own) == []


def test_a_bare_video_model_is_found_where_only_one_has_it(
    here: Served, http: httpx2.Client
) -> None:
    post(here, http, "/v1/videos/generations", {"model": "video-two", "prompt": "hi"})

    assert asked_by(here) == ["two"]


def test_a_job_is_not_guessed_where_several_accounts_could_have_it(
    own: Served, http: httpx2.Client
) -> None:
    found = http.get(f"{own.url}/v1/videos/job-1")
    unknown = http.get(f"{own.url}/v1/videos/job-1", headers={"x-connection-id": "nobody"})

    assert (found.status_code, unknown.status_code) == (400, 400)
    assert asked_by(own) == []


def test_a_video_job_keeps_its_clients_idempotency_key(here: Served, http: httpx2.Client) -> None:
    body = {"model": "one/video-one", "prompt": "hi"}
    headers = {"Idempotency-Key": "key-1", "X-Other": "x"}

    http.post(f"{here.url}/v1/videos/generations", json=body, headers=headers)

    [received] = here.vendors["vendor"].received
    assert received.headers["idempotency-key"] == "key-1"
    assert "x-other" not in received.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("action", ["remixes", "generations/again", "job-1"])
def test_an_unknown_video_action_is_refused(
    here: Served, http: httpx2.Client, method: str, action: str
) -> None:
    body = {"model": "one/video-one", "prompt": "hi"}

    found = http.request(method, f"{here.url}/v1/videos/{action}", json=body)

    assert found.status_code == 400
    assert found.json()["error"]["message"].startswith("Unknown video action")
    assert asked_by(here) == []


# Decisions.

DECISION = {"model": "one/systemone-one", "state": {"a": 1}, "questions": {"a": {}}}


def test_a_decision_is_passed_on_whole_and_its_tokens_are_counted(
    here: Served, http: httpx2.Client
) -> None:
    found = post(here, http, "/v1/systemone", DECISION)

    row = here.rows()[0]
    assert found.content == SOUND["/systemone"]
    assert here.vendors["vendor"].received[-1].json() == {**DECISION, "model": "systemone-one"}
    assert (row.input_tokens, row.output_tokens) == (7, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": None}, "Missing model"),
        ({"state": None}, "Missing required field: state"),
        ({"questions": []}, "Missing required field: questions"),
        ({"questions": None}, "Missing required field: questions"),
        ({"model": "nobody/x"}, "Invalid model format"),
        ({"model": "anthropic/x"}, "Provider 'anthropic' does not support System One."),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(
    here: Served, http: httpx2.Client, changes: dict[str, Any], message: str
) -> None:
    found = post(here, http, "/v1/systemone", {**DECISION, **changes})

    assert found.status_code == 400
    assert found.json()["error"]["message"] == message


def test_a_keyless_provider_that_is_switched_off_makes_no_decisions(
    own: Served, http: httpx2.Client
) -> None:
    async def switch_off() -> None:
        core = own.gateway.core
        await core.stores.settings.patch({"disabledFreeProviders": ["one"]})
        await core.refresh()

    own.do(switch_off())

    found = post(own, http, "/v1/systemone", DECISION)
    other = post(own, http, "/v1/images/generations", {"model": "one/image-one", "prompt": "hi"})

    assert found.status_code == 403
    assert found.json()["error"]["message"] == "Provider 'one' is disabled"
    # Elsewhere it is a provider without an account, as for chat.
    assert other.status_code == 404
    assert asked_by(own) == []


def test_a_decision_has_a_largest_answer(connected: Any, http: httpx2.Client) -> None:
    def say(received: ReceivedRequest) -> MockResponse:
        return MockResponse.stream(
            b'{"a":"',
            *(b"x" * 1024 * 1024 for _ in range(9)),
            b'"}',
            content_type="application/json",
        )

    here = connected(say, specs=specs, accounts=())

    found = post(here, http, "/v1/systemone", DECISION)

    assert found.status_code == 502


# Search and fetch.

ROW = {"t": "Köln", "u": "https://www.koeln.de/a?b=c", "s": "A city", "d": "2026-01-02"}
ROWS = msgspec.json.encode({"found": [ROW]})


def search_specs(vendor: FakeVendor) -> list[ProviderSpec]:
    def write(question: Any) -> Mapping[str, Any]:
        question.lose_all_but("query", "max_results", "content_options")
        return {"q": question.members["query"], "n": question.members.get("max_results", 5)}

    def read(question: Any, answer: Any) -> Mapping[str, Any]:
        rows = [
            {
                "title": r["t"],
                "url": r["u"],
                "snippet": r["s"],
                "published_at": r["d"],
                "text": "Long",
            }
            for r in answer["found"]
        ]
        return {"results": rows, "total": 17}

    def page(question: Any, answer: Any) -> Mapping[str, Any]:
        return {"text": answer["text"], "title": answer.get("title")}

    return [
        ProviderSpec(
            id="finder",
            name="Finder",
            aliases=("finder-search",),
            base_url=f"{vendor.url}/one",
            auth=Auth(type="none"),
            models=(
                Model("search", kind=Kind.SEARCH, price=Price(units={"queries": 0.005})),
                Model("fetch", kind=Kind.FETCH),
            ),
            services=(
                Service(Kind.SEARCH, JsonService(path="/search", write=write, read=read)),
                Service(
                    Kind.FETCH,
                    JsonService(
                        path="/fetch", write=lambda q: {"url": q.members["url"]}, read=page
                    ),
                ),
            ),
        )
    ]


@pytest.fixture(scope="module")
def shared_web(connected_once: Any) -> Served:
    def say(received: ReceivedRequest) -> MockResponse:
        if received.path.endswith("/search"):
            return MockResponse((ROWS,))
        if b"fails" in received.body:
            return MockResponse((b'{"error":"down"}',), status=500)
        return MockResponse(('{"text":"Grüße aus Köln","title":"Köln"}'.encode(),))

    served: Served = connected_once(say, specs=search_specs, accounts=())
    return served


@pytest.fixture
def web(shared_web: Served, renewed: Any) -> Served:
    """The module's gateway, in which a test stores nothing."""
    served: Served = renewed(shared_web)
    return served


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"model": "auto"},
        {"model": "finder/search"},
        {"model": "finder"},
        {"provider": "finder"},
        {"model": "finder-search"},
    ],
    ids=str,
)
def test_a_search_has_one_shape_whoever_is_named(
    web: Served, http: httpx2.Client, named: dict[str, str]
) -> None:
    body = {
        "query": " Ko\u0308ln ",
        "country": "de",
        "content_options": {"max_characters": 2},
        **named,
    }

    response = post(web, http, "/v1/search", body)

    found = response.json()
    [row] = found["results"]
    assert response.status_code == 200, response.text
    assert found["provider"] == "finder"
    assert found["answer"] is None
    assert found["errors"] == []
    assert found["usage"] == {"queries_used": 1, "search_cost_usd": 0.005}
    assert found["metrics"]["total_results_available"] == 17
    assert {*found["metrics"]} >= {"response_time_ms", "upstream_latency_ms"}
    assert row["display_url"] == "koeln.de/a"
    assert (row["position"], row["title"], row["snippet"]) == (1, "Köln", "A city")
    assert row["content"] == {"format": "markdown", "text": "Lo", "length": 2}
    assert row["citation"]["rank"] == 1
    assert row["published_at"] == "2026-01-02"
    assert row["score"] is None
    assert "country" in response.headers["x-gateway-dropped"]
    ledger = web.rows()[0]
    assert ledger.units == {"queries": 1}
    assert ledger.cost == 5000


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"query": "  "}, 400),
        ({"query": "a\u0007b"}, 400),
        ({"query": "a", "provider_options": {"baseUrl": "http://127.0.0.1:1"}}, 400),
        ({"query": "a", "model": "nobody/search"}, 400),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(
    web: Served, http: httpx2.Client, body: dict[str, Any], status: int
) -> None:
    found = post(web, http, "/v1/search", body)

    assert found.status_code == status
    assert web.vendors["vendor"].received == []


def test_a_page_has_one_shape(web: Served, http: httpx2.Client) -> None:
    body = {"url": "https://192.0.9.1/a", "format": "text", "max_characters": 5}

    found = post(web, http, "/v1/web/fetch", body).json()

    assert found["provider"] == "finder"
    assert found["url"] == "https://192.0.9.1/a"
    assert found["title"] == "Köln"
    assert found["content"] == {"format": "text", "text": "Grüße", "length": 5}
    assert found["metadata"] == {"author": None, "published_at": None, "language": None}
    assert web.rows()[0].units == {"pages": 1}


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("not a url", 400),
        ("ftp://192.0.9.1/a", 400),
        ("http://127.0.0.1:8080/a", 403),
        ("http://169.254.169.254/latest", 403),
        ("http://10.0.0.1/", 403),
        ("", 400),
    ],
)
def test_a_page_has_to_be_public(web: Served, http: httpx2.Client, url: str, status: int) -> None:
    found = post(web, http, "/v1/web/fetch", {"url": url})

    assert found.status_code == status
    assert web.vendors["vendor"].received == []


def test_a_fetch_that_fails_leaves_the_accounts_other_work_alone(
    web: Served, http: httpx2.Client
) -> None:
    # Without a model another provider, which needs no key, would be asked next.
    named = {"model": "finder"}
    failed = post(web, http, "/v1/web/fetch", {"url": "https://192.0.9.1/fails", **named})
    again = post(web, http, "/v1/web/fetch", {"url": "https://192.0.9.1/b", **named})
    search = post(web, http, "/v1/search", {"query": "hi"})

    cooling = [name for _, name, _ in web.gateway.core.cooldowns.all_active()]
    assert (failed.status_code, search.status_code) == (500, 200)
    assert again.status_code == 500
    assert cooling == ["webfetch:finder"]


def test_voices_name_the_providers_that_have_them(here: Served, http: httpx2.Client) -> None:
    missing = http.get(f"{here.url}/v1/audio/voices")
    wrong = http.get(f"{here.url}/v1/audio/voices?provider=one")

    assert (missing.status_code, wrong.status_code) == (400, 400)
    assert wrong.json()["error"]["message"].startswith("Provider 'one' has no list of voices")


def test_a_cached_picture_is_fetched_by_its_id(here: Served, http: httpx2.Client) -> None:
    name = IMAGES.put(b"\x89PNG", "image/png")

    found = http.get(f"{here.url}/v1/chatweb/image/{name}")
    gone = http.get(f"{here.url}/v1/chatweb/image/{'0' * 32}")

    assert found.content == b"\x89PNG"
    assert found.headers["content-type"] == "image/png"
    assert found.headers["cache-control"] == "private, max-age=1800"
    assert gone.status_code == 404
    assert gone.json()["error"]["message"] == "Image not found or expired"


# The management API.


@pytest.mark.parametrize(
    "kind", ["embedding", "rerank", "moderation", "image", "tts", "stt", "systemone"]
)
def test_an_operator_tests_a_model_of_any_kind(
    here: Served, http: httpx2.Client, kind: str
) -> None:
    body = {"model": f"two/{kind}-two", "kind": kind}

    found = http.post(f"{here.url}/api/models/test", json=body).json()

    assert found["ok"], found
    assert asked_by(here) == ["two"]
    assert here.rows()[0].model_sent == f"{kind}-two"


def test_a_batch_of_tests_takes_every_kind(
    here: Served, http: httpx2.Client, vendors: Vendors
) -> None:
    vendors.status = {"two": 500}
    models = [{"model": f"{name}/image-{name}", "kind": "image"} for name in ("one", "two")]

    text = http.post(f"{here.url}/api/models/test/batch", json={"models": models}).text

    frames = [msgspec.json.decode(line[6:]) for line in text.splitlines() if line[:6] == "data: "]
    assert [(f["model"], f["ok"]) for f in frames[:2]] == [
        ("one/image-one", True),
        ("two/image-two", False),
    ]


def test_a_media_route_is_shown_and_saved(own: Served, http: httpx2.Client) -> None:
    path = f"{own.url}/api/media-providers/routes"
    before = {row["id"]: row for row in http.get(path).json()["routes"]}

    http.put(path, json={"kind": "image", "models": ["two/image-two"]})
    found = post(own, http, "/v1/images/generations", {"prompt": "hi"})

    # Behind them come servers on this machine, which are asked for only where they answer.
    assert before["image"]["effective"][:2] == ["one/image-one", "two/image-two"]
    assert before["image"]["saved"] == []
    assert found.status_code == 200
    assert asked_by(own) == ["two"]


def test_an_operators_price_of_a_unit_counts(own: Served, http: httpx2.Client) -> None:
    price = {"two": {"image-two": {"units": {"images": 0.25}}}}

    listed = http.patch(f"{own.url}/api/pricing", json=price).json()
    post(own, http, "/v1/images/generations", {"model": "two/image-two", "prompt": "hi"})

    row = own.rows()[0]
    shown = http.get(f"{own.url}/api/usage/history").json()["rows"][0]
    assert listed["two"]["image-two"]["units"] == {"images": 0.25}
    assert (row.units, row.cost) == ({"images": 1}, 250_000)
    assert (shown["units"], shown["cost"]) == ({"images": 1}, 0.25)


def test_a_keys_rules_hold_for_every_kind(own: Served, http: httpx2.Client) -> None:
    body = {
        "name": "narrow",
        "machineId": own.gateway.core.data_dir.machine_id("endpoint-proxy-salt"),
        "policy": {"modelAccess": {"mode": "allow", "patterns": ["two/*"]}},
    }
    key = http.post(f"{own.url}/api/keys", json=body).json()["key"]
    bearer = {"authorization": f"Bearer {key}"}

    named = http.post(
        f"{own.url}/v1/embeddings",
        json={"model": "one/embedding-one", "input": "hi"},
        headers=bearer,
    )
    routed = http.post(f"{own.url}/v1/images/generations", json={"prompt": "hi"}, headers=bearer)

    assert named.status_code == 403
    assert routed.status_code == 200
    assert asked_by(own) == ["two"]


# The operator's own nodes.


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("openai-compatible", "/v1/embeddings", {"model": "mine/any", "input": "hi"}),
        (
            "openai-compatible",
            "/v1/rerank",
            {"model": "mine/any", "query": "q", "documents": ["a"]},
        ),
        ("custom-embedding", "/v1/embeddings", {"model": "mine/any", "input": "hi"}),
        ("custom-systemone", "/v1/systemone", {**DECISION, "model": "mine/any"}),
    ],
)
def test_a_node_has_services(
    own: Served, http: httpx2.Client, kind: str, path: str, body: dict[str, Any]
) -> None:
    base = f"{own.vendors['vendor'].url}/one"
    node = {"name": "mine", "prefix": "mine", "type": kind, "baseUrl": base}
    created = http.post(f"{own.url}/api/provider-nodes", json=node)
    assert created.status_code == 201, created.text
    account = {"provider": created.json()["node"]["id"], "name": "m", "apiKey": "sk-mine-1234"}
    assert http.post(f"{own.url}/api/providers", json=account).status_code == 201

    found = post(own, http, path, body)

    assert found.status_code == 200, found.text
    sent = own.vendors["vendor"].received[-1]
    assert sent.json()["model"] == "any"
    assert sent.path == f"/one/{path.rpartition('/')[2]}"
    assert sent.headers["authorization"] == "Bearer sk-mine-1234"
