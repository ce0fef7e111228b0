"""Two gateways on one database and one Valkey serve as one, whichever a request reaches."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2
import pytest
from fake_vendor import FakeVendor, MockResponse
from keyed_vendors import GOOD, keyed
from keyed_vendors import ask as chat
from postgres_servers import VERSIONS, empty_tables
from served_gateway import Served, serve_gateway
from valkey_server import ValkeyServer, valkey_server
from web_logins import COOKIES, ORIGIN, Demonstration, pages_provider

from gateway_core import ProviderSpec
from gateway_core.identity.credentials import CLI_HEADER

PATH = "/api/providers/web-login"
VARIABLES = {
    "API_KEY_SECRET": "a-canary-that-signs-keys-of-every-replica",
    "JWT_SECRET": "a-canary-that-signs-sessions-of-every-replica",
    "GATEWAY_PG_SSLMODE": "disable",
    "GATEWAY_WEB_LOGIN_ORIGIN": ORIGIN,
    "PROVIDER_BODY_TIMEOUT_MS": "2000",
    # A busy machine is no server that is away.
    "PLUGIN_EXTENSION_VALKEY_WAIT_MS": "1000",
}
SLOW, BROKEN = MockResponse(delay=10), MockResponse(status=500)


class Pair(NamedTuple):
    one: Served
    other: Served
    valkey: ValkeyServer
    http: httpx2.Client


def specs(vendors: dict[str, FakeVendor]) -> list[ProviderSpec]:
    return [*keyed(vendors), pages_provider(Demonstration())]


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, postgres: Callable[[str, str], str]
) -> Iterator[Pair]:
    url, folder = postgres(VERSIONS[0], "state"), tmp_path_factory.mktemp("state")
    empty_tables(url, "migrations")
    with (
        valkey_server(folder) as valkey,
        httpx2.Client(trust_env=False, timeout=30) as http,
        ExitStack() as stack,
    ):
        variables = {**VARIABLES, "GATEWAY_PG_URL": url, "GATEWAY_VALKEY_URL": valkey.url}
        served = []
        for name in ("one", "other"):
            (folder / name).mkdir(mode=0o700)
            (folder / name / "master-key").write_text("5e" * 32)
            scripts = {vendor: lambda _: MockResponse((GOOD,)) for vendor in ("first", "second")}
            gateway = serve_gateway(folder / name, scripts, specs=specs, variables=variables)
            served.append(stack.enter_context(gateway))
        pair = Pair(*served, valkey, http)
        for provider in ("first", "second"):
            account = {"provider": provider, "name": provider, "apiKey": "canary"}
            ask(pair, pair.one, "POST", "/api/connections", account)
        yield pair


def ask(pair: Pair, here: Served, method: str, path: str, body: Any = None, status: int = 0) -> Any:
    done = send(pair, here, method, path, body)
    assert done.status_code == status or (not status and done.status_code < 300), done.text
    return done.json()


def send(pair: Pair, here: Served, method: str, path: str, body: Any = None) -> httpx2.Response:
    headers = {CLI_HEADER: here.gateway.core.identity.cli_token}
    more = {} if body is None else {"json": body}
    return pair.http.request(method, here.url + path, headers=headers, **more)


def until(holds: Callable[[], bool], seconds: float = 20) -> float:
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < seconds
        time.sleep(0.01)
    return time.monotonic() - begun


class Browser:
    """Somebody's browser at the host of logins, whose requests a balancer sends anywhere."""

    def __init__(self, http: httpx2.Client, cookie: str = "") -> None:
        self._http, self._cookie = http, cookie

    def open(self, here: Served, url: str, form: str = "") -> httpx2.Response:
        parts = urlsplit(url)
        done = self._http.request(
            "POST" if form else "GET",
            f"{here.url}{parts.path}?{parts.query}",
            headers={"host": urlsplit(ORIGIN).netloc, "cookie": f"web_login={self._cookie}"},
            content=form.encode(),
        )
        self._cookie = done.cookies.get("web_login", self._cookie)
        self._http.cookies.clear()
        return done


def sign_in(pair: Pair) -> str:
    """The id of a login whose steps reach one gateway and the other in turn."""
    browser = Browser(pair.http)
    login = ask(pair, pair.one, "POST", f"{PATH}/start", {"provider": "pages"})
    assert ask(pair, pair.other, "GET", f"{PATH}/status?id={login['id']}")["state"] == "waiting"
    assert browser.open(pair.other, login["url"]).status_code == 303
    assert browser.open(pair.one, login["url"]).status_code == 404
    pages = f"{ORIGIN}/__web_login/pages/"
    assert browser.open(pair.one, pages, "pass=word").status_code == 303
    assert browser.open(pair.other, f"{pages}done").text == "<p>Done"
    assert ask(pair, pair.one, "GET", f"{PATH}/status?id={login['id']}")["state"] == "captured"
    return str(login["id"])


def test_a_login_that_begins_at_one_gateway_ends_at_the_other(pair: Pair) -> None:
    id = sign_in(pair)

    body = {"id": id, "name": "begun at one"}
    row = ask(pair, pair.other, "POST", f"{PATH}/finish", body, 201)["connection"]

    async def read() -> str:
        found = await pair.one.gateway.core.stores.connections.get(row["id"])
        assert found is not None
        return str(found.secrets["apiKey"])

    assert pair.one.do(read()) == COOKIES
    ask(pair, pair.one, "GET", f"{PATH}/status?id={id}", status=404)


def test_of_many_that_finish_a_login_at_once_one_wins(pair: Pair) -> None:
    id = sign_in(pair)

    def finish(number: int) -> int:
        here = (pair.one, pair.other)[number % 2]
        body = {"id": id, "name": f"winner {number}"}
        return send(pair, here, "POST", f"{PATH}/finish", body).status_code

    with ThreadPoolExecutor(12) as pool:
        statuses = Counter(pool.map(finish, range(12)))

    assert statuses == {201: 1, 404: 11}
    rows = ask(pair, pair.one, "GET", "/api/providers")["connections"]
    assert len([row for row in rows if row["name"].startswith("winner")]) == 1


def test_who_guesses_tickets_stores_none(pair: Pair) -> None:
    async def count() -> int:
        rows = await pair.one.gateway.core.stores.database.fetch("SELECT id FROM tickets")
        return len(rows)

    before = pair.one.do(count())
    for number in range(20):
        stranger = Browser(pair.http, f"guess-{number}")
        here = (pair.one, pair.other)[number % 2]
        for path in (f"bootstrap?grant=guess-{number}", "pages/"):
            assert stranger.open(here, f"{ORIGIN}/__web_login/{path}").status_code == 404
        headers = {"x-forwarded-for": "192.0.2.7", CLI_HEADER: "guess"}
        url, body = f"{here.url}{PATH}/start", {"provider": "pages"}
        start = pair.http.post(url, json=body, headers=headers)
        assert start.status_code in (401, 403)

    assert pair.one.do(count()) == before


def add_combo(pair: Pair, name: str) -> None:
    """Two members of which the healthier is preferred, known to both gateways."""
    models = ["first/" + name, "second/" + name]
    ask(pair, pair.one, "POST", "/api/combos", {"name": name, "models": models})
    own = {"fallbackStrategy": "smart-scoring"}
    strategies = ask(pair, pair.one, "GET", "/api/settings")["comboStrategies"]
    ask(pair, pair.one, "PATCH", "/api/settings", {"comboStrategies": {**strategies, name: own}})

    until(lambda: name in pair.other.gateway.core.snapshot.settings.combo_strategies)


def provider_of(pair: Pair, here: Served, name: str) -> str:
    """The provider that answers a call of a combo first."""
    seen = {vendor: len(each.received) for vendor, each in here.vendors.items()}
    assert chat(pair.http, here, name).status_code == 200
    (first,) = [v for v, each in here.vendors.items() if len(each.received) > seen[v]]
    return first


@pytest.mark.parametrize("trouble", [SLOW, BROKEN], ids=["slow", "broken"])
def test_an_account_that_fails_at_one_gateway_is_chosen_less_at_the_other(
    pair: Pair, trouble: MockResponse
) -> None:
    name = "slow" if trouble is SLOW else "broken"
    add_combo(pair, name)
    assert provider_of(pair, pair.other, name) == "first"
    vendor = pair.one.vendors["first"]
    healthy, vendor.script = vendor.script, lambda _: trouble
    try:
        assert chat(pair.http, pair.one, name).status_code == 200  # The second member has answered.
    finally:
        vendor.script = healthy

    taken = until(lambda: provider_of(pair, pair.other, name) == "second")

    assert taken < 5


def test_scores_go_on_without_valkey_and_are_added_up_when_it_is_back(
    pair: Pair,
) -> None:
    add_combo(pair, "outage")
    pair.valkey.kill()
    until(partial(all_say, pair, True))
    vendor = pair.one.vendors["first"]
    healthy, vendor.script = vendor.script, lambda _: SLOW
    try:
        assert chat(pair.http, pair.one, "outage").status_code == 200
    finally:
        vendor.script = healthy
    assert provider_of(pair, pair.one, "outage") == "second"
    assert provider_of(pair, pair.other, "outage") == "first"

    pair.valkey.start()

    until(partial(all_say, pair, False))
    until(lambda: provider_of(pair, pair.other, "outage") == "second")


def all_say(pair: Pair, is_away: bool) -> bool:
    """What both gateways' health says of Valkey."""
    answers = [pair.http.get(f"{here.url}/api/health").json() for here in (pair.one, pair.other)]
    return all(("notShared" in each) == is_away for each in answers)
