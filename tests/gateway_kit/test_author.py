"""What an author meets: ten lines of test file, an option, and a pytest that loads nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from seeded_bugs import module_of, write

TEN_LINES = '''"""Sample keeps to what the gateway asks of a provider."""

from gateway_kit import live_provider_cases, provider_cases

test_provider = provider_cases("{module}", thorough=False, every_client=False)
test_live = live_provider_cases("{module}")
'''


def ran(folder: Path, *options: str) -> str:
    """What pytest says at the author's."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    home = Path(__file__).parents[2]
    path = os.pathsep.join([str(folder), str(home)])
    ended = subprocess.run(
        [*command, "-q", "--rootdir", str(folder), str(folder / "test_conformance.py"), *options],
        cwd=folder,
        env={name: os.environ[name] for name in ("PATH", "PYTEST_ADDOPTS")} | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=100,
    )
    return ended.stdout + ended.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def test_ten_lines_give_an_author_every_case(folder: Path) -> None:
    text = TEN_LINES.format(module=module_of("sound"))
    (folder / "test_conformance.py").write_text(text)

    written = ran(folder)

    assert "2 skipped" in written, written
    assert "failed" not in written, written
    assert "warning" not in written, written


def test_a_failure_is_one_sentence_without_a_traceback(folder: Path) -> None:
    text = TEN_LINES.format(module=module_of("key_in_query"))
    (folder / "test_conformance.py").write_text(text)

    written = ran(folder, "-k", "openai-to-openai-whole and key")

    assert "Show the account's key in exactly one header" in written, written
    assert "Traceback" not in written
    assert "suite.py" not in written


def test_without_a_key_nothing_is_asked_live(folder: Path) -> None:
    text = TEN_LINES.format(module=module_of("sound"))
    (folder / "test_conformance.py").write_text(text)

    written = ran(folder, "--live", "-k", "live", "-rs")

    assert "none of SAMPLE_SOUND_KEY is set" in written, written


def test_the_pytest_plugin_loads_nothing() -> None:
    look = "import gateway_kit.plugin, json, sys; print(json.dumps(sorted(sys.modules)))"

    ended = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    loaded = set(json.loads(ended.stdout))
    assert {name for name in loaded if name.startswith("gateway_")} == {
        "gateway_kit",
        "gateway_kit.plugin",
    }
    assert loaded.isdisjoint({"msgspec", "pytest", "asyncio"})
