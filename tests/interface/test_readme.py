"""The README's and the quick start's commands, run as a newcomer would run them."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from gateway_process import COMMAND, running

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```sh\n(curl .*?)```", re.DOTALL)
MANAGEMENT_CALL = re.compile(r"```sh\n\.venv/bin/model-gateway (api .*?)```", re.DOTALL)


def curls(page: str) -> list[str]:
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def gateway(data_dir: Path) -> Iterator[tuple[str, str]]:
    """The address of a started gateway and what it printed."""
    with running(data_dir) as here:
        yield here.url, here.printed


def run(command: str, address: str) -> httpx2.Response:
    """Send the request of a curl command."""
    words = shlex.split(command.replace("\\\n", " "))
    url = next(word for word in words if word.startswith("http"))
    url = re.sub(r"http://127\.0\.0\.1:\d+", address, url)
    fields = [words[n + 1] for n, word in enumerate(words) if word == "-H"]
    headers = dict(field.split(": ", 1) for field in fields)
    body = words[words.index("-d") + 1] if "-d" in words else None
    method = "POST" if body else "GET"
    return httpx2.request(method, url, content=body, headers=headers, trust_env=False, timeout=30)


@pytest.mark.parametrize("number", range(5))
def test_each_command_of_the_readme_is_answered(gateway: tuple[str, str], number: int) -> None:
    answer = run(curls("README.md")[number], gateway[0])

    assert answer.status_code == 200
    assert "Hello" in answer.text


def test_the_readme_has_a_command_for_each_format() -> None:
    assert len(curls("README.md")) == 5


def test_the_first_request_that_is_printed_works(gateway: tuple[str, str]) -> None:
    command = gateway[1].partition("Try it:")[2].strip()

    answer = run(command, gateway[0])

    assert answer.json()["choices"][0]["message"]["content"] == "Hello"


def test_in_a_container_the_message_shows_how_to_create_a_key(tmp_path: Path) -> None:
    variables = {"GATEWAY_MODE": "container", "HOSTNAME": "127.0.0.1"}
    with running(tmp_path, variables=variables) as here:
        written = (
            here.printed.partition("need a key. Make one inside:")[2].strip().partition("\n")[0]
        )
        program, *words = shlex.split(written)
        environment = {**os.environ, "DATA_DIR": str(tmp_path)}
        process = subprocess.run([COMMAND, *words], env=environment, capture_output=True, text=True)

    assert program == "model-gateway"
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout)["key"].startswith("sk-")


def test_the_commands_of_the_quick_start_work(gateway: tuple[str, str], data_dir: Path) -> None:
    text = (ROOT / "docs" / "quick-start.md").read_text(encoding="utf-8")
    codes = [run(command, gateway[0]).status_code for command in curls("docs/quick-start.md")]

    assert codes == [200]
    calls = [shlex.split(call.replace("\\\n", " ")) for call in MANAGEMENT_CALL.findall(text)]
    texts = [
        subprocess.run(
            [COMMAND, *call, "--url", gateway[0]],
            env={**os.environ, "DATA_DIR": str(data_dir)},
            capture_output=True,
            text=True,
        )
        for call in calls
    ]
    assert [(each.returncode, each.stderr) for each in texts] == [(0, "")] * 3
    assert json.loads(texts[0].stdout)["connection"]["provider"] == "anthropic"
    assert json.loads(texts[2].stdout)["key"].startswith("sk-")


def test_plugins_list_shows_every_bundled_plugin_as_loaded(gateway: tuple[str, str]) -> None:
    listed = subprocess.run(
        [COMMAND, "plugins", "list", "--json"], capture_output=True, text=True, check=True
    )

    rows = json.loads(listed.stdout)

    assert not [row for row in rows if row["state"] != "loaded" or row["problems"]]
    assert {"format-openai", "format-claude", "echo", "dashboard"} <= {row["name"] for row in rows}


def test_the_module_is_the_command() -> None:
    process = subprocess.run(
        [sys.executable, "-m", "gateway_core", "version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert process.stdout.startswith("model-gateway ")


def test_doctor_reports_no_problem(tmp_path: Path) -> None:
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "PORT": "0"}
    process = subprocess.run(
        [COMMAND, "doctor", "--json"], capture_output=True, text=True, env=environment
    )

    assert process.returncode == 0, process.stdout
    assert not [f for f in json.loads(process.stdout) if f["state"] == "bad"]


def test_a_second_gateway_on_the_same_data_reports_the_conflict(tmp_path: Path) -> None:
    environment = {**os.environ, "DATA_DIR": str(tmp_path)}
    first = subprocess.Popen(
        [COMMAND, "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert first.stdout is not None
    first.stdout.readline()
    began = time.monotonic()
    second = subprocess.run(
        [COMMAND, "--port", "0"], env=environment, capture_output=True, text=True, timeout=30
    )
    first.terminate()
    first.wait(20)
    first.stdout.close()

    assert second.returncode == 1
    assert "another gateway" in second.stderr.lower() or "in use" in second.stderr.lower()
    assert time.monotonic() - began < 25
