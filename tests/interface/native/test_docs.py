"""The page on native calls: its commands are run, and its table is what the plugins declare."""

import os
import re
import subprocess
from pathlib import Path

from fake_vendor import MockResponse, ReceivedRequest
from native_gateway import Native

PAGE = (Path(__file__).parents[3] / "docs/native.md").read_text("utf-8")
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| ([\w-]+(?:, [\w-]+)*) \| `(\w+) (/\S+)` \| (\S+) \| (.*) \|$", re.MULTILINE)


def say(received: ReceivedRequest) -> MockResponse:
    return MockResponse((b'{"id": "resp_1", "status": "queued"}',))


def test_the_commands_of_the_page_work_as_they_are_written(native: Native, tmp_path: Path) -> None:
    gateway = native(say)
    (tmp_path / "notes.txt").write_text("hello")
    commands = [line for block in BLOCK.findall(PAGE) for line in block.splitlines()]

    for command in commands:
        here = command.replace("http://localhost:20128", gateway.here.url)
        fails = here.replace("curl ", "/usr/bin/curl -sS --fail-with-body ", 1)
        done = subprocess.run(
            ["bash", "-c", fails], cwd=tmp_path, env=os.environ, capture_output=True, timeout=60
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)

    assert len(gateway.received) == len(commands) == 6
    assert gateway.received[4].target == "/v1/responses/resp_1"


def test_the_table_of_the_page_is_what_the_plugins_declare(native: Native) -> None:
    gateway = native()
    providers = gateway.here.gateway.core.snapshot.registry.providers
    declared = {
        (spec.id, each.method, each.path, each.kind or "any", marks)
        for spec in providers.values()
        for each in spec.native
        for marks in [
            ", ".join(
                word
                for word, has in (
                    ("creates", each.creates),
                    ("pinned", each.pinned),
                    ("polled", each.polls),
                )
                if has
            )
        ]
    }
    written = {
        (provider, method, path, kind, marks)
        for listed, method, path, kind, marks in ROW.findall(PAGE)
        for provider in listed.split(", ")
    }

    assert written == declared
