"""The suite as a parametrised test function."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from gateway_kit.case import Case
from gateway_kit.mock_vendor import Dialect
from gateway_kit.pytest_folders import open_data_dir

from .live import ask_live, has_key, live_routes
from .service_samples import ServiceSample
from .subject import Account, ProviderUnderTest, Route
from .suite import ProviderSuite

TestFunction = Callable[..., None]


def provider_cases(
    *plugins: str | object,
    accounts: Mapping[str, Account] = {},
    thorough: bool | Iterable[str] = True,
    every_client: bool = True,
    answers_itself: Iterable[str] = (),
    dialects: Mapping[str, Dialect] = {},
    samples: Mapping[str, ServiceSample] = {},
    lacks: Iterable[str] | None = None,
) -> TestFunction:
    """A test with one parameter for each case of these plugins.

    ``plugins`` are names of modules, or objects with hooks. ``accounts`` are by
    provider id, for vendors whose key has a form or whose accounts have data.
    ``thorough`` says whose streams are cut everywhere; without ``every_client``
    one client format of each way has to do. ``answers_itself`` names providers
    that never call a vendor, ``dialects`` how vendors speak formats of their own
    and ``samples`` what their services besides chat answer. ``lacks`` names what
    the vendors have nothing of, as in CONFORMANCE, which it stands in for.
    Raises what importing a plugin raises.
    """
    suite = ProviderSuite(
        plugins,
        accounts=accounts,
        thorough=thorough if isinstance(thorough, bool) else frozenset(thorough),
        every_client=every_client,
        answers_itself=frozenset(answers_itself),
        dialects=dialects,
        samples=samples,
        lacks=lacks,
    )

    @pytest.mark.parametrize("case", suite.cases(), ids=lambda case: case.name)
    def test_provider(case: Case, request: pytest.FixtureRequest) -> None:
        failure = suite.run(case, open_data_dir(suite, request))
        reason = suite.expected_failure(case)
        if reason is not None and failure is not None:
            pytest.xfail(reason)
        if reason is not None:
            pytest.fail("It passes: take it out of the expected failures.", pytrace=False)
        if failure is not None:
            pytest.fail(failure, pytrace=False)

    return test_provider


def live_provider_cases(plugin: str | object) -> TestFunction:
    """A test that asks the real vendor; skipped without ``--live`` and a key in the environment."""
    suite = ProviderSuite((plugin,))
    routes_to_ask = [(each, *way) for each in suite.subjects for way in live_routes(each)]

    @pytest.mark.parametrize(("subject", "route", "stream"), routes_to_ask, ids=str)
    def test_live(
        subject: ProviderUnderTest,
        route: Route,
        stream: bool,
        request: pytest.FixtureRequest,
        tmp_path: Path,
    ) -> None:
        if not request.config.getoption("--live", default=False):
            pytest.skip("asks the vendor only with --live")
        if not has_key(subject):
            pytest.skip(f"none of {', '.join(subject.spec.environment)} is set")
        asyncio.run(ask_live(subject, suite.plugins, route, tmp_path, stream=stream))

    return test_live
