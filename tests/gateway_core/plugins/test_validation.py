"""What may be wrong with a format or a provider, and in which words that is said."""

from typing import Any

import pytest
from msgspec.structs import replace
from parametrize_ids import parametrize_id

from gateway_core import (
    Auth,
    Endpoint,
    Intake,
    Interceptor,
    Kind,
    Model,
    OAuth,
    ProviderSpec,
    Service,
    WireFormat,
)
from gateway_core.plugins.validation import (
    contract_faults,
    format_faults,
    mended,
    provider_faults,
)

VENDOR_FORMATS = {"plain", "other"}


class Client:
    """Has what a client side must have."""

    def nothing(self, *given: object) -> Any: ...

    read_request = write_reply = stream_writer = write_error = nothing


class Vendor:
    """Has what a vendor side must have."""

    def nothing(self, *given: object) -> Any: ...

    write_request = read_reply = stream_reader = read_error = path = relay = nothing


class Speaker:
    def open(self, call: Any, target: Any, credential: Any) -> Any: ...


SPEAKER = Speaker()
PLAIN = WireFormat(id="plain", dialect="plain", client=Client(), vendor=Vendor())


def endpoint(path: str) -> Endpoint:
    return Endpoint(path=path, read=lambda path, headers, members: Intake("m", False))


def spec(**fields: Any) -> ProviderSpec:
    return ProviderSpec(**{"id": "acme", "name": "Acme", "format": "plain", **fields})


def faults(**fields: Any) -> list[str]:
    return provider_faults(spec(**fields), VENDOR_FORMATS)


@pytest.mark.parametrize("id", ["", "Acme", "-acme", "ac me", "ac/me", "acmé", "acme\n"])
def test_an_id_must_have_the_shape_of_an_id(id: str) -> None:
    reported = f"the id {id!r} may hold only small letters, digits and . _ - and no mark in front"

    assert faults(id=id) == [reported]
    assert format_faults(replace(PLAIN, id=id)) == [reported]


@pytest.mark.parametrize("id", ["acme", "302ai", "ac-me", "ac.me", "ac_me"])
def test_usual_ids_are_accepted(id: str) -> None:
    assert faults(id=id) == []


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"format": "absent"}, "speaks the format 'absent', but no vendor format of that name"),
        ({"base_url": "https://a.example/v1/"}, "base_url ends with a slash"),
        ({"base_url": "ftp://a.example"}, "base_url must be an http or https URL"),
        ({"base_url": "a.example/v1"}, "base_url must be an http or https URL"),
        ({"base_url": "https:///v1"}, "base_url must be an http or https URL"),
        ({"base_url": "https://a.example/v 1"}, "base_url must be an http or https URL"),
        ({"base_url": "https://a.example/\n"}, "base_url must be an http or https URL"),
        ({"base_url": "https://[a"}, "base_url is not a URL"),
        ({"base_url": "https://a.example/v1?x=1"}, "base_url has a query"),
        ({"base_url": "https://{region}.a.example/"}, "base_url ends with a slash"),
        ({"base_urls": ("https://a.example", "a")}, "base_urls must be an http or https URL"),
        ({"responses_url": "a"}, "responses_url must be an http or https URL"),
        ({"models_url": "/models"}, "models_url must be an http or https URL"),
        ({"keys_url": "console"}, "keys_url must be an http or https URL"),
        ({"other_formats": {"other": "a"}}, "other_formats['other'] must be an http or https"),
        ({"chat_path": "chat"}, "chat_path does not begin with a slash"),
        ({"timeout_ms": 0}, "timeout_ms must be above zero"),
        ({"timeout_ms": float("inf")}, "timeout_ms must be above zero"),
        ({"timeout_ms": float("nan")}, "timeout_ms must be above zero"),
        ({"default_context": 1 << 64}, "default_context is no number of tokens"),
        ({"headers": {"X-One": "1"}}, "the header name 'X-One' must be a word in lower case"),
        ({"headers": {"x one": "1"}}, "the header name 'x one' must be a word in lower case"),
        ({"headers": {"x-one": "1\r\nx: y"}}, "the value of the header 'x-one' holds a line"),
        ({"headers": {"authorization": "k"}}, "headers hold 'authorization', which belongs to"),
        ({"auth": Auth(header="x: y")}, "the header name 'x: y' must be a word"),
        ({"models": "m"}, "models must be tuple[Model, ...]"),
    ],
    ids=parametrize_id,
)
def test_a_provider_that_cannot_work_has_a_fault(fields: dict[str, Any], fault: str) -> None:
    reported = faults(**fields)

    assert len(reported) == 1
    assert reported[0].startswith(fault)


def test_every_fault_is_told() -> None:
    assert len(faults(id="A", format="absent", base_url="a/")) == 4


def test_a_login_flow_has_web_addresses() -> None:
    flow = OAuth(flow="pkce", authorize_url="https://a.example/", token_url="t", client_id="c")

    assert faults(oauth=flow) == ["token_url must be an http or https URL: 't'"]


@pytest.mark.parametrize("url", ["https://user:hunter2@a.example", "https://hunter2@{region}.a"])
def test_a_secret_in_a_url_is_a_fault_and_not_repeated(url: str) -> None:
    assert faults(base_url=url) == ["base_url holds a user name or password"]


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "http://127.0.0.1:11434"},
        {"base_url": "https://{region}.a.example/v1"},
        {"base_url": "{baseUrl}/v1"},
        {"models_url": "https://a.example/models/?all=1"},
        {"timeout_ms": 1},
        {"auth": Auth(header="X-API-Key")},
        {"url_suffix": "?beta=true", "chat_path": "/messages"},
    ],
    ids=parametrize_id,
)
def test_a_provider_that_can_work_has_no_fault(fields: dict[str, Any]) -> None:
    assert faults(**fields) == []


@pytest.mark.parametrize("answer", [5, None, "acme", PLAIN, ProviderSpec], ids=parametrize_id)
def test_an_answer_of_another_type_is_a_fault(answer: object) -> None:
    reported = [f"expected a ProviderSpec, got {type(answer).__name__}"]

    assert provider_faults(answer, VENDOR_FORMATS) == reported


@pytest.mark.parametrize(
    ("fields", "kept", "message"),
    [
        (
            {"models": (Model("m", name="one"), Model("n"), Model("m", name="two"))},
            {"models": (Model("m", name="one"), Model("n"))},
            "the model 'm' is listed twice as llm",
        ),
        (
            {"models": (Model("m", format="other"), Model("n", format="absent"))},
            {"models": (Model("m", format="other"),)},
            "the format 'absent' is left out, with 1 model: "
            "no vendor format of that name is loaded",
        ),
        (
            {"models": (Model(" m"), Model("org/m:free"))},
            {"models": (Model("org/m:free"),)},
            "a model is left out: its id ' m' cannot be written in a request",
        ),
        (
            {"models": (Model("m", context=0), Model("n", max_output=1), Model("o"))},
            {"models": (Model("n", max_output=1), Model("o"))},
            "the model 'm' is left out: it counts tokens that cannot be",
        ),
        (
            {"other_formats": {"other": "https://a.example", "absent": "https://b.example"}},
            {"other_formats": {"other": "https://a.example"}},
            "the format 'absent' is left out: no vendor format of that name is loaded",
        ),
        (
            {"services": (Service(Kind.SPEECH, SPEAKER), Service(Kind.SPEECH, Speaker()))},
            {"services": (Service(Kind.SPEECH, SPEAKER),)},
            "the service tts is listed twice",
        ),
        (
            {"alias": "a/b", "aliases": ("ac",)},
            {"alias": None, "aliases": ("ac",)},
            "the alias 'a/b' is left out: it may hold no slash and no space",
        ),
        (
            {"alias": ""},
            {"alias": None},
            "the alias '' is left out: it may hold no slash and no space",
        ),
    ],
    ids=["twice", "format", "id", "tokens", "other-format", "service", "alias", "no-alias"],
)
def test_a_part_that_cannot_be_used_is_left_out(
    fields: dict[str, Any], kept: dict[str, Any], message: str
) -> None:
    reported: list[str] = []

    assert mended(spec(**fields), VENDOR_FORMATS, reported.append) == spec(**{**fields, **kept})
    assert reported == [message]


def test_a_format_that_is_not_installed_is_told_once_with_what_to_install() -> None:
    models = tuple(Model(f"m-{number}", format="claude") for number in range(9))
    whole = spec(models=(*models, Model("n")), other_formats={"claude": "https://b.example"})
    reported: list[str] = []

    left = mended(whole, VENDOR_FORMATS, reported.append)

    assert (left.models, left.other_formats) == ((Model("n"),), {})
    assert reported == [
        "the format 'claude' is left out, with 9 models: no vendor format of that name is loaded "
        "(pip install model-gateway-format-claude)"
    ]
    assert faults(format="gemini")[0].endswith("(pip install model-gateway-format-gemini)")


def test_one_model_id_may_do_several_kinds_of_work() -> None:
    whole = spec(models=(Model("m"), Model("m", kind=Kind.IMAGE)), alias="Ac_1")
    reported: list[str] = []

    assert mended(whole, VENDOR_FORMATS, reported.append) is whole
    assert reported == []


@pytest.mark.parametrize(
    ("wire", "fault"),
    [
        (WireFormat(id="x", dialect="x"), "has neither a client nor a vendor side"),
        (replace(PLAIN, client=None, endpoints=(endpoint("/x"),)), "has endpoints for chat but"),
        (replace(PLAIN, endpoints=(endpoint("x"),)), "the endpoint path 'x' does not begin with"),
        (replace(PLAIN, vendor=Client()), "vendor must be VendorSide | None"),
        (replace(PLAIN, headers={"X": "1"}), "the header name 'X' must be a word in lower case"),
        (replace(PLAIN, base_url="https://a.example/"), "base_url ends with a slash"),
        ("plain", "expected a WireFormat, got str"),
    ],
    ids=parametrize_id,
)
def test_a_format_that_cannot_work_has_a_fault(wire: object, fault: str) -> None:
    reported = format_faults(wire)

    assert len(reported) == 1
    assert reported[0].startswith(fault)


def test_a_format_with_both_sides_has_no_fault() -> None:
    assert format_faults(replace(PLAIN, endpoints=(endpoint("/x"),))) == []


def test_an_interceptor_without_its_methods_is_a_fault() -> None:
    assert contract_faults(Interceptor, SPEAKER) == ["expected an Interceptor, got Speaker"]


@pytest.mark.parametrize(
    "host",
    [
        "api.acme.com",
        "api.acme.com:8443",
        "http://box:1",
        "[::1]:80",
        "*-x.acme.com",
        "a.*.acme.com",
    ],
)
def test_further_hosts_may_have_a_port_a_scheme_and_stars(host: str) -> None:
    assert faults(hosts=(host,)) == []


@pytest.mark.parametrize(
    "host",
    [
        *("", "*", "*.com", "a.*.com", "acme.*", "https://acme.com/v1", "acme.com/", "Acme.com"),
        *("me@acme.com", "acme.com:*", "ftp://acme.com", "a b.com", "аcme.com"),
    ],
)
def test_what_is_no_host_or_nearly_every_host_is_a_fault(host: str) -> None:
    [fault] = faults(hosts=(host,))

    assert repr(host) in fault
