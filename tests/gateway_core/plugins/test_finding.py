"""Plugins that misbehave, really installed.

They are packages as an installer leaves them: a module beside a ``dist-info``
folder with its metadata, file list and entry points. They stand in a site
directory of their own and are loaded by a fresh interpreter.
"""

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway_core.plugins import MOST_ANSWERS

HEAD = "from gateway_core import ProviderSpec, WireFormat, hookimpl\n"
HOOK = HEAD + "@hookimpl\ndef register_providers():\n"
SPEC = 'ProviderSpec(id="{0}", name="{0}", format="quiet")'
FORMAT = """
class Vendor:
    def nothing(self, *given): ...
    write_request = read_reply = stream_reader = read_error = path = relay = nothing

@hookimpl
def register_formats():
    return [WireFormat(id="quiet", dialect="quiet", vendor=Vendor())]
"""
SOURCES = {
    "a-good": HOOK + f"    return [{SPEC.format('first')}]\n",
    "m-good": HOOK + f"    yield {SPEC.format('middle')}\n",
    "z-good": HEAD + FORMAT,
    "raises": "raise RuntimeError('no luck\\ntoday')",
    "is-misspelt": "def broken(:\n",
    "exits": "import sys\nsys.exit(3)",
    "interrupts": "raise KeyboardInterrupt",
    "lacks-a-module": "import no_such_module_anywhere",
    "spins": "while True:\n    pass",
    "sleeps": "import time\ntime.sleep(3600)",
    "wants-sleeper": "import bad_sleeps",
    "has-a-wrong-signature": HEAD + "@hookimpl\ndef register_formats(colour): ...\n",
    "has-an-unknown-hook": HEAD + "@hookimpl\ndef register_colours(): ...\n",
    "forgot-the-mark": "def register_providers(): return []",
    "raises-in-hook": HOOK + "    raise LookupError('nothing here')\n",
    "raises-while-answering": HOOK
    + f"    yield {SPEC.format('half')}\n    raise LookupError('half')\n",
    "exits-in-hook": HOOK + "    raise SystemExit\n",
    "sleeps-in-hook": HOOK + "    import time\n    time.sleep(3600)\n",
    "spins-in-hook": HOOK + "    while True:\n        pass\n",
    "never-stops-answering": HOOK + "    while True:\n        yield 1\n",
    "answers-rubbish": HOOK + "    return [7, None, 'acme']\n",
    "answers-nothing": HOOK + "    pass\n",
    "answers-a-word": HOOK + "    return 'acme'\n",
    "answers-later": HEAD + "@hookimpl\nasync def register_providers(): return []\n",
    "doubles-an-id": HOOK + f"    return [{SPEC.format('first')}]\n",
}
HANGING = {"spins", "sleeps", "wants-sleeper", "sleeps-in-hook", "spins-in-hook"}
FAILURES = {
    "raises": "RuntimeError: no luck today",
    "is-misspelt": "SyntaxError",
    "exits": "sys.exit(3)",
    "interrupts": "KeyboardInterrupt",
    "lacks-a-module": "No module named 'no_such_module_anywhere'",
    "spins": "did not finish within 1 s",
    "sleeps": "did not finish within 1 s",
    "wants-sleeper": "did not finish within 1 s",
    "has-a-wrong-signature": "colour",
    "raises-in-hook": "register_providers failed: LookupError: nothing here",
    "raises-while-answering": "register_providers failed: LookupError: half",
    "exits-in-hook": "sys.exit(None)",
    "sleeps-in-hook": "register_providers failed: did not finish within 0.25 s",
    "spins-in-hook": "register_providers failed: did not finish within 0.25 s",
    "never-stops-answering": f"more than {MOST_ANSWERS} answers",
    "answers-rubbish": "expected a ProviderSpec, got int",
    "answers-nothing": "it returned NoneType where a list is expected",
    "answers-a-word": "it returned str where a list is expected",
    "answers-later": "a hook may not be async",
    "doubles-an-id": "'first' already stands for provider 'first' of plugin a-good",
}
WARNINGS = {
    "has-an-unknown-hook": "there is no hook register_colours",
    "forgot-the-mark": "is @hookimpl missing?",
    "test-damaged": "this package's entry points cannot be read",
    "absent": "on the allow list but not installed",
}
PROGRAM = """
import logging, site, sys, time, msgspec
logging.disable()
site.addsitedir(sys.argv[1])
from gateway_core import plugins
from gateway_core.plugins import registry
names, blocked = (frozenset(word.split()) for word in sys.argv[2:4])
loaded = plugins.load(allowed=names, blocked=blocked, limit=1)
built = registry.build(loaded)
sys.stdout.buffer.write(msgspec.json.encode({
    "plugins": [plugin for plugin in built.plugins if plugin.name in names],
    "problems": built.problems,
    "formats": list(built.formats),
    "providers": list(built.providers),
    "owners": dict(built.provider_plugins),
    "hooked": sorted(name for name, _ in loaded.manager.list_name_plugin()),
    "ended": time.time(),
}))
"""


def install(site: Path, name: str, source: str, entry_points: str | None = None) -> None:
    """Lay a package into a site directory the way an installer does."""
    module = f"bad_{name.replace('-', '_')}"
    info = site / f"{module}-1.2.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(source)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: test-{name}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(entry_points or f"[model_gateway]\n{name} = {module}\n")
    files = (f"{module}.py", f"{info.name}/METADATA", f"{info.name}/entry_points.txt")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))


class Outcome(msgspec.Struct):
    """What the program told, and how long it took to end after it had told."""

    reported: dict[str, Any]
    seconds_to_end: float

    def plugin(self, name: str) -> dict[str, Any]:
        return next(each for each in self.reported["plugins"] if each["name"] == name)

    def problems_of(self, name: str) -> str:
        reported = [each["message"] for each in self.reported["problems"] if each["plugin"] == name]
        return "\n".join(reported)


def run(site: Path, names: Iterable[str], blocked: Iterable[str] = (), seed: int = 1) -> Outcome:
    arguments = [str(site), " ".join(names), " ".join(blocked)]
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        timeout=60,
        env={"PYTHONHASHSEED": str(seed)},
        check=False,
    )
    now = time.time()
    assert ended.returncode == 0, ended.stderr.decode()
    reported = msgspec.json.decode(ended.stdout, type=dict[str, Any])
    return Outcome(reported, now - reported["ended"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for name, source in SOURCES.items():
        install(folder, name, source)
    install(folder, "damaged", "", entry_points="[model_gateway]\nno equals sign\n")
    return folder


@pytest.fixture(scope="module")
def outcome(site: Path) -> Outcome:
    """All of them together, and one that is named but not there."""
    return run(site, [*SOURCES, "absent"])


@pytest.mark.parametrize(("name", "reason"), FAILURES.items(), ids=FAILURES)
def test_a_broken_plugin_is_listed_as_failed_with_its_reason(
    outcome: Outcome, name: str, reason: str
) -> None:
    plugin = outcome.plugin(name)

    assert plugin["state"] == "failed"
    assert reason in plugin["error"]
    assert "\n" not in plugin["error"]
    assert reason in outcome.problems_of(name)


@pytest.mark.parametrize(("name", "warning"), WARNINGS.items(), ids=WARNINGS)
def test_what_looks_wrong_is_a_problem(outcome: Outcome, name: str, warning: str) -> None:
    assert warning in outcome.problems_of(name)


def test_a_plugin_that_only_looks_wrong_is_loaded(outcome: Outcome) -> None:
    assert outcome.plugin("has-an-unknown-hook")["state"] == "loaded"
    assert outcome.plugin("forgot-the-mark")["state"] == "loaded"


def test_good_plugins_work_beside_broken_ones(outcome: Outcome) -> None:
    assert outcome.reported["formats"] == ["quiet"]
    assert outcome.reported["providers"] == ["first", "middle"]
    assert outcome.reported["owners"] == {"first": "a-good", "middle": "m-good"}
    assert {outcome.plugin(f"{x}-good")["state"] for x in "amz"} == {"loaded"}
    assert "".join(outcome.problems_of(f"{x}-good") for x in "amz") == ""


def test_a_plugin_whose_code_failed_keeps_no_hooks(outcome: Outcome) -> None:
    by_code = set(FAILURES) - {"answers-rubbish", "doubles-an-id"}

    assert set(outcome.reported["hooked"]) == {*SOURCES} - by_code


def test_records_tell_where_a_plugin_is_from(outcome: Outcome) -> None:
    plugin = outcome.plugin("m-good")

    assert plugin["distribution"] == "test-m-good"
    assert plugin["version"] == "1.2"
    assert plugin["module"] == "bad_m_good"
    assert 0 < plugin["seconds"] < 1
    assert outcome.plugin("sleeps")["seconds"] >= 1


def test_plugins_are_listed_by_name(outcome: Outcome) -> None:
    assert [plugin["name"] for plugin in outcome.reported["plugins"]] == sorted(SOURCES)


def test_the_process_ends_at_once_though_plugins_still_hang(outcome: Outcome) -> None:
    assert outcome.seconds_to_end < 3


def test_the_order_is_the_same_in_every_process(site: Path, outcome: Outcome) -> None:
    again = run(site, SOURCES, blocked=HANGING, seed=2)

    assert {again.plugin(name)["state"] for name in HANGING} == {"blocked"}
    for reported in ("formats", "providers", "owners"):
        assert again.reported[reported] == outcome.reported[reported]
    assert [p for p in again.reported["problems"] if p["plugin"] not in HANGING] == [
        p for p in outcome.reported["problems"] if p["plugin"] not in {*HANGING, "absent"}
    ]


def test_an_installed_plugin_may_not_take_another_ones_name(tmp_path: Path) -> None:
    install(tmp_path, "a-good", SOURCES["z-good"])
    install(tmp_path, "b-copy", SOURCES["z-good"], "[model_gateway]\na-good = bad_b_copy\n")

    reported = run(tmp_path, ["a-good"]).reported

    assert [(p["distribution"], p["state"]) for p in reported["plugins"]] == [
        ("test-a-good", "loaded"),
        ("test-b-copy", "failed"),
    ]
    assert reported["plugins"][1]["error"] == "its name is taken by test-a-good"


def test_an_earlier_package_of_one_name_hides_a_later_one(tmp_path: Path) -> None:
    program = PROGRAM.replace("names,", "sys.path.insert(0, sys.argv[1] + '/new')\nnames,", 1)
    install(tmp_path, "z-good", SOURCES["z-good"])
    install(tmp_path / "new", "z-good", SOURCES["z-good"])

    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), "z-good", ""],
        capture_output=True,
        timeout=60,
        check=True,
    )

    assert len(msgspec.json.decode(ended.stdout)["plugins"]) == 1
