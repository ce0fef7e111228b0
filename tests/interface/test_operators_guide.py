"""Every command of the operator's guide, run in order against one gateway."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from gateway_process import COMMAND, running

GUIDE = Path(__file__).parents[2] / "docs" / "operators-guide.md"


def commands() -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line]
    return [shlex.split(line)[1:] for line in lines]


def test_the_commands_of_the_operators_guide_work(tmp_path: Path) -> None:
    with running(tmp_path):
        texts = [
            subprocess.run(
                [COMMAND, *words],
                env={**os.environ, "DATA_DIR": str(tmp_path)},
                capture_output=True,
                text=True,
            )
            for words in commands()
        ]

    assert len(texts) >= 15
    assert not [f"{each.args}: {each.stdout} {each.stderr}" for each in texts if each.returncode]
    assert all(json.loads(each.stdout) is not None for each in texts)


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_a_management_call(words: list[str]) -> None:
    assert words[0] == "api"
    assert words[2].startswith("/api/")
