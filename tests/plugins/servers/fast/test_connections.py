"""What connections share: one that goes wrong is no harm to the others."""

import asyncio

from gateway_server_fast.connections import ConnectionManager

from gateway_core import ServerLimits


class Guest:
    """A connection that notes what is done to it."""

    def __init__(self, *, is_broken: bool) -> None:
        self.is_broken = is_broken
        self.looked = self.aborted = False

    def on_tick(self, now: float) -> None:
        self.looked = True
        if self.is_broken:
            raise ValueError("a test")

    def close_idle(self) -> None: ...

    def start_drain(self) -> None: ...

    def abort(self) -> None:
        self.aborted = True
        if self.is_broken:
            raise ValueError("a test")


def test_a_connection_that_fails_does_not_keep_others_from_being_timed() -> None:
    async def main() -> tuple[list[Guest], int]:
        manager = ConnectionManager(ServerLimits())
        guests = [Guest(is_broken=number < 5) for number in range(10)]
        manager.connections.update(guests)
        manager.tick()
        return guests, len(manager.connections)

    guests, left = asyncio.run(main())

    assert left == 5
    assert all(each.looked for each in guests)
    assert [each.aborted for each in guests] == [True] * 5 + [False] * 5
