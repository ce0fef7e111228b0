"""Writes what the conformance kit finds out about the plugins that come with the gateway.

Run it after a change of a bundled plugin: ``.venv/bin/python tools/conformance.py`` (a few
minutes), or with names of plugins for those alone. ``--changed`` takes those whose files are
not the ones that were checked last.
"""

import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from gateway_kit.results import Results, check, find
from gateway_kit.results.records import build_document, to_record

from gateway_core.plugins.files import digest_of
from gateway_core.plugins.tiers import Document, Result

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "gateway_core" / "plugins" / "conformance.json"


def bundled() -> Iterator[str]:
    """The names of the formats and providers in this repository."""
    for group in ("formats", "providers"):
        for project in sorted((ROOT / "plugins" / group).glob("*/pyproject.toml")):
            entry_points = tomllib.loads(project.read_text())["project"]["entry-points"]
            yield from entry_points["model_gateway"]


def known() -> dict[str, Result]:
    """What was found out before."""
    if not SHIPPED.exists():
        return {}
    return dict(msgspec.json.decode(SHIPPED.read_bytes(), type=Document).plugins)


def checked(name: str) -> Results:
    """Run every case of one plugin, telling how far it is."""

    def told(done: int, of: int, case: str) -> None:
        print(f"\r{name}: {done} of {of}\033[K", end="", flush=True)

    results = check(find(name), progress=told)
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
    found = {name: checked(name) for name in wanted}
    kept = {name: result for name, result in before.items() if name in every}
    kept |= {name: to_record(results) for name, results in found.items()}
    SHIPPED.write_bytes(build_document(kept))
    return int(any(results.failures for results in found.values()))


def is_known(name: str, before: dict[str, Result]) -> bool:
    """Whether what was found out is about these very files."""
    return name in before and before[name].digest == digest_of(find(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
