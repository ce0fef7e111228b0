"""What the gateway makes of a shared state: its providers' calls, its accounts, its health."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from time import time

import httpx2
import pytest
from fake_vendor import MockResponse, ReceivedRequest
from served_gateway import serve_gateway
from valkey_replicas import Replica, replicas
from valkey_server import ValkeyServer
from vendor_answers import WHOLE

from gateway_core.config.environment import Environment
from gateway_core.config.settings import Settings
from gateway_core.contracts.errors import UpstreamError
from gateway_core.contracts.provider import ProviderSpec
from gateway_core.routing.cooldowns import EVERY_MODEL, Cooldowns
from gateway_core.routing.failure_rules import FailureClass
from gateway_core.routing.provider_limits import Gate, ProviderFull, ProviderLimits

PROVIDER = ProviderSpec(id="p", name="p", base_url="https://p.example")
REST = FailureClass(retry=True, cooldown=60.0, whole_account=True)


def gate(replica: Replica, settings: Settings) -> Gate:
    found = ProviderLimits(shared=replica.state).gate(PROVIDER, settings)
    assert found is not None
    return found


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


def test_a_place_at_a_provider_is_one_of_all_gateways(server: ValkeyServer) -> None:
    async def work() -> None:
        async with replicas(server, 2) as pair:
            settings = Settings(provider_concurrency_limits={"p": 2})
            one, other = (gate(each, settings) for each in pair)
            await one.enter(0)
            await other.enter(0)
            with pytest.raises(ProviderFull, match="2 at once"):
                await other.enter(0)
            waiting = asyncio.create_task(other.enter(20))
            one.leave()
            await waiting

    asyncio.run(work())


def test_a_providers_minute_is_one_of_all_gateways(server: ValkeyServer) -> None:
    async def work() -> ProviderFull:
        async with replicas(server, 2) as pair:
            one, other = (gate(each, Settings(rpm_by_provider={"p": 2})) for each in pair)
            await one.enter(0)
            await one.enter(0)
            with pytest.raises(ProviderFull) as refused:
                await other.enter(20)
            # The place that was taken here first is free again.
            assert other._inside == 0
            return refused.value

    refusal = asyncio.run(work())

    assert refusal.reason == "Provider rate limit exceeded (2 requests/minute)"
    assert 50 < refusal.wait <= 60


def test_an_account_that_rests_at_one_gateway_rests_at_the_others(server: ValkeyServer) -> None:
    async def work() -> None:
        async with replicas(server, 1) as (first,):
            other = Replica(server, 0.5)
            cooldowns = Cooldowns(Environment(), time, first.state.publish)
            others = Cooldowns(Environment(), time, other.state.publish)
            async with other.state.connect(others.adopt):
                error = UpstreamError("too many", status=429)
                cooldowns.record_failure("a", "m", error, REST)
                await until(lambda: others.find("a", "any") is not None)
                rest = others.find("a", "any")
                assert rest is not None
                assert (rest.status, rest.reason) == (429, "too many")
                assert others.take_changes() == {}  # The first one notes it in the database.
                others.clear(["a"], EVERY_MODEL)
                await until(lambda: [each.account for each in first.adopted] == ["a"])
                cooldowns.adopt(first.adopted[0])
                assert cooldowns.find("a", "m") is None

    asyncio.run(work())


def answer(received: ReceivedRequest) -> MockResponse:
    return MockResponse((WHOLE["openai"],))


def test_health_says_while_the_server_is_away_and_requests_are_served(
    tmp_path: Path, server: ValkeyServer, http: httpx2.Client
) -> None:
    variables = {"GATEWAY_VALKEY_URL": server.url}
    with serve_gateway(tmp_path / "data", {"openai": answer}, variables=variables) as here:
        before = http.get(f"{here.url}/api/health").json()
        server.kill()
        registry = here.gateway.core.snapshot.registry
        assert registry.shared_state is not None
        state = registry.shared_state
        here.do(until(lambda: bool(state.trouble)))
        away = http.get(f"{here.url}/api/health").json()
        body = {"model": "v-openai/m-1", "messages": [{"role": "user", "content": "hi"}]}
        served = http.post(f"{here.url}/v1/chat/completions", json=body)

    assert before == {"ok": True}
    assert away == {
        "ok": True,
        "notShared": "Valkey does not answer: each process counts for itself",
    }
    assert served.status_code == 200


def test_without_an_address_the_plugin_does_nothing(tmp_path: Path) -> None:
    with serve_gateway(tmp_path / "data", {"openai": answer}) as here:
        assert here.gateway.core.snapshot.registry.shared_state is None
