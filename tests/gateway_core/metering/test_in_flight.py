"""Requests that are on their way."""

from gateway_core import Model, ProviderSpec, Target
from gateway_core.metering.in_flight import InFlight, Waiting
from gateway_core.metering.request_record import RequestRecord

ACME = ProviderSpec(id="acme", name="Acme")


def record(model: str | None = "large", account: str = "c-1") -> RequestRecord:
    made = RequestRecord("r", "/v1/messages", "claude", 0.0)
    if model is not None:
        made.target, made.connection_id = Target(ACME, Model(model)), account
    return made


def test_requests_are_counted_by_what_they_wait_for() -> None:
    flight = InFlight()

    for each in (record(), record(), record("small"), record(account="c-2")):
        flight.begin(each)

    assert flight.groups() == {
        Waiting("large", "acme", "c-1"): 2,
        Waiting("small", "acme", "c-1"): 1,
        Waiting("large", "acme", "c-2"): 1,
    }


def test_a_request_that_was_not_sent_on_waits_for_nothing() -> None:
    flight = InFlight()

    flight.begin(record(None))

    assert len(flight) == 1
    assert flight.groups() == {}


def test_a_request_is_counted_where_it_is_now() -> None:
    flight = InFlight()
    request = record()
    flight.begin(request)

    request.connection_id = "c-9"

    assert flight.groups() == {Waiting("large", "acme", "c-9"): 1}


def test_an_end_ends_one_request_and_only_once() -> None:
    flight = InFlight()
    first, second = record(), record()
    flight.begin(first)
    flight.begin(second)

    flight.end(first)
    flight.end(first)
    flight.end(record())

    assert len(flight) == 1


def test_every_change_can_be_noticed() -> None:
    flight = InFlight()
    request = record()
    seen = [flight.changes]

    flight.begin(request)
    seen.append(flight.changes)
    flight.end(request)
    seen.append(flight.changes)

    assert len(set(seen)) == 3
