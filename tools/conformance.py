"""Stores the results of the conformance kit for the bundled plugins.

Run it after a change of a bundled plugin: ``.venv/bin/python tools/conformance.py`` (a few
minutes), or with names of plugins to check only those. ``--changed`` checks the plugins whose
files have changed since the last check.
"""

import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from gateway_kit.results import Results, check, find
from gateway_kit.results.records import build_document, to_record

from gateway_administration.plugins.tiers import Document, Result
from gateway_core.plugins.files import digest_of

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "gateway_administration" / "plugins" / "conformance.json"


def bundled() -> Iterator[str]:
    """The names of the formats and providers in this repository."""
    for group in ("formats", "providers"):
        for project in sorted((ROOT / "plugins" / group).glob("*/pyproject.toml")):
            entry_points = tomllib.loads(project.read_text())["project"]["entry-points"]
            yield from entry_points["model_gateway"]


def known() -> dict[str, Result]:
    """The stored results."""
    if not SHIPPED.exists():
        return {}
    return dict(msgspec.json.decode(SHIPPED.read_bytes(), type=Document).plugins)


def check_plugin(name: str) -> Results:
    """Run every case of one plugin and print the progress."""

    def print_progress(done: int, of: int, case: str) -> None:
        print(f"\r{name}: {done} of {of}\033[K", end="", flush=True)

    results = check(find(name), progress=print_progress)
    print(f"\r{name}: {results.tier}, {results.passed} of {results.cases} cases\033[K")
    for failure in results.failures:
        print(f"  {failure.message}")
    return results


def main(arguments: Sequence[str]) -> int:
    every, before = list(bundled()), known()
    named = [each for each in arguments if not each.startswith("-")]
    wanted = named or every
    if "--changed" in arguments:
        wanted = [name for name in wanted if not is_known(name, before)]
    results = {name: check_plugin(name) for name in wanted}
    kept = {name: result for name, result in before.items() if name in every}
    kept |= {name: to_record(each) for name, each in results.items()}
    SHIPPED.write_bytes(build_document(kept))
    return int(any(each.failures for each in results.values()))


def is_known(name: str, before: dict[str, Result]) -> bool:
    """Whether the stored result is for exactly these files."""
    return name in before and before[name].digest == digest_of(find(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
