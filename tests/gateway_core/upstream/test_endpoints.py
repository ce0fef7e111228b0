"""Where a request goes and what it shows there."""

import pytest
from gateway_format_openai import CHAT
from msgspec.structs import replace
from snapshots import call, provider, target

from gateway_core import Auth, Credential, Lasting, WireFormat
from gateway_core.config.settings import ModelTimeouts
from gateway_core.upstream.endpoints import EndpointCache, authorization, headers, request, url
from gateway_core.upstream.transport.heads import write_head

WIRE = WireFormat(id="w", dialect="w", headers={"x-version": "1"}, forward=("x-version", "x-beta"))
OTHER = WireFormat(id="o", dialect="o", auth_header="x-api-key", auth_prefix="")
SPEC = provider("acme", format="w", base_url="https://a/v1", other_formats={"o": "https://b/else"})


def account(key: str | None = "s3", **data: str) -> Credential:
    return Credential(connection_id="a", secret=key, data=data)


@pytest.mark.parametrize(
    ("wire", "data", "expected"),
    [
        (WIRE, {}, "https://a/v1/p"),
        (OTHER, {}, "https://b/else/p"),
        (WIRE, {"baseUrl": "http://own/x/"}, "http://own/x/p"),
        (OTHER, {"baseUrl": "http://own:1/x"}, "http://own:1/else/p"),
        (WIRE, {"baseUrl": ""}, "https://a/v1/p"),
    ],
    ids=["usual", "further", "own", "own further", "blank"],
)
def test_a_call_goes_to_its_formats_paths(
    wire: WireFormat, data: dict[str, str], expected: str
) -> None:
    assert url(target(SPEC), account(**data), wire, "/p") == expected


def test_a_vendor_may_have_a_path_a_suffix_or_a_builder_of_its_own() -> None:
    odd = provider("a", format="w", base_url="u", chat_path="/odd", url_suffix="?q")
    built = provider("a", format="w", url_builder=lambda target, account, path: f"built{path}")

    assert url(target(odd), account(), WIRE, "/p") == "u/odd?q"
    assert url(target(odd), account(), OTHER, "/p") == "u/p?q"
    assert url(target(built), account(), WIRE, "/p") == "built/p"


@pytest.mark.parametrize(
    ("auth", "wire", "expected"),
    [
        (Auth(), WIRE, {"authorization": "Bearer s3"}),
        (Auth(), OTHER, {"x-api-key": "s3"}),
        (Auth(scheme="bearer"), OTHER, {"authorization": "Bearer s3"}),
        (Auth(scheme="raw"), WIRE, {"authorization": "s3"}),
        (Auth(header="X-Key"), WIRE, {"x-key": "s3"}),
        (Auth(prefix="Token"), WIRE, {"authorization": "Token s3"}),
        (Auth(type="optional"), WIRE, {"authorization": "Bearer s3"}),
        (Auth(type="none"), WIRE, {}),
        (Auth(type="none", header="x-key"), OTHER, {}),
    ],
    ids=range(9),
)
def test_a_secret_rides_as_its_vendor_wants_it(
    auth: Auth, wire: WireFormat, expected: dict[str, str]
) -> None:
    assert authorization(target(provider("a", auth=auth)), account(), wire) == expected
    assert authorization(target(provider("a", auth=auth)), account(None), wire) == {}


def test_only_named_client_headers_go_along_and_only_in_one_format() -> None:
    sent = {"x-beta": "b", "x-version": "2", "cookie": "c", "authorization": "mine"}
    same = headers(call(format="w", headers=sent), target(SPEC), account(), WIRE)
    other = headers(call(format="o", headers=sent), target(SPEC), account(), WIRE)

    assert same == {
        "content-type": "application/json",
        "x-version": "2",
        "x-beta": "b",
        "authorization": "Bearer s3",
    }
    assert (other["x-version"], "x-beta" in other) == ("1", False)


def test_a_vendors_time_is_told_in_seconds() -> None:
    slow = provider("a", base_url="u", timeout_ms=1500)

    made = request(call(), target(slow), account(), WIRE, b"{}", "/p")

    assert (made.url, made.body, made.first_byte_timeout) == ("u/p", b"{}", 1.5)


def test_a_models_own_times_win_over_its_providers_under_any_of_its_names() -> None:
    spec = target(provider("acme", alias="a", base_url="u", format="openai", timeout_ms=1500))
    both = ModelTimeouts(timeout_ms=2000, stall_timeout_ms=3000)

    found = [
        EndpointCache({"openai": CHAT}, timeouts).find(spec, account(), CHAT, stream=True)
        for timeouts in ({}, {"acme": both}, {f"a/{spec.model.id}": both, "acme": ModelTimeouts()})
    ]

    assert [(each.patience, each.silence) for each in found] == [(1.5, None), (2, 3), (2, 3)]


def test_a_request_says_whether_its_answer_is_streamed() -> None:
    ways, spec = EndpointCache({"openai": CHAT}), target(provider("a", format="openai"))

    for stream in (True, False):
        way = ways.find(spec, account(), CHAT, stream=stream)
        assert way.request(call(format="openai"), b"{}").whole is not stream


def test_a_way_is_worked_out_once_for_each_account_model_and_format() -> None:
    ways, one = EndpointCache({"openai": CHAT}), account()
    spec = target(provider("acme", format="openai", base_url="https://a/v1"))

    way = ways.find(spec, one, CHAT, stream=False)

    assert way.url == "https://a/v1/chat/completions"
    assert ways.find(spec, one, CHAT, stream=False) is way
    assert ways.find(spec, account("new"), CHAT, stream=False).headers["authorization"] == (
        "Bearer new"
    )
    moved = target(provider("acme", format="openai", base_url="https://b"))
    assert ways.find(moved, one, CHAT, stream=False).url == "https://b/chat/completions"


def test_a_vendors_own_code_is_asked_for_each_call() -> None:
    received: list[str] = []

    def builder(target: object, account: object, path: str) -> str:
        received.append(path)
        return f"https://a/{len(received)}"

    ways, one = EndpointCache({"openai": CHAT}), account()
    spec = target(provider("acme", format="openai", url_builder=builder))

    assert [ways.find(spec, one, CHAT, stream=False).url for _ in range(2)] == [
        "https://a/1",
        "https://a/2",
    ]


def test_what_a_client_sends_along_is_of_its_own_call_only() -> None:
    ways, one = EndpointCache({"openai": CHAT}), account()
    spec = target(provider("acme", format="openai", base_url="https://a"))
    way = ways.find(spec, one, CHAT, stream=False)

    first = way.request(call(format="openai", headers={"openai-beta": "b"}), b"{}")
    second = way.request(call(format="openai"), b"{}")

    assert first.headers["openai-beta"] == "b"
    assert "openai-beta" not in second.headers
    assert second.headers["authorization"] == "Bearer s3"


def test_what_an_executor_changes_in_the_headers_is_sent() -> None:
    def execute() -> None: ...

    plain = provider("p", format="openai", base_url="https://a")
    executed = replace(plain, executor=execute)
    for spec, is_shared in ((plain, True), (executed, False)):
        way = EndpointCache({"openai": CHAT}).find(target(spec), account(), CHAT, stream=False)
        received = way.request(call(format="openai"), b"{}")

        assert isinstance(received.headers, Lasting) is is_shared

    shown = received.headers
    assert isinstance(shown, dict)
    first = write_head("POST", "/p HTTP/1.1\r\n", shown, 2)
    shown["authorization"] = "Bearer renewed"
    second = write_head("POST", "/p HTTP/1.1\r\n", shown, 2)

    assert b"s3" in first
    assert b"renewed" in second
