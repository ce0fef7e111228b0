"""Running a plugin's cases on copies of it with a bug each, every one in a process of its own."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from gateway_core.plugins.discovery import Found

from .planted import PlantedBug, plant

LIMIT = 240.0
"""Seconds for the cases of one copy; a bug that makes them hang is found too."""
_PRELOADED = ["gateway_kit.results.case_run", "gateway_kit.formats"]


class Finding(Struct, frozen=True, kw_only=True):
    """Whether a bug was found."""

    bug: PlantedBug
    message: str | None
    """The first case that failed; ``None`` where all of them passed."""
    is_tested: bool = False
    """Whether the plugin's own tests found it."""


def source_of(plugin: Found) -> Path:
    """The package's folder, or the file. Raises LookupError for a plugin without files."""
    file = getattr(plugin.load(), "__file__", None)
    if file is None:
        raise LookupError(f"{plugin.name} has no files")
    path = Path(file).resolve()
    return path.parent if path.name == "__init__.py" else path


def hunt(
    plugin: Path,
    bugs: Iterable[PlantedBug],
    *,
    limit: float = LIMIT,
    known: frozenset[str] | None = None,
    with_tests: bool = False,
) -> Iterator[Finding]:
    """Plant each bug and run the cases until one fails that passes without it.

    ``known`` are the names of those that fail without a bug; with ``None`` they are looked for
    first. ``with_tests`` also runs the tests that stand beside the plugin's package.
    """
    tests = plugin.parent / "tests"
    has_tests = with_tests and tests.is_dir() and run_tests(tests, plugin.parent, limit=limit)
    with TemporaryDirectory(prefix="gateway-bugs-") as folder:
        if known is None:
            known = frozenset(check_apart(plugin, limit=limit, known=None))
        for number, bug in enumerate(bugs):
            home = Path(folder, str(number))
            home.mkdir()
            copy = plant(plugin, bug, home)
            failed = check_apart(copy, limit=limit, known=known, beside=plugin.parent)
            is_tested = has_tests and not run_tests(tests, home, limit=limit)
            yield Finding(bug=bug, message=next(iter(failed), None), is_tested=is_tested)


def run_tests(tests: Path, folder: Path, *, limit: float) -> bool:
    """Whether the tests pass with the plugin as it is in this folder."""
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import pytest; "
        f"sys.exit(pytest.main(['-q', '-x', '-p', 'no:cacheprovider', {str(tests)!r}]))"
    )
    try:
        ran = subprocess.run(  # this interpreter, on the author's own tests
            [sys.executable, "-c", code],
            cwd=folder,
            capture_output=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def check_apart(
    plugin: Path,
    *,
    limit: float,
    known: frozenset[str] | None,
    beside: Path | None = None,
) -> list[str]:
    """The names of the cases that fail, in a process of its own.

    ``known`` are those that do not count; the first other one ends the run. With ``None`` all
    cases run. ``beside`` is where modules are that stood beside the plugin, such as its dialect.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_check, args=(plugin, known, beside, there))
    child.start()
    there.close()
    try:
        if not here.poll(limit):
            return [f"the cases took longer than {limit:g} s"]
        return list(here.recv())
    except EOFError:
        return ["the process ended"]
    finally:
        child.kill()
        child.join()
        here.close()


def _check(
    plugin: Path, known: frozenset[str] | None, beside: Path | None, there: Connection
) -> None:
    """Send the failures. The output is the plugin's, and nobody's concern here."""
    from gateway_kit.results import check, find

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.path[:0] = [str(each.resolve()) for each in (plugin.parent, beside) if each is not None]
    try:
        results = check(find(str(plugin)), stop_after=known)
        failures = [each for each in results.failures if each.case not in (known or ())]
        there.send([each.case if known is None else each.message for each in failures])
    except BaseException as error:  # importing the plugin may raise anything
        there.send([f"{type(error).__name__}: {error}"])
