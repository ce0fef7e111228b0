"""A start with many bad plugins: each takes its time limit, and all of them at once."""

import json
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from drop_ins import folder_in, vendor
from gateway_process import running

LIMIT = 0.6
"""Seconds that a plugin may take."""
LOADED = ("good", "echo", "format-openai", "dashboard")
WAITS = "__import__('threading').Event().wait()"
HEAD = '"""Bad."""\n\nfrom gateway_core import hookimpl\n\nGATEWAY_PROTOCOL = 1\n'
KINDS = {
    "import": f"{HEAD}{WAITS}\n",
    "providers": f"{HEAD}\n\n@hookimpl\ndef register_providers():\n    {WAITS}\n",
    "formats": f"{HEAD}\n\n@hookimpl\ndef register_formats():\n    {WAITS}\n",
    "interceptors": f"{HEAD}\n\n@hookimpl\ndef register_interceptors():\n    {WAITS}\n",
    "filters": f"{HEAD}\n\n@hookimpl\ndef register_answer_filters():\n    {WAITS}\n",
    "settings": f"{HEAD}\n\n@hookimpl\ndef register_settings():\n    {WAITS}\n",
    "lifespans": f"{HEAD}\n\n@hookimpl\ndef lifespan():\n    {WAITS}\n",
}
"""What hangs, as source."""
COUNTS = {
    "import": 7,
    "providers": 5,
    "formats": 4,
    "interceptors": 4,
    "filters": 3,
    "settings": 3,
    "lifespans": 3,
}


def bad_plugins() -> Mapping[str, str]:
    return {
        f"bad_{kind}_{number}": KINDS[kind]
        for kind, count in COUNTS.items()
        for number in range(count)
    }


def start_with(folder: Path, plugins: Mapping[str, str]) -> tuple[float, set[str]]:
    """Seconds until it serves, and the plugins that are reported as failed."""
    folder_in(folder, good=vendor("good"), **plugins)
    names = {name: name.replace("_", "-") for name in plugins}.values()
    # Only the limit is another than at an operator's, and what is loaded besides.
    variables = {
        "GATEWAY_PLUGIN_TIMEOUT_MS": str(round(LIMIT * 1000)),
        "GATEWAY_LOAD_PLUGINS": ",".join([*LOADED, *names]),
        "GATEWAY_API_KEY_REQUIRED": "false",
    }
    started = time.monotonic()
    with (folder / "log").open("w") as log, running(folder, variables=variables, log=log) as here:
        with urllib.request.urlopen(f"{here.url}/api/health", timeout=10) as answer:
            assert json.load(answer)
        taken = time.monotonic() - started
    lines = (folder / "log").read_text()
    return taken, {name for name in names if f"plugin {name}: " in lines}


def test_a_gateway_with_29_bad_plugins_starts_as_they_hang_side_by_side(tmp_path: Path) -> None:
    bad = bad_plugins()

    alone, _ = start_with(tmp_path / "alone", {})
    taken, named = start_with(tmp_path / "all", bad)

    print(f"{len(bad)} bad plugins: {taken:.1f} s, none: {alone:.1f} s")
    assert len(bad) == 29
    assert len(named) == len(bad)
    # One after the other they would take 29 limits; side by side one for each hook.
    assert taken - alone < len(bad) * LIMIT / 2
