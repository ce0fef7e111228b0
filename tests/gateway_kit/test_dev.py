"""A plugin that is served for its author: tried, edited, broken, mended and stopped, for real."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil  # type: ignore[import-untyped]
import pytest
from gateway_kit.dev.messages import ChildOptions, encode
from gateway_kit.dev.vendors import STAND_IN, build_vendor, stand_ins
from gateway_kit.installed_formats import build_registry, format_plugins
from gateway_kit.mock_vendor import ReceivedRequest
from gateway_kit.scaffold.description import PluginDescription
from gateway_kit.scaffold.rendering import files_of
from gateway_kit.scaffold.writing import write

COMMAND = Path(sys.executable).parent / "model-gateway"
PATIENCE = 20.0
"""Seconds that any one thing may take on a busy machine."""
EXTENSION = '''"""Acme, which looks on."""

from gateway_core import hookimpl


@hookimpl
def register_interceptors(): return []
'''
WITHOUT_FORMATS = """
import sys

class Lacking:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("gateway_format_"):
            raise ImportError(name)

sys.meta_path.insert(0, Lacking())
from gateway_kit.dev.child import main
main()
"""
ASKED = {"messages": [{"role": "user", "content": "Hello"}]}


class Author:
    """Sees what the command prints, and asks the gateway that it serves."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.printed = ""
        self._more = threading.Condition()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def sees(self, text: str, times: int = 1) -> str:
        """Wait until it is printed so often."""
        with self._more:
            seen = self._more.wait_for(lambda: self.printed.count(text) >= times, PATIENCE)
            assert seen, self.printed
            return self.printed

    @property
    def url(self) -> str:
        return self.sees("is served on ").partition("is served on ")[2].partition(";")[0]

    def asks(self, model: str) -> Any:
        with httpx2.Client(trust_env=False, timeout=PATIENCE) as http:
            answer = http.post(f"{self.url}/v1/chat/completions", json={**ASKED, "model": model})
            return answer.json()

    def lists(self) -> set[str]:
        """The models as clients see them."""
        with httpx2.Client(trust_env=False, timeout=PATIENCE) as http:
            return {each["id"] for each in http.get(f"{self.url}/v1/models").json()["data"]}

    def stops(self, name: signal.Signals = signal.SIGINT) -> int:
        self.process.send_signal(name)
        code = self.process.wait(PATIENCE)
        self._reading.join(PATIENCE)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._more:
                self.printed += line
                self._more.notify_all()


@contextmanager
def serving(data_dir: Path, *arguments: str) -> Iterator[Author]:
    variables = {**os.environ, "DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [COMMAND, "plugins", "dev", *arguments],
        env={**variables, "TMPDIR": str(data_dir)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    author = Author(process)
    try:
        yield author
    finally:
        if process.poll() is None:
            author.stops(signal.SIGTERM)
        assert process.stdout is not None
        process.stdout.close()


def child_of(author: Author) -> psutil.Process:
    (child,) = psutil.Process(author.process.pid).children()
    return child


def has_ended(process: psutil.Process) -> bool:
    """Whether it ends before patience does; one that nobody has buried yet counts."""
    for _ in range(int(PATIENCE * 10)):
        try:
            process.wait(0.1)
        except psutil.TimeoutExpired:
            if process.status() != psutil.STATUS_ZOMBIE:
                continue
        return True
    return False


def written(home: Path, kind: str, name: str, *, is_file: bool = False) -> Path:
    order = PluginDescription(kind=kind, name=name, is_file=is_file)
    write(home if is_file else home / order.place, files_of(order))
    return home / order.place


def test_an_author_edits_breaks_and_mends_a_plugin_while_it_is_served(tmp_path: Path) -> None:
    place = written(tmp_path, "provider", "acme-dev")
    source = place / "gateway_provider_acme_dev" / "__init__.py"
    sound = source.read_text()

    with serving(tmp_path, str(place)) as author:
        answer = author.asks("acme-dev/acme-dev-large")
        assert answer["choices"][0]["message"]["content"] == "Grüße, 世界 🌍🏽!"
        author.sees("POST https://api.acme-dev.example/v1/chat/completions (acme-dev-large): 200")

        source.write_text(sound.replace("acme-dev-small", "acme-dev-tiny"))
        author.sees("is served on", 2)
        assert "acme-dev/acme-dev-tiny" in author.lists()

        source.write_text(sound + "\ndef (")
        author.sees("SyntaxError")
        author.sees("The plugin as it was is still served")
        assert "acme-dev/acme-dev-tiny" in author.lists()

        source.write_text(sound)
        author.sees("is served on", 3)
        assert "acme-dev/acme-dev-small" in author.lists()

        child = child_of(author)
        assert author.stops() == 0
        assert "Stopped." in author.printed
        assert has_ended(child)
    assert list(tmp_path.glob("plugins-*")) == []


def test_a_single_file_that_is_broken_from_the_start_is_served_once_it_is_mended(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, "extension", "watch-dev", is_file=True)
    sound = file.read_text()
    file.write_text("import nothing_of_this_name\n" + sound)

    with serving(tmp_path, str(file)) as author:
        author.sees("Save the source again")
        assert "nothing_of_this_name" in author.printed
        file.write_text("import os\nos._exit(7)\n")
        author.sees("The plugin has ended its process, with code 7.")
        file.write_text(sound)

        answer = author.asks("mock/model-1")

        assert answer["choices"][0]["finish_reason"] == "stop"


def test_an_extension_is_no_more_trusted_than_at_an_operators(tmp_path: Path) -> None:
    file = written(tmp_path, "extension", "watch-dev", is_file=True)
    file.write_text(file.read_text().replace("host.folder /", "host.core and host.folder /"))

    with serving(tmp_path, str(file)) as author:
        author.sees("is not trusted")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
def test_a_terminal_that_is_closed_leaves_nothing_behind(tmp_path: Path) -> None:
    place = written(tmp_path, "provider", "acme-closed", is_file=True)

    with serving(tmp_path, str(place)) as author:
        assert author.url
        assert list(tmp_path.glob("plugins-*")) != []

        author.stops(signal.SIGHUP)

    assert list(tmp_path.glob("plugins-*")) == []


def test_an_extension_may_be_called_like_the_vendor_that_is_made_up(tmp_path: Path) -> None:
    file = written(tmp_path, "extension", STAND_IN, is_file=True)

    with serving(tmp_path, str(file)) as author:
        answer = author.asks("mock/model-1")

        assert answer["choices"][0]["finish_reason"] == "stop"
        assert "is not loaded" not in author.printed


def test_a_gateway_whose_parent_is_gone_ends(tmp_path: Path) -> None:
    place = written(tmp_path, "provider", "acme-gone", is_file=True)

    with serving(tmp_path, str(place)) as author:
        assert author.url
        child = child_of(author)
        author.process.kill()

        assert has_ended(child)


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (("nobody-knows-it",), "There is no plugin, module, file or folder 'nobody-knows-it'"),
        (("groq", "--fault", "boredom"), "there is no fault 'boredom'"),
        (("groq", "--says", "nothing"), "'nothing' is none of text"),
        (("groq", "--format", "nope"), "'nope' is none of"),
    ],
)
def test_a_wrong_wish_is_told_at_once(
    tmp_path: Path, arguments: tuple[str, ...], reported: str
) -> None:
    from click.testing import CliRunner
    from gateway_kit.dev.command import dev_command

    from gateway_core.config.environment import from_environ

    environment = from_environ({"DATA_DIR": str(tmp_path)})
    result = CliRunner().invoke(dev_command, arguments, obj=environment)

    assert result.exit_code != 0
    assert reported in result.output


def test_a_vendor_is_made_up_for_a_plugin_that_brings_none() -> None:
    registry = build_registry(format_plugins())

    made = stand_ins("format-claude", registry, None)

    assert build_registry({**format_plugins(), **made}).providers[STAND_IN].format == "claude"


def test_a_vendor_of_its_own_is_what_a_provider_is_called_with() -> None:
    import gateway_provider_groq
    from gateway_provider_groq import GROQ

    registry = build_registry({**format_plugins(), "groq": gateway_provider_groq})

    assert stand_ins("groq", registry, None) == {}
    assert GROQ.id in registry.providers


def test_the_vendor_answers_in_the_only_format_that_it_is_asked_in(tmp_path: Path) -> None:
    import gateway_provider_perplexity

    plugins = {**format_plugins(), "perplexity": gateway_provider_perplexity}
    registry = build_registry(plugins)
    orders = ChildOptions(target="x", plugins="", data_dir=str(tmp_path), port=1)
    vendor = build_vendor(orders, registry, [registry.providers["perplexity"]], {})

    produced = vendor.script(ReceivedRequest("POST", "/an/odd/path", {}, b'{"model":"m"}'))

    assert b'"choices"' in produced.pieces[0]


def test_without_a_wire_format_there_is_no_way_in(tmp_path: Path) -> None:
    place = tmp_path / "acme.py"
    place.write_text(EXTENSION)
    orders = ChildOptions(
        target=str(place), plugins="none", data_dir=str(tmp_path / "data"), port=0
    )
    command = [sys.executable, "-c", WITHOUT_FORMATS, encode(orders).decode()]

    reported = subprocess.run(command, input="", capture_output=True, text=True, timeout=60)

    assert reported.returncode == 1
    assert (
        "No wire format is installed to ask acme in: pip install model-gateway-format-openai"
        in (reported.stdout)
    )
    assert "Traceback" not in reported.stderr
