"""Importing plugins in a fresh process that refuses the network, to see what that does."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.machinery import PathFinder
from typing import Any

_SCRIPT = """
import importlib, importlib.util, json, os, sys, time
# What a plugin prints goes to the error output; the report alone goes to standard output.
report = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
task = json.load(sys.stdin)
sys.path[:0] = [each for each in task["path"] if each not in sys.path]

def refuse(event, args):
    if event.startswith("socket.") and event != "socket.__new__":
        refused.append(event)
        raise PermissionError(f"{event} while a plugin is imported")

import gateway_core.app, gateway_formats, gateway_providers, gateway_formats.fold
from gateway_administration.plugins import manifest
from gateway_kit.hook_calls import call_hook

def load(name):
    if name not in task["files"]:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, task["files"][name])
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

refused = []
sys.addaudithook(refuse)
seen, found = set(sys.modules), {}
for name in task["names"]:
    begun, waited = time.process_time(), time.perf_counter()
    entries, trouble = {}, None
    refused.clear()
    try:
        plugin = load(name)
        taken = time.process_time() - begun
        idle = time.perf_counter() - waited - taken
        for spec in call_hook(plugin, "register_providers"):
            entries[spec.id] = json.loads(manifest.document([spec]))
    except BaseException as error:
        taken, idle, trouble = 0.0, 0.0, repr(error)
    # A plugin may have swallowed what it was refused.
    if trouble is None and refused:
        trouble = f"{refused[0]} while it is imported"
    new = sorted(set(sys.modules) - seen)
    seen.update(new)
    found[name] = {"work": taken, "idle": idle, "trouble": trouble, "new": new, "said": entries}
json.dump(found, report)
"""


@cache
def import_in_process(names: tuple[str, ...]) -> Mapping[str, Any]:
    """What importing each of these did, one after the other in one process."""
    process = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=json.dumps(
            {"names": names, "files": _files(names), "path": ([each for each in sys.path if each])}
        ),
        capture_output=True,
        text=True,
        timeout=120,
    )
    if process.returncode != 0 or not process.stdout:
        last = (process.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        return {name: {**_EMPTY_REPORT, "trouble": f"the process ended: {last}"} for name in names}
    reports: Mapping[str, Any] = json.loads(process.stdout)
    return reports


def _files(names: Iterable[str]) -> dict[str, str]:
    """The files of modules that were loaded from one and cannot be imported by name."""
    reports = {name: sys.modules[name].__spec__ for name in names if name in sys.modules}
    return {
        name: spec.origin
        for name, spec in reports.items()
        if spec is not None and spec.origin and not _is_importable(name)
    }


def _is_importable(name: str) -> bool:
    """Whether it is on the path; a file's name may contain dots without a package of that name."""
    parent = name.rpartition(".")[0]
    return parent in sys.modules or PathFinder.find_spec(name) is not None


_EMPTY_REPORT: dict[str, Any] = {"work": 0.0, "idle": 0.0, "trouble": None, "new": [], "said": {}}
