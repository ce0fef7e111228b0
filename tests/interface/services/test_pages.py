"""Every call on the pages about services, run as it is written: against vendors that answer as
theirs do."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import Served

FOLDER = Path(__file__).parents[3] / "docs" / "services"
PAGES = sorted(FOLDER.glob("*.md"))
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ADDRESS = "http://localhost:20128"
ACCOUNTS = (
    *("openai", "cohere", "elevenlabs", "minimax", "xai", "tavily", "mistral", "opencode-zen"),
)
VECTORS = b'{"object":"list","data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}]}'
ANSWERS = {
    "/embeddings": VECTORS,
    "/rerank": b'{"results":[{"index":0,"relevance_score":0.5}]}',
    "/moderations": b'{"id":"m","results":[{"flagged":false}]}',
    "/images/generations": b'{"created":1,"data":[{"b64_json":"iVBORw0KGgo="}]}',
    "/images/edits": b'{"created":1,"data":[{"b64_json":"iVBORw0KGgo="}]}',
    "/voices": b'{"voices":[{"voice_id":"v-1","name":"Ann","labels":{"language":"en"}}]}',
    "/audio/transcriptions": b'{"text":"hello"}',
    "/audio/translations": b'{"text":"hello"}',
    "/music_generation": b'{"data":{"audio":"00ff","status":2},"base_resp":{"status_code":0}}',
    "/videos/generations": b'{"request_id":"job-1"}',
    "/videos/job-1": b'{"status":"done","video":{"url":"https://v.example/1"}}',
    "/search": b'{"results":[{"title":"Reef","url":"https://example.com/","content":"All"}]}',
    "/extract": b'{"results":[{"url":"https://example.com/","raw_content":"# Reefs"}]}',
    "/ocr": b'{"pages":[{"index":0,"markdown":"# A"}]}',
    "/systemone": b'{"answers":{"umbrella":{"answer":true}}}',
}


def answer(received: ReceivedRequest) -> MockResponse:
    if received.path.endswith("/audio/speech"):
        return MockResponse((b"ID3audio",), content_type="audio/mpeg")
    found = next(body for end, body in ANSWERS.items() if received.path.endswith(end))
    return MockResponse((found,))


def calls(page: Path) -> list[str]:
    """The page's calls, each as a shell command."""
    lines = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    return [line for line in lines.replace("\\\n", " ").splitlines() if line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_calls_of_a_page_work(connected: Any, tmp_path: Path, page: Path) -> None:
    # One account of video jobs, because the page asks for one without naming it.
    accounts = [name for name in ACCOUNTS if name != "minimax" or page.stem == "music"]
    here: Served = connected(answer, accounts=tuple(accounts))
    files = tmp_path / "folder of the shell"
    files.mkdir()
    for name in ("hello.mp3", "dot.png"):
        (files / name).write_bytes(b"ID3audio")

    commands = calls(page)

    assert commands
    for command in commands:
        assert command.startswith("curl ")
        done = subprocess.run(
            [
                "bash",
                "-c",
                command.replace("curl ", "curl -sS --fail-with-body ", 1).replace(
                    ADDRESS, here.url
                ),
            ],
            cwd=files,
            env={**os.environ, "no_proxy": "*"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, command + done.stdout + done.stderr


def test_every_kind_has_a_page() -> None:
    overview = (FOLDER.parent / "services.md").read_text(encoding="utf-8")

    assert {f"services/{page.name}" for page in PAGES} == set(
        re.findall(r"\]\((services/[^)]+)\)", overview)
    )
