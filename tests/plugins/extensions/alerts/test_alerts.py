"""Alerts of a served gateway: what is noticed, who gets it, and that none is lost or repeated."""

import json
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from fake_vendor import MockResponse, ReceivedRequest
from gateway_extension_alerts.alert import CALM
from gateway_extension_alerts.watcher import RETRIES, Watcher
from gateway_process import vendor
from postgres_servers import free_port
from served_gateway import Served, keyless_provider, serve_gateway
from standardwebhooks import Webhook
from trustme import CA
from vendor_answers import WHOLE

from gateway_core import Auth, ProviderSpec
from gateway_core.pipeline.plugin_host import Hosts
from gateway_observing.figures import Figures

SECRET = "whsec_" + "c2VjcmV0IG9mIHRoZSB3ZWJob29r"
NAME = "extension-alerts"


class Sink:
    """A vendor that is a webhook, too: it keeps what is posted to it."""

    def __init__(self) -> None:
        self.got: list[ReceivedRequest] = []
        self.status = 200

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        self.got.append(received)
        return MockResponse((b"ok",), self.status)

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(each.body) for each in self.got]


class Vendor:
    def __init__(self) -> None:
        self.answer = MockResponse((WHOLE["openai"],))

    def __call__(self, received: ReceivedRequest) -> MockResponse:
        return self.answer


class Place:
    """A gateway, where its alerts go, and a clock that can be moved on."""

    def __init__(self, here: Served, sink: Sink, vendor: Vendor, address: str) -> None:
        self.here, self.sink, self.vendor, self.address = here, sink, vendor, address
        self.moved = 0.0
        core = here.gateway.core
        self.watcher = Watcher(Hosts(core, frozenset({NAME})).of(NAME))
        self.http = httpx2.Client(base_url=here.url, trust_env=False, timeout=30)
        self.token = {"x-gateway-cli-token": core.identity.cli_token}

    def configure(self, **settings: Any) -> None:
        answer = self.http.patch(f"/api/plugins/{NAME}/settings", json=settings, headers=self.token)
        assert answer.status_code == 200, answer.text

    def chat(self, times: int = 1, model: str = "v-openai/m-1", **headers: str) -> list[int]:
        body = {"model": model, "messages": [{"role": "user", "content": "hi"}]}
        return [
            self.http.post("/v1/chat/completions", json=body, headers=headers).status_code
            for _ in range(times)
        ]

    def check(self, after: float = 0.0) -> None:
        self.moved += after
        self.here.rows()  # The ledger is written.
        self.here.do(self.watcher.check())

    def shown(self) -> Any:
        return self.http.get("/api/alerts", headers=self.token).json()


def providers(vendors: Any) -> list[ProviderSpec]:
    """One that takes no key, and one that does."""
    base = f"{vendors['openai'].url}/v1"
    keyed = ProviderSpec(id="acme", name="Acme", base_url=base, auth=Auth(type="bearer"))
    return [keyless_provider("openai", vendors["openai"]), keyed]


@contextmanager
def place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    sink, chat = Sink(), Vendor()
    with ExitStack() as stack:
        address = f"{stack.enter_context(vendor(sink)).url}/hook"
        variables = {"GATEWAY_TRUST_PLUGINS": NAME, "GATEWAY_ALERTS_WEBHOOK_URL": address}
        serving = serve_gateway(folder, {"openai": chat}, specs=providers, variables=variables)
        made = Place(stack.enter_context(serving), sink, chat, address)
        clock = made.here.gateway.core.clock
        monkeypatch.setattr(Figures, "now", lambda figures: clock() + made.moved)
        with made.http:
            yield made


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    with place(tmp_path, monkeypatch) as made:
        yield made


def limited_key(at: Place, **limits: Any) -> str:
    made = at.http.post(
        "/api/keys", json={"name": "team", "machineId": "any", **limits}, headers=at.token
    )
    assert made.status_code < 300, made.text
    key: str = made.json()["key"]
    return key


def test_a_key_near_its_limit_is_an_alert_which_is_signed(at: Place) -> None:
    at.configure(webhookSecret=SECRET)
    key = limited_key(at, dailyLimitTokens=5)
    assert at.chat(authorization=f"Bearer {key}") == [200]

    at.check()
    at.check()

    [event] = at.sink.events()
    [request] = at.sink.got
    assert Webhook(SECRET).verify(request.body, dict(request.headers)) == event
    assert (event["event"], event["alert"]["kind"]) == ("begins", "limit")
    assert event["alert"]["title"].startswith("Key team has used 80% of its daily tokens")
    assert event["alert"]["values"]["field"] == "dailyLimitTokens"
    assert event["alert"]["severity"] == "warning"
    assert [each["id"] for each in at.shown()["alerts"]] == [event["alert"]["id"]]

    assert at.chat(authorization=f"Bearer {key}") == [200]
    at.check()
    assert [each["event"] for each in at.sink.events()] == ["begins", "worsens"]


def test_errors_of_a_provider_begin_and_end(at: Place) -> None:
    at.configure(errorCalls=4, restSeconds=0)
    at.vendor.answer = MockResponse((b'{"error":{"message":"no"}}',), 400)
    assert at.chat(4) == [400] * 4

    at.check()
    at.check(601)  # The calls are too old by now.
    at.check(CALM)

    assert [(each["event"], each["alert"]["id"]) for each in at.sink.events()] == [
        ("begins", "errors:v-openai"),
        ("ends", "errors:v-openai"),
    ]
    assert at.shown()["alerts"] == []


def test_a_resting_account_is_an_alert(at: Place) -> None:
    at.configure(errorShare=0)
    account = {"provider": "acme", "name": "main", "apiKey": "k"}
    made = at.http.post("/api/providers", json=account, headers=at.token)
    assert made.status_code == 201, made.text
    at.vendor.answer = MockResponse(
        (b'{"error":{"message":"slow down"}}',), 429, headers={"retry-after": "3600"}
    )
    assert at.chat(model="acme/m-1") == [429]

    at.check()

    [event] = at.sink.events()
    assert event["alert"]["title"] == "Account main of acme rests for m-1"
    assert event["alert"]["text"].startswith("For 60 more minutes.")


def test_a_jump_of_spend_is_an_alert(at: Place) -> None:
    at.configure(spendLeast=0.01)
    price = {"v-openai": {"m-1": {"input": 10_000, "output": 10_000}}}
    assert at.http.patch("/api/pricing", json=price, headers=at.token).status_code == 200
    at.chat()
    assert at.here.rows()[0].cost == 40_000

    at.check()
    at.check(2 * 3600)
    at.check(CALM)

    assert [each["event"] for each in at.sink.events()] == ["begins", "ends"]
    assert at.sink.events()[0]["alert"]["title"] == "The last hour cost $0.04"


def test_what_does_not_arrive_is_sent_again_and_then_given_up(at: Place) -> None:
    at.configure(errorCalls=1, slackUrl=at.here.vendors["openai"].url)
    at.vendor.answer = MockResponse((b"{}",), 400)
    at.chat()
    at.sink.status = 500

    at.check()
    assert len(at.sink.got) == 1
    at.check(30)
    assert len(at.sink.got) == 1, "before its time"
    for pause in RETRIES:
        at.check(pause)
    at.check(12 * 3600)

    assert len({each.headers["webhook-id"] for each in at.sink.got}) == 2  # It begins and ends.
    first = [each for each in at.shown()["log"] if each["event"] == "begins"]
    to_sink = [each for each in first if each["to"] == "webhook"]
    assert [each["outcome"] for each in to_sink] == ["given up"] + ["failed"] * len(RETRIES)
    assert {each["error"] for each in to_sink} == {"it answered 500"}


def test_a_restart_forgets_nothing_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place(tmp_path, monkeypatch) as at:
        at.configure(errorCalls=1)
        at.vendor.answer = MockResponse((b"{}",), 400)
        at.chat()
        at.sink.status = 503
        at.check()
        assert len(at.sink.got) == 1

    with place(tmp_path, monkeypatch) as again:
        again.configure(errorCalls=1)
        again.check(RETRIES[0])
        assert [each["event"] for each in again.sink.events()] == ["begins"]
        again.check(1)
        assert len(again.sink.got) == 1


def test_of_several_processes_one_watches_at_a_time(at: Place) -> None:
    assert at.here.do(at.watcher.check_in_turn())
    assert not at.here.do(at.watcher.check_in_turn())
    at.moved += 60
    assert at.here.do(at.watcher.check_in_turn())


def test_slack_gets_text_that_is_no_markup(at: Place) -> None:
    at.configure(slackUrl=at.address.replace("/hook", "/slack"))
    key = limited_key(at, dailyLimitTokens=1)
    at.http.patch("/api/keys", headers=at.token)
    keys = at.http.get("/api/keys", headers=at.token).json()["keys"]
    name = {"name": "<!channel> & co"}
    renamed = at.http.put(f"/api/keys/{keys[0]['id']}", json=name, headers=at.token)
    assert renamed.status_code == 200, renamed.text
    at.chat(authorization=f"Bearer {key}")

    at.check()

    [message] = [json.loads(each.body) for each in at.sink.got if each.target == "/slack"]
    assert list(message) == ["text"]
    assert message["text"].startswith("*Critical: Key &lt;!channel&gt; &amp; co has used")


def test_a_test_reaches_every_destination_and_says_what_is_wrong(at: Place) -> None:
    at.configure(slackUrl="http://127.0.0.1:9/")

    results = at.http.post("/api/alerts/test", headers=at.token).json()["results"]

    assert results["webhook"] == "ok"
    assert results["slack"] not in ("", "ok")
    assert [each["alert"]["kind"] for each in at.sink.events()] == ["test"]
    assert at.shown()["log"] == []


def test_strangers_see_no_alerts_and_nobody_sees_secrets(at: Place) -> None:
    at.configure(webhookSecret=SECRET)
    elsewhere = {"x-forwarded-for": "203.0.113.7"}

    assert at.http.get("/api/alerts", headers=elsewhere).status_code == 401
    assert at.http.post("/api/alerts/test", headers=elsewhere).status_code == 401
    settings = at.http.get(f"/api/plugins/{NAME}/settings", headers=at.token).text
    assert SECRET not in settings
    assert at.address not in settings


def test_without_a_destination_it_is_not_there(tmp_path: Path) -> None:
    with serve_gateway(tmp_path, {}) as here:
        token = {"x-gateway-cli-token": here.gateway.core.identity.cli_token}
        answer = httpx2.get(f"{here.url}/api/alerts", headers=token, trust_env=False)
        problems = here.gateway.core.snapshot.registry.problems

    assert answer.status_code == 404
    assert not [each for each in problems if NAME in str(each)]


class Letters:
    """What a mail server was given."""

    def __init__(self) -> None:
        self.letters: list[tuple[str, list[str], str]] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        text = envelope.content.decode()
        self.letters.append((envelope.mail_from, envelope.rcpt_tos, text))
        return "250 Message accepted for delivery"


def test_mail_goes_out_over_tls_with_a_login(
    at: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, letters = CA(), Letters()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    protection = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(protection)

    def login(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        is_right = (data.login, data.password) == (b"gateway", b"letmein")
        return AuthResult(success=is_right, handled=False)

    server = Controller(
        letters,
        hostname="127.0.0.1",
        port=free_port(),
        tls_context=protection,
        require_starttls=True,
        authenticator=login,
        auth_required=True,
    )
    server.start()
    try:
        mail = {
            "smtpHost": "127.0.0.1",
            "smtpPort": server.port,
            "smtpUser": "gateway",
            "mailFrom": "gateway@a.example",
            "mailTo": ["ops@a.example", "boss@a.example"],
        }
        at.configure(**mail, smtpPassword="letmein")
        good = at.http.post("/api/alerts/test", headers=at.token).json()["results"]
        at.configure(**mail, smtpPassword="wrong")
        bad = at.http.post("/api/alerts/test", headers=at.token).json()["results"]
    finally:
        server.stop()

    assert good["mail"] == "ok"
    [(sender, receivers, text)] = letters.letters
    assert (sender, receivers) == ("gateway@a.example", ["ops@a.example", "boss@a.example"])
    assert "Subject: A test of the gateway's alerts" in text
    assert "Nothing is the matter." in text
    assert bad["mail"].startswith("the mail server: SMTPAuthenticationError")
    assert "wrong" not in bad["mail"]
