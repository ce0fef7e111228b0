"""A gateway that profiles itself between two signals: SIGUSR1 begins, SIGUSR2 ends and writes.

    python -m benchmarks.under_profile PORT DATA_DIR FILE

Only the thread that serves is profiled; the database has threads of its own.
"""

import cProfile
import signal
import sys
from types import FrameType

from gateway_cli.serving import serve
from gateway_core.config.environment import from_environ


def main() -> None:
    port, data_dir, file = sys.argv[1:]
    profile = cProfile.Profile()

    def begin(number: int, frame: FrameType | None) -> None:
        profile.enable()

    def end(number: int, frame: FrameType | None) -> None:
        profile.disable()
        profile.dump_stats(file)

    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, end)
    serve(from_environ({"DATA_DIR": data_dir}), "127.0.0.1", int(port))


if __name__ == "__main__":
    main()
