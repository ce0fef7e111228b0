"""What a plugin may say to the kit: dialects, expected failures, and what it lacks."""

import shutil
from pathlib import Path
from types import ModuleType

import pytest
from gateway_kit.mock_vendor import DialectScript, ReceivedRequest
from gateway_kit.providers import ProviderSuite
from gateway_kit.providers.conformance_options import (
    BadConformanceOptions,
    ConformanceOptions,
    expected_reason,
    load_dialects,
    load_place,
    read_conformance_options,
)
from gateway_kit.results import find

from gateway_administration.plugins.tiers import Tier

FIRST = Path(__file__).parents[1] / "data" / "planted_bugs" / "first"


def plugin_at(path: Path) -> tuple[str, object]:
    found = find(str(path))
    return found.module, found.load()


def test_a_dialect_beside_the_plugin_is_found_by_its_place() -> None:
    module, plugin = plugin_at(FIRST / "larch")

    dialects = load_dialects(read_conformance_options(module, plugin), plugin)

    assert dialects["larch"].stream_member == "streaming"


@pytest.mark.parametrize("place", ["larch_dialect:NOTHING", "no_such_module:X", "larch_dialect"])
def test_a_place_where_nothing_is_is_refused(place: str) -> None:
    _, plugin = plugin_at(FIRST / "larch")

    with pytest.raises(BadConformanceOptions, match="cannot be had"):
        load_place(place, plugin)


def test_something_else_than_a_dialect_is_refused() -> None:
    options = ConformanceOptions(dialects={"larch": "json:dumps"})

    with pytest.raises(BadConformanceOptions, match="json:dumps is no Dialect"):
        load_dialects(options, ModuleType("acme"))


def test_a_vendor_whose_format_nothing_answers_in_is_a_failing_case(tmp_path: Path) -> None:
    shutil.copytree(FIRST / "larch", tmp_path / "quiet_larch")
    file = tmp_path / "quiet_larch" / "__init__.py"
    kept = [line for line in file.read_text().splitlines() if not line.startswith("CONFORMANCE")]
    file.write_text("\n".join(kept))
    plugin_at(tmp_path / "quiet_larch")
    suite = ProviderSuite(("quiet_larch",))

    [case] = [case for case in suite.cases() if case.name.endswith(": exercised")]
    failure = suite.run(case, tmp_path / "data")
    suite.close()

    assert case.tier is Tier.SILVER
    assert failure is not None
    assert failure.endswith("Seen: nothing answers in larch")


def test_a_vendor_with_a_dialect_is_called_in_every_client_format() -> None:
    plugin_at(FIRST / "larch")

    suite = ProviderSuite(("larch",))

    assert [str(route) for subject in suite.subjects for route in subject.routes()] == [
        *("openai-to-larch", "claude-to-larch", "gemini-to-larch"),
        *("ollama-to-larch", "openai-responses-to-larch"),
    ]


def test_the_mock_vendor_reads_requests_of_a_dialect() -> None:
    module, plugin = plugin_at(FIRST / "larch")
    dialect = load_dialects(read_conformance_options(module, plugin), plugin)["larch"]
    body = b'{"engine":"larch-1","streaming":true,"talk":[]}'

    answer = DialectScript(dialect=dialect)(ReceivedRequest("POST", "/v3/generate", {}, body))

    assert answer.chunked
    assert b'"engine": "larch-1"' in b"".join(answer.pieces)


@pytest.mark.parametrize(
    ("case", "tier", "reason"),
    [
        ("acme: openai-to-acme: members", Tier.SILVER, "in May"),
        ("acme: openai-to-acme: key", Tier.SILVER, None),
        ("acme: accepted members", Tier.BRONZE, None),
    ],
)
def test_a_pattern_names_the_cases_that_may_fail(case: str, tier: Tier, reason: str | None) -> None:
    options = ConformanceOptions(expected={"acme: * members": "in May", "*members": "in May"})

    assert expected_reason(options, case, tier) == reason
