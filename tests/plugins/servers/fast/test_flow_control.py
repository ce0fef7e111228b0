"""The two directions of a connection: nobody waits for a client that keeps up."""

import asyncio

from gateway_server_fast.http1.flow_control import FlowControl


class Ear(asyncio.Transport):
    """Counts how often it is told to listen or not."""

    def __init__(self) -> None:
        super().__init__()
        self.reported: list[str] = []
        self.waiting = 0

    def pause_reading(self) -> None:
        self.reported.append("pause")

    def resume_reading(self) -> None:
        self.reported.append("resume")

    def get_write_buffer_size(self) -> int:
        return self.waiting


def test_a_socket_is_told_only_what_is_new() -> None:
    ear = Ear()
    flow = FlowControl(ear)

    flow.resume_reading()
    flow.pause_reading()
    flow.pause_reading()
    flow.resume_reading()
    flow.resume_reading()

    assert ear.reported == ["pause", "resume"]


def test_a_client_that_takes_nothing_is_silent() -> None:
    ear = Ear()
    flow = FlowControl(ear)
    silences = []

    for now, waiting in enumerate([0, 9, 9, 9, 8, 8, 0, 0], start=100):
        ear.waiting = waiting
        silences.append(flow.stalled_for(float(now)))

    assert silences == [0, 0, 1, 2, 0, 1, 0, 0]


def test_all_who_write_wait_until_the_client_goes_on() -> None:
    async def main() -> tuple[int, int]:
        flow = FlowControl(Ear())
        flow.pause_writing()
        waiting = [asyncio.create_task(flow.drain()) for _ in range(3)]
        await asyncio.sleep(0)
        before = sum(task.done() for task in waiting)
        flow.resume_writing()
        await asyncio.gather(*waiting)
        await flow.drain()
        return before, sum(task.done() for task in waiting)

    assert asyncio.run(main()) == (0, 3)
