"""Cases against the real vendor, which need a key and ``--live``."""

from collections.abc import Iterator
from pathlib import Path

from gateway_core.app import Gateway
from gateway_core.config.environment import from_environ, from_process
from gateway_core.routing.environment_accounts import account_data
from gateway_kit.case import expect

from .answers import read_answer
from .asgi_client import ClientCall
from .chat_requests import build_request
from .subject import ProviderUnderTest, Route


def has_key(subject: ProviderUnderTest) -> bool:
    """Whether a process variable of this vendor is set."""
    return account_data(subject.spec, from_process().variables) is not None


def live_routes(subject: ProviderUnderTest) -> Iterator[tuple[Route, bool]]:
    route = subject.main()
    if route is not None:
        yield from ((route, stream) for stream in (False, True))


async def ask_live(
    subject: ProviderUnderTest,
    plugins: dict[str, object],
    route: Route,
    data_dir: Path,
    *,
    stream: bool,
) -> None:
    """Ask the vendor to say hello, with the account of the process variables. Raises CaseFailed."""
    variables = from_process().variables
    named = {*subject.spec.environment, *subject.spec.environment_data}
    account_variables = {name: variables[name] for name in named if name in variables}
    environment = from_environ({"DATA_DIR": str(data_dir), **account_variables})
    async with Gateway.open(environment, extra_plugins=plugins, installed_plugins=False) as gateway:
        request = build_request(subject, route, stream=stream)
        answer = await ClientCall(gateway.app, request.path, request.body, {}).run()
        parsed = read_answer(subject, route, answer, stream=stream)
        expect(parsed.text or parsed.thinking, "the vendor said nothing")
        await gateway.core.ledger.flush()
        [row] = (await gateway.core.stores.usage.page(limit=1)).rows
        expect(row.output_tokens > 0, "the vendor reported no usage, and none was estimated")
