"""What the toolkit fills in for a vendor of the usual kind, and what it leaves alone."""

from gateway_core import Auth, ProviderSpec
from gateway_providers import openai_compatible

BASE = "https://api.acme.example/v1"


def acme(**fields: object) -> ProviderSpec:
    return openai_compatible(ProviderSpec(id="acme", name="Acme", **fields))  # type: ignore[arg-type]


def test_the_usual_is_filled_in() -> None:
    spec = acme(base_url=BASE)

    assert spec.auth == Auth(scheme="bearer")
    assert spec.models_url == f"{BASE}/models"
    assert (spec.format, spec.base_url) == ("openai", BASE)


def test_what_is_said_stays() -> None:
    written = Auth(header="api-key", scheme="raw")

    spec = acme(base_url=BASE, auth=written, models_url="https://acme.example/list")

    assert (spec.auth, spec.models_url) == (written, "https://acme.example/list")


def test_whether_a_key_is_needed_says_nothing_of_how_it_rides() -> None:
    assert acme(auth=Auth(type="optional")).auth == Auth(type="optional", scheme="bearer")


def test_a_prefix_is_a_way_to_ride() -> None:
    assert acme(auth=Auth(prefix="Token")).auth == Auth(prefix="Token")


def test_without_an_address_there_is_no_list_of_models() -> None:
    assert acme().models_url is None
