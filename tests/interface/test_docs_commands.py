"""Every call of the gateway that a page prints, run as it is written against a real gateway."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from gateway_process import COMMAND, running

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?:\.venv/bin/)?model-gateway api |curl .*http://127\.0\.0\.1:2012[78]/")
TUTORIAL_PORT = "8123"
"""Of the tutorials' own gateways, which have tests of their own."""
INSIDE = "docker exec gateway "
"""Where a container is running, the command behind this is the same."""
CURL = """#!/bin/bash
exec {curl} -sS --fail-with-body "${{@//http:\\/\\/127.0.0.1:2012[78]/{url}}}"
"""


def calls(page: Path) -> list[str]:
    """The page's calls, each as a shell command."""
    text = page.read_text(encoding="utf-8")
    lines = [line.removeprefix(INSIDE) for block in BLOCK.findall(text) for line in split(block)]
    return [line for line in lines if CALL.match(line) and "..." not in line.split("'")[0]]


def split(block: str) -> list[str]:
    """The commands of a block, of which some have several lines."""
    commands, open_ = [], ""
    for line in block.splitlines():
        open_ += line
        if open_.endswith("\\") or open_.count("'") % 2:
            open_ += "\n"
            continue
        commands.append(open_)
        open_ = ""
    return commands


def switches(page: Path) -> dict[str, str]:
    """The variables that the page sets before it starts a gateway."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    starts = [block for block in blocks if "\nmodel-gateway\n" in block]
    exports = (re.findall(r"\b(GATEWAY_[A-Z_]+)=(\S+)", block) for block in starts)
    return {name: value for each in exports for name, value in each}


WITH_CALLS = [page for page in PAGES if calls(page)]


@pytest.mark.parametrize("page", WITH_CALLS, ids=lambda page: page.name)
def test_the_calls_of_a_page_work_as_they_are_written(page: Path, tmp_path: Path) -> None:
    data, tools, here = tmp_path / "data", tmp_path / "tools", tmp_path / "here"
    for folder in (tools, here):
        folder.mkdir()
    (here / ".venv").symlink_to(COMMAND.parent.parent)
    variables = {"DATA_DIR": str(data)}
    with running(data, variables=switches(page)) as gateway:
        script = tools / "curl"
        script.write_text(CURL.format(curl="/usr/bin/curl", url=gateway.url))
        script.chmod(0o755)
        variables["PATH"] = f"{tools}:{COMMAND.parent}:{os.environ['PATH']}"
        key = new_key(variables)
        failed = {}
        for command in calls(page):
            done = subprocess.run(
                ["bash", "-c", command.replace("THE-KEY", key)],
                cwd=here,
                env={**os.environ, **variables, "GATEWAY_KEY": key},
                capture_output=True,
                text=True,
                timeout=60,
            )
            if done.returncode:
                failed[command] = done.stdout + done.stderr

    assert failed == {}


def new_key(variables: dict[str, str]) -> str:
    done = subprocess.run(
        [COMMAND, "api", "POST", "/api/keys", '{"name": "docs", "machineId": "any"}'],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r'"key": ?"(sk-[^"]+)"', done.stdout)
    assert found is not None, done.stdout
    return found[1]


def test_pages_with_calls_are_found() -> None:
    assert {page.name for page in WITH_CALLS} >= {"README.md", "managing.md", "quick-start.md"}


def test_no_page_calls_the_management_api_without_a_credential() -> None:
    for page in PAGES:
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            for command in split(block):
                is_bare = "curl" in command and re.search(
                    r"127\.0\.0\.1:\d+/api/(?!health)", command
                )
                is_shown = any(each in command for each in ("x-api-key", "x-gateway-cli-token"))
                assert not is_bare or is_shown, f"{page.name}: {command}"
