"""Results of a whole plugin: every role it has, the tier it reaches, and where that is kept."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from extension_bugs import SOUND as EXTENSION
from gateway_kit.results import Failure, NotFound, Results, check, find, record
from gateway_kit.results.outcome import reached_tier
from gateway_kit.results.records import build_document
from seeded_bugs import SOUND as PROVIDER

from gateway_administration.plugins.tiers import Tier, recorded
from gateway_core.plugins.files import PluginFolder, digest_of

BRONZE, SILVER, GOLD = Tier.BRONZE, Tier.SILVER, Tier.GOLD
ALL = (BRONZE, SILVER, GOLD)
NOW = 1_790_000_000.0


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules can be imported, and are forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("acme", "plugin-file-", "gateway_acme")):
            del sys.modules[name]


def provider(id: str = "acme") -> str:
    return PROVIDER.replace("sample-NAME", id).replace("NAME", "ACME")


@pytest.mark.parametrize(
    ("cases", "failed", "live", "tier"),
    [
        (ALL, (), False, GOLD),
        (ALL, (), True, Tier.PLATINUM),
        (ALL, (GOLD,), True, SILVER),
        (ALL, (SILVER,), False, BRONZE),
        (ALL, (BRONZE,), False, Tier.FAILING),
        (ALL, (BRONZE, GOLD), False, Tier.FAILING),
        ((BRONZE,), (), False, BRONZE),
        ((BRONZE, SILVER), (), True, SILVER),
        ((), (), False, Tier.FAILING),
    ],
)
def test_a_tier_is_reached_when_nothing_below_or_in_it_fails(
    cases: tuple[Tier, ...], failed: tuple[Tier, ...], live: bool, tier: Tier
) -> None:
    assert reached_tier(cases, failed, live=live) is tier


def test_a_plugin_of_several_roles_gets_the_cases_of_each(home: Path) -> None:
    reported = f'CONFORMANCE = {{"answers_itself": ["acme"]}}\n{_hooks_of(provider())}'
    (home / "acme_both.py").write_text(f"{EXTENSION}\n\n{reported}")
    named: list[str] = []

    check(find("acme_both"), progress=lambda *now: named.append(now[2]))

    roles = ("acme: manifest", "acme: relays/identity", "acme_both: interceptor: order")
    assert all(role in named for role in roles)


def test_results_name_the_files_the_protocol_and_the_moment(home: Path) -> None:
    (home / "acme_dated.py").write_text(EXTENSION)

    results = check(find("acme_dated"), clock=lambda: NOW)

    assert results.digest == digest_of(find("acme_dated"))
    assert (results.tier, results.protocol) == (GOLD, 1)
    assert results.checked_at == "2026-09-21T14:13:20+00:00"


def _hooks_of(text: str) -> str:
    """A provider plugin's text without its docstring."""
    return text.partition('"""\n\n')[2]


def test_progress_tells_each_case_before_it_runs_and_the_end(home: Path) -> None:
    (home / "acme_one.py").write_text(EXTENSION)
    reported: list[tuple[int, int, str]] = []

    results = check(find("acme_one"), progress=lambda *now: reported.append(now))

    assert [done for done, _, _ in reported] == list(range(results.cases + 1))
    assert {of for _, of, _ in reported} == {results.cases}
    assert all(name for _, _, name in reported[:-1])


@pytest.mark.parametrize("name", ["acme-file", "acme.v2", "acme file", "acmé"])
def test_a_file_is_checked_where_it_stands(home: Path, name: str) -> None:
    file = home / f"{name}.py"
    file.write_text(EXTENSION)

    results = check(find(str(file)))

    assert [failure.message for failure in results.failures] == []
    assert (results.plugin, results.tier) == (name, GOLD)


def test_a_file_is_looked_at_anew_each_time(home: Path) -> None:
    file = home / "acme_changed.py"
    file.write_text(EXTENSION)
    check(find(str(file)))
    file.write_text(EXTENSION.replace("return [Guard(settings)]", "return [settings]"))

    results = check(find(str(file)))

    assert results.tier is Tier.FAILING
    assert any("is refused" in failure.message for failure in results.failures)


def test_a_failing_plugin_says_which_tier_each_failure_costs(home: Path) -> None:
    (home / "acme_slow.py").write_text(
        EXTENSION.replace(
            "        task.cancel()\n        await asyncio.wait((task,))", "        pass"
        )
    )

    results = check(find("acme_slow"))

    assert {failure.tier for failure in results.failures} == {GOLD}
    assert results.tier is SILVER


def test_a_project_is_checked_by_its_folder(home: Path) -> None:
    project = home / "acme-project"
    package = project / "gateway_acme_project"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(EXTENSION)
    (project / "pyproject.toml").write_text(
        '[project]\nname = "acme"\n[project.entry-points.model_gateway]\n'
        'acme = "gateway_acme_project"\n'
    )

    found = find(str(project))

    assert (found.name, found.module) == ("acme", "gateway_acme_project")
    assert found.load().__name__ == "gateway_acme_project"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["no-such-plugin", "./no/such/folder", "json.nothing"])
def test_what_is_not_there_is_named(name: str) -> None:
    with pytest.raises(NotFound, match=name):
        find(name)


ENTRY = '[project.entry-points.model_gateway]\nacme = "gateway_acme"\n'


@pytest.mark.parametrize(
    ("project", "reported"),
    [
        (b"project = 3\n", "holds neither a package nor"),
        (b"[project]\nentry-points = 3\n", "holds neither a package nor"),
        (b"[project.entry-points]\nmodel_gateway = 3\n", "holds neither a package nor"),
        (b"[project.entry-points.model_gateway]\n", "holds neither a package nor"),
        (ENTRY.encode() + b"[project\n", r"pyproject\.toml cannot be read: .*at line 3"),
        (ENTRY.encode() + b"# \xff\n", r"pyproject\.toml cannot be read"),
    ],
)
def test_a_project_that_is_spelled_wrongly_is_told(
    tmp_path: Path, project: bytes, reported: str
) -> None:
    (tmp_path / "pyproject.toml").write_bytes(project)

    with pytest.raises(NotFound, match=reported):
        find(str(tmp_path))


def test_a_plugin_may_say_what_its_cases_need(home: Path) -> None:
    text = f'CONFORMANCE = {{"answers_itself": ["acme"]}}\n{_hooks_of(provider())}'
    (home / "acme_told.py").write_text(f'"""Acme: https://acme.example."""\n\n{text}')

    results = check(find("acme_told"))

    assert not any("openai-to-openai" in failure.case for failure in results.failures)
    assert results.cases < 220


def results(tier: Tier, *, digest: str = "d", live: bool = False) -> Results:
    failure = Failure(case="c", message="m", tier=GOLD)
    return Results(
        plugin="acme",
        module="acme",
        digest=digest,
        protocol=2,
        kit="1.0",
        tier=tier,
        cases=9,
        failures=() if tier in (GOLD, Tier.PLATINUM) else (failure,),
        seconds=1.0,
        live=live,
        checked_at="2026-09-21T14:13:20+00:00",
    )


def test_results_are_kept_in_the_installation(tmp_path: Path) -> None:
    folder = PluginFolder(tmp_path / "plugins")

    record(folder, results(SILVER))

    kept = recorded(folder)["acme"]
    assert (kept.tier, kept.failed, kept.cases) == (SILVER, 1, 9)


@pytest.mark.parametrize(("digest", "tier"), [("d", Tier.PLATINUM), ("other", GOLD)])
def test_a_vendor_once_asked_is_remembered_for_the_same_files(
    tmp_path: Path, digest: str, tier: Tier
) -> None:
    folder = PluginFolder(tmp_path / "plugins")
    record(folder, results(Tier.PLATINUM, live=True))

    kept = record(folder, results(GOLD, digest=digest))

    assert kept.tier is tier


def test_the_shipped_file_does_not_depend_on_when_it_was_made(tmp_path: Path) -> None:
    folder = PluginFolder(tmp_path / "plugins")
    first = record(folder, results(GOLD))
    second = msgspec.structs.replace(first, seconds=9.0, checked_at="later", kit="2.0")

    assert build_document({"acme": first}) == build_document({"acme": second})


CLASHING = '''"""Acme, a format whose path another one has. See https://docs.acme.example."""

from importlib import import_module

from gateway_core import hookimpl
from msgspec.structs import replace

GATEWAY_PROTOCOL = 1
CLAUDE = import_module("gateway_format_claude").CLAUDE
ACME = replace(CLAUDE, id="acme", dialect="acme", also_called=())


@hookimpl
def register_formats():
    return [ACME]
'''


def test_what_the_gateway_refuses_of_a_format_is_a_failure(home: Path) -> None:
    (home / "acme_clashing.py").write_text(CLASHING)

    results = check(find("acme_clashing"))

    reported = [
        failure for failure in results.failures if failure.case == "acme_clashing: accepted"
    ]
    assert [failure.tier for failure in reported] == [BRONZE]
    assert "the path /v1/messages is served by format" in reported[0].message
    assert results.tier is Tier.FAILING
