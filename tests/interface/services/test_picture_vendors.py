"""Pictures and films: what each vendor is asked, and what the client gets of its answers.

The answers of vendors are written after their documentation, which each plugin names.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email import message_from_bytes
from importlib import import_module
from typing import Any

import httpx2
import msgspec
import openai
import pytest
from fake_vendor import FakeVendor, MockResponse, ReceivedRequest
from msgspec.structs import replace
from served_gateway import Served

from gateway_core import ProviderSpec

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
CODED = base64.b64encode(PNG).decode()
URL = "https://pictures.example/cat.png"
AT = {"url": URL}
BYTES = {"b64_json": CODED}
KEY = "sk-vendor-0123456789"
BEARER = {"authorization": f"Bearer {KEY}"}
INTERVAL = 0.01
Answers = Callable[[ReceivedRequest], MockResponse]


def say(value: Any, status: int = 200) -> MockResponse:
    return MockResponse((msgspec.json.encode(value),), status=status)


def always(value: Any) -> Answers:
    return lambda received: say(value)


def in_turn(*values: Any) -> Answers:
    """One value after the other; bytes are a picture."""
    left = list(values)

    def answer(received: ReceivedRequest) -> MockResponse:
        value = left.pop(0)
        if isinstance(value, bytes):
            return MockResponse((value,), content_type="image/png")
        return say(value(received) if callable(value) else value)

    return answer


def polling_url(received: ReceivedRequest) -> dict[str, str]:
    return {"id": "j", "polling_url": f"http://{received.headers['host']}/v1/get_result?id=j"}


@dataclass(frozen=True)
class Case:
    """One vendor's way of making a picture of a cat."""

    provider: str
    model: str
    answers: Answers
    paths: tuple[str, ...]
    """What the vendor is asked, without its ``/v1``."""
    sent: Mapping[str, Any]
    """The first body: JSON, or the fields of a form."""
    shown: tuple[Mapping[str, Any], ...]
    more: Mapping[str, Any] = field(default_factory=dict)
    """Of the client, besides the prompt and its size."""
    lost: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: BEARER)
    cost: int | None = None
    """Millionths of a dollar."""


GRAPH = {
    "1": {
        "class_type": "CheckpointLoaderSimple",
        "inputs": {"ckpt_name": "sd_xl_base_1.0.safetensors"},
    },
    "2": {"class_type": "CLIPTextEncode", "inputs": {"text": "a cat", "clip": ["1", 1]}},
    "3": {"class_type": "CLIPTextEncode", "inputs": {"text": "", "clip": ["1", 1]}},
    "4": {
        "class_type": "EmptyLatentImage",
        "inputs": {"width": 1280, "height": 720, "batch_size": 1},
    },
    "5": {
        "class_type": "KSampler",
        "inputs": {
            "seed": 7,
            "steps": 20,
            "cfg": 7.0,
            "sampler_name": "euler",
            "scheduler": "normal",
            "denoise": 1.0,
            "model": ["1", 0],
            "positive": ["2", 0],
            "negative": ["3", 0],
            "latent_image": ["4", 0],
        },
    },
    "6": {"class_type": "VAEDecode", "inputs": {"samples": ["5", 0], "vae": ["1", 2]}},
    "7": {
        "class_type": "SaveImage",
        "inputs": {"filename_prefix": "gateway/sdxl", "images": ["6", 0]},
    },
}
DRAWN = {
    "j": {
        "outputs": {"7": {"images": [{"filename": "a 1.png", "subfolder": "", "type": "output"}]}},
        "status": {"status_str": "success", "completed": True, "messages": []},
    }
}
CASES = (
    Case(
        "stability-ai",
        "core",
        always({"image": CODED, "finish_reason": "SUCCESS", "seed": 7}),
        ("/v2beta/stable-image/generate/core",),
        {"prompt": "a cat", "aspect_ratio": "16:9", "seed": "7"},
        (BYTES,),
        more={"seed": 7, "style": "vivid"},
        lost="style",
        headers={**BEARER, "accept": "application/json"},
        cost=30_000,
    ),
    Case(
        "stability-ai",
        "sd3.5-large",
        always({"image": CODED, "finish_reason": "SUCCESS"}),
        ("/v2beta/stable-image/generate/sd3",),
        {"prompt": "a cat", "model": "sd3.5-large", "aspect_ratio": "16:9"},
        (BYTES,),
        more={"response_format": "url", "n": 2},
        lost="response_format, n",
        cost=65_000,
    ),
    Case(
        "black-forest-labs",
        "flux-pro-1.1",
        in_turn(
            polling_url,
            {"id": "j", "status": "Pending"},
            {"id": "j", "status": "Ready", "result": {"sample": URL}},
        ),
        ("/flux-pro-1.1", "/get_result?id=j", "/get_result?id=j"),
        {"prompt": "a cat", "width": 1280, "height": 720, "output_format": "png"},
        (AT,),
        more={"output_format": "png", "quality": "high"},
        lost="quality",
        headers={"x-key": KEY},
        cost=40_000,
    ),
    Case(
        "black-forest-labs",
        "flux-kontext-pro",
        in_turn(polling_url, {"id": "j", "status": "Ready", "result": {"sample": URL}}),
        ("/flux-kontext-pro", "/get_result?id=j"),
        {"prompt": "a cat", "aspect_ratio": "16:9", "input_image": CODED},
        (AT,),
        more={"input_image": CODED},
        headers={"x-key": KEY},
    ),
    Case(
        "fal-ai",
        "fal-ai/flux/dev",
        always({"images": [{"url": URL, "content_type": "image/png"}, {"url": URL}], "seed": 7}),
        ("/fal-ai/flux/dev",),
        {
            "prompt": "a cat",
            "image_size": {"width": 1280, "height": 720},
            "num_images": 2,
            "guidance_scale": 3.5,
        },
        (AT, AT),
        more={"n": 2, "guidance_scale": 3.5, "style": "vivid"},
        lost="style",
        headers={"authorization": f"Key {KEY}"},
    ),
    Case(
        "fal-ai",
        "fal-ai/flux/schnell",
        always({"images": [{"url": f"data:image/png;base64,{CODED}"}]}),
        ("/fal-ai/flux/schnell",),
        {"prompt": "a cat", "image_size": {"width": 1280, "height": 720}, "sync_mode": True},
        (BYTES,),
        more={"response_format": "b64_json"},
        headers={"authorization": f"Key {KEY}"},
    ),
    Case(
        "runwayml",
        "gen4_image",
        in_turn(
            {"id": "j"},
            {"id": "j", "status": "THROTTLED"},
            {"id": "j", "status": "RUNNING", "progress": 0.5},
            {"id": "j", "status": "SUCCEEDED", "output": [URL]},
        ),
        ("/text_to_image", "/tasks/j", "/tasks/j", "/tasks/j"),
        {"model": "gen4_image", "promptText": "a cat", "ratio": "1280:720", "seed": 7},
        (AT,),
        more={"seed": 7},
        headers={**BEARER, "x-runway-version": "2024-11-06"},
        cost=80_000,
    ),
    Case(
        "nanobanana",
        "nanobanana-flash",
        in_turn(
            {"code": 200, "msg": "success", "data": {"taskId": "j"}},
            {"code": 200, "msg": "success", "data": {"taskId": "j", "successFlag": 0}},
            {
                "code": 200,
                "msg": "success",
                "data": {"taskId": "j", "successFlag": 1, "response": {"resultImageUrl": URL}},
            },
        ),
        ("/generate", "/record-info?taskId=j", "/record-info?taskId=j"),
        {
            "prompt": "a cat",
            "type": "TEXTTOIAMGE",
            "numImages": 1,
            "image_size": "16:9",
            "callBackUrl": "https://callback.invalid/",
        },
        (AT,),
        more={"resolution": "2K"},
        lost="resolution",
    ),
    Case(
        "nanobanana",
        "nanobanana-pro",
        in_turn(
            {"code": 200, "data": {"taskId": "j"}},
            {"code": 200, "data": {"successFlag": 1, "response": {"resultImageUrl": URL}}},
        ),
        ("/generate-pro", "/record-info?taskId=j"),
        {
            "prompt": "a cat",
            "resolution": "2K",
            "aspectRatio": "16:9",
            "callBackUrl": "https://callback.invalid/",
        },
        (AT,),
        more={"resolution": "2K"},
    ),
    Case(
        "recraft",
        "recraftv3",
        always({"created": 1, "credits": 40, "data": [AT]}),
        ("/images/generations",),
        {"prompt": "a cat", "size": "1280x720", "model": "recraftv3", "substyle": "pastel"},
        (AT,),
        more={"substyle": "pastel"},
        cost=40_000,
    ),
    Case(
        "cloudflare-ai",
        "@cf/black-forest-labs/flux-1-schnell",
        always({"result": {"image": CODED}, "success": True, "errors": [], "messages": []}),
        ("/ai/run/@cf/black-forest-labs/flux-1-schnell",),
        {"prompt": "a cat", "width": 1280, "height": 720, "steps": 4},
        (BYTES,),
        more={"steps": 4, "user": "me"},
        lost="user",
    ),
    Case(
        "cloudflare-ai",
        "@cf/black-forest-labs/flux-2-dev",
        always({"result": {"image": CODED}, "success": True}),
        ("/ai/run/@cf/black-forest-labs/flux-2-dev",),
        {"prompt": "a cat", "width": "1280", "height": "720"},
        (BYTES,),
    ),
    Case(
        "cloudflare-ai",
        "@cf/stabilityai/stable-diffusion-xl-base-1.0",
        in_turn(PNG),
        ("/ai/run/@cf/stabilityai/stable-diffusion-xl-base-1.0",),
        {"prompt": "a cat", "width": 1280, "height": 720, "negative_prompt": "dogs"},
        (BYTES,),
        more={"negative_prompt": "dogs"},
    ),
    Case(
        "sdwebui",
        "sdxl-base-1.0",
        always({"images": [CODED, CODED], "parameters": {}, "info": "{}"}),
        ("/sdapi/v1/txt2img",),
        {
            "prompt": "a cat",
            "batch_size": 2,
            "width": 1280,
            "height": 720,
            "override_settings": {"sd_model_checkpoint": "sdxl-base-1.0"},
            "steps": 9,
        },
        (BYTES, BYTES),
        more={"n": 2, "steps": 9, "background": "opaque"},
        lost="background",
        headers={},
        cost=0,
    ),
    Case(
        "comfyui",
        "sdxl",
        in_turn({"prompt_id": "j", "number": 1, "node_errors": {}}, {}, DRAWN, PNG),
        (
            "/prompt",
            "/history/j",
            "/history/j",
            "/view?filename=a+1.png&subfolder=&type=output",
        ),
        {"prompt": GRAPH},
        (BYTES,),
        more={"seed": 7, "quality": "high"},
        lost="quality",
        headers={},
        cost=0,
    ),
    Case(
        "nebius",
        "black-forest-labs/flux-schnell",
        always({"data": [{"b64_json": CODED, "url": None}], "id": "x"}),
        ("/images/generations",),
        {
            "model": "black-forest-labs/flux-schnell",
            "prompt": "a cat",
            "width": 1280,
            "height": 720,
            "response_format": "b64_json",
            "response_extension": "png",
            "num_inference_steps": 4,
        },
        (BYTES,),
        more={
            "response_format": "b64_json",
            "output_format": "png",
            "num_inference_steps": 4,
            "style": "vivid",
        },
        lost="style",
    ),
    Case(
        "siliconflow",
        "Kwai-Kolors/Kolors",
        always({"images": [AT, AT], "timings": {"inference": 1}, "seed": 7}),
        ("/images/generations",),
        {
            "model": "Kwai-Kolors/Kolors",
            "prompt": "a cat",
            "image_size": "1280x720",
            "batch_size": 2,
            "seed": 7,
        },
        (AT, AT),
        more={"n": 2, "seed": 7, "quality": "high"},
        lost="quality",
    ),
    Case(
        "vercel-ai-gateway",
        "google/imagen-4.0-generate-001",
        always({"created": 1, "data": [BYTES]}),
        ("/images/generations",),
        {
            "model": "google/imagen-4.0-generate-001",
            "prompt": "a cat",
            "size": "1280x720",
            "providerOptions": {},
        },
        (BYTES,),
        more={"providerOptions": {}},
    ),
    Case(
        "orcarouter",
        "gpt-image-1",
        always({"created": 1, "data": [BYTES], "usage": {"input_tokens": 5, "output_tokens": 9}}),
        ("/images/generations",),
        {"model": "gpt-image-1", "prompt": "a cat", "size": "1280x720"},
        (BYTES,),
    ),
)


def sent_to(received: ReceivedRequest) -> Any:
    """The members of a body, or the fields of a form as a mail reader finds them."""
    kind = received.headers["content-type"]
    if not kind.startswith("multipart/"):
        return msgspec.json.decode(received.body)
    mail = message_from_bytes(b"content-type: %b\r\n\r\n%b" % (kind.encode(), received.body))
    return {
        part.get_param("name", header="content-disposition"): part.get_payload()
        for part in mail.get_payload()  # type: ignore[union-attr]
    }


def hurried(provider: str) -> ProviderSpec:
    """A vendor under another name, whose jobs are looked at more often."""
    module = import_module(f"gateway_provider_{provider.replace('-', '_')}")
    [spec] = module.register_providers()
    [service] = spec.services
    service = replace(service, adapter=replace(service.adapter, interval=INTERVAL))
    quick: ProviderSpec = replace(
        spec,
        id=f"quick-{provider}",
        aliases=(),
        environment=(),
        environment_data={},
        services=(service,),
    )
    return quick


JOBS = ("black-forest-labs", "runwayml", "nanobanana", "comfyui")


def serve(connected: Any, provider: str, answers: Answers) -> tuple[Served, str]:
    """A gateway with one vendor connected, and the vendor's name there."""
    if provider not in JOBS:
        return connected(answers, provider), provider

    def specs(vendor: FakeVendor) -> list[ProviderSpec]:
        return [hurried(provider)]

    return connected(answers, f"quick-{provider}", specs=specs), f"quick-{provider}"


def paint(here: Served, model: str, **more: Any) -> httpx2.Response:
    members = {"model": model, "prompt": "a cat", "size": "1280x720", **more}
    return httpx2.post(f"{here.url}/v1/images/generations", json=members)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.provider}-{case.model}")
def test_a_picture_is_made(connected: Any, case: Case) -> None:
    here, name = serve(connected, case.provider, case.answers)

    got = paint(here, f"{name}/{case.model}", **case.more)

    received = here.vendors["vendor"].received
    first = received[0]
    # Models that are run by their name are beside the vendor's ``/v1``.
    assert [each.target.removeprefix("/v1") for each in received] == [
        path.removeprefix("/ai") for path in case.paths
    ]
    assert sent_to(first) == case.sent
    assert {n: first.headers.get(n) for n in case.headers} == case.headers
    assert ("authorization" in first.headers) == ("authorization" in case.headers)
    assert (got.status_code, got.json()["data"]) == (200, list(case.shown))
    assert got.headers.get("x-gateway-dropped", "") == case.lost
    [row] = here.rows()
    units = "/".join(("images/1280x720", *filter(None, [case.more.get("quality")])))
    assert row.units == {units: len(case.shown)}
    if case.cost is not None:
        assert row.cost == case.cost


FAILURES = (
    ("stability-ai", "core", say({"id": "x", "errors": ["bad seed"], "name": "x"}, 400), 400),
    ("stability-ai", "core", say({"image": "", "finish_reason": "CONTENT_FILTERED"}), 502),
    ("black-forest-labs", "flux-dev", say({"id": "j", "status": "Request Moderated"}), 502),
    ("fal-ai", "fal-ai/flux/dev", say({"detail": [{"msg": "bad prompt"}]}, 422), 422),
    ("fal-ai", "fal-ai/flux/dev", say({"images": []}), 502),
    ("runwayml", "gen4_image", say({"id": "j", "status": "FAILED", "failure": "no"}), 502),
    ("runwayml", "gen4_image", say({"error": "bad ratio"}, 400), 400),
    ("nanobanana", "nanobanana-pro", say({"code": 402, "msg": "no credits", "data": None}), 402),
    (
        "nanobanana",
        "nanobanana-pro",
        say({"code": 200, "data": {"successFlag": 3, "errorMessage": "no"}}),
        502,
    ),
    (
        "comfyui",
        "sdxl",
        say(
            {
                "j": {
                    "outputs": {},
                    "status": {
                        "status_str": "error",
                        "messages": [["execution_error", {"exception_message": "no file"}]],
                    },
                }
            }
        ),
        502,
    ),
    ("comfyui", "sdxl", say({"error": {"message": "bad graph"}, "node_errors": {}}, 400), 400),
    (
        "cloudflare-ai",
        "@cf/black-forest-labs/flux-1-schnell",
        say({"success": False, "result": {}, "errors": [{"code": 1, "message": "no"}]}),
        502,
    ),
    (
        "sdwebui",
        "sdxl-base-1.0",
        say({"error": "OOM", "detail": "", "errors": "no memory"}, 500),
        500,
    ),
    ("recraft", "recraftv3", say({"code": "invalid", "message": "bad style"}, 400), 400),
    ("siliconflow", "Kwai-Kolors/Kolors", say({"code": 20012, "message": "none"}, 400), 400),
)


@pytest.mark.parametrize(("provider", "model", "answer", "status"), FAILURES)
def test_a_failure_reaches_the_client(
    connected: Any, provider: str, model: str, answer: MockResponse, status: int
) -> None:
    here, name = serve(connected, provider, lambda received: answer)

    got = paint(here, f"{name}/{model}")

    assert got.status_code == status
    assert got.json()["error"]["message"]
    assert here.rows()[0].units is None


@pytest.mark.parametrize("size", ["large", "0x9", "12x", "1x2x3", 7])
def test_a_size_that_is_none_is_refused(connected: Any, size: Any) -> None:
    here, name = serve(connected, "stability-ai", always({}))

    got = paint(here, f"{name}/core", size=size)

    assert (got.status_code, here.vendors["vendor"].received) == (400, [])


def test_a_model_is_no_way_to_another_path(connected: Any) -> None:
    here, name = serve(connected, "fal-ai", always({"images": [AT]}))

    got = paint(here, f"{name}/fal-ai/../secret")

    assert (got.status_code, here.vendors["vendor"].received) == (400, [])


def test_a_result_is_fetched_from_public_addresses_alone(connected: Any) -> None:
    def local(received: ReceivedRequest) -> dict[str, Any]:
        sample = f"http://{received.headers['host']}/v1/secret"
        return {"id": "j", "status": "Ready", "result": {"sample": sample}}

    here, name = serve(connected, "black-forest-labs", in_turn(polling_url, local))

    got = paint(here, f"{name}/flux-dev", response_format="b64_json")

    assert got.status_code >= 400
    assert [a.path for a in here.vendors["vendor"].received] == ["/v1/flux-dev", "/v1/get_result"]


def test_an_account_of_workers_has_an_id(connected: Any) -> None:
    from gateway_provider_cloudflare_ai import CLOUDFLARE, address

    from gateway_core import Credential, Target, UpstreamError

    target = Target(CLOUDFLARE, CLOUDFLARE.models[0])
    account = Credential(connection_id="c", data={"accountId": "abc123"})

    api = "https://api.cloudflare.com/client/v4/accounts/abc123/ai"
    assert address(target, account, "/chat/completions") == f"{api}/v1/chat/completions"
    assert address(target, account, "/run/@cf/x/y") == f"{api}/run/@cf/x/y"
    for data in ({}, {"accountId": "../x"}):
        with pytest.raises(UpstreamError):
            address(target, Credential(connection_id="c", data=data), "/run/x")


def test_the_completions_sdk_paints(connected: Any) -> None:
    here, name = serve(connected, "stability-ai", always({"image": CODED}))

    with openai.OpenAI(base_url=f"{here.url}/v1", api_key="none", max_retries=0) as client:
        made = client.images.generate(model=f"{name}/core", prompt="a cat", size="1024x1024")

    assert made.data is not None
    assert made.data[0].b64_json == CODED


SUBMITTED = {"id": "t-1", "task_id": "t-1", "model": "kling/kling-v3-omni", "progress": 0}


def film(here: Served, **more: Any) -> httpx2.Response:
    members = {"model": "orcarouter/kling/kling-v3-omni", "prompt": "a cat", **more}
    return httpx2.post(f"{here.url}/v1/videos/generations", json=members)


def test_a_film_is_submitted(connected: Any) -> None:
    here: Served = connected(always(SUBMITTED), "orcarouter")

    got = film(here, duration=5, aspect_ratio="16:9", image={"url": URL}, resolution="720p")

    [received] = here.vendors["vendor"].received
    assert (received.method, received.path) == ("POST", "/v1/video/generations")
    assert sent_to(received) == {
        "model": "kling/kling-v3-omni",
        "prompt": "a cat",
        "image": URL,
        "duration": 5,
        "metadata": {"aspect_ratio": "16:9"},
    }
    assert got.json() == {"request_id": "t-1", "status": "pending"}
    assert got.headers["x-gateway-dropped"] == "resolution"
    assert here.rows()[0].units == {"videos": 1}


@pytest.mark.parametrize(
    ("job", "shown"),
    [
        ({"status": "SUBMITTED"}, {"status": "pending"}),
        ({"status": "IN_PROGRESS", "progress": "40%"}, {"status": "processing", "progress": "40%"}),
        ({"status": "SUCCESS", "result_url": URL}, {"status": "done", "video": AT}),
        (
            {"status": "FAILURE", "fail_reason": "moderated"},
            {"status": "failed", "error": {"message": "moderated"}},
        ),
    ],
)
@pytest.mark.parametrize("is_wrapped", [True, False])
def test_a_film_is_asked_for(connected: Any, job: Any, shown: Any, is_wrapped: bool) -> None:
    whole = {"task_id": "t-1", **job}
    here: Served = connected(
        always({"code": "success", "data": whole} if is_wrapped else whole), "orcarouter"
    )

    got = httpx2.get(f"{here.url}/v1/videos/t-1")

    [received] = here.vendors["vendor"].received
    assert (received.method, received.path) == ("GET", "/v1/video/generations/t-1")
    assert got.json() == {"request_id": "t-1", **shown}


def test_a_film_that_is_refused(connected: Any) -> None:
    refusal = say({"error": {"message": "no such model", "type": "invalid_request_error"}}, 400)
    here: Served = connected(lambda received: refusal, "orcarouter")

    got = film(here)

    assert (got.status_code, got.json()["error"]["message"]) == (400, "no such model")
