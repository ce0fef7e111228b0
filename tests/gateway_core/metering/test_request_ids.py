"""Ids for requests."""

from uuid import UUID

from gateway_core.metering.request_ids import RequestIds


def test_ids_are_random_uuids_and_never_repeat() -> None:
    new = RequestIds()

    made = [new() for _ in range(1000)]

    assert len(set(made)) == 1000
    assert all(str(UUID(id)) == id and UUID(id).version == 4 for id in made)
    assert {UUID(id).variant for id in made} == {"specified in RFC 4122"}


def test_each_drawn_byte_is_used_once() -> None:
    drawn = iter(range(1, 256))
    new = RequestIds(lambda size: bytes([next(drawn)]) * size)

    assert [new()[:2] for _ in range(257)] == ["01"] * 256 + ["02"]
