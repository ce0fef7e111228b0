"""The protocol of HTTP/2 by itself, as h2 keeps it, with what we offer to a client."""

import logging

from h2.config import H2Configuration
from h2.connection import ConnectionInputs, H2Connection, H2ConnectionStateMachine
from h2.events import Event
from h2.settings import SettingCodes, Settings

from .limits import Limits
from .multiplexed import STREAMS, WINDOW
from .pseudo_heads import list_size

# At DEBUG it writes out the headers of every request.
logging.getLogger("hpack").setLevel(logging.INFO)


class Course(H2ConnectionStateMachine):
    """What may come when on a connection. A client's farewell changes nothing about that."""

    def process_input(self, input_: ConnectionInputs) -> list[Event]:
        if input_ is ConnectionInputs.RECV_GOAWAY:
            return []  # What is open goes on to its end: RFC 9113, section 6.8.
        return super().process_input(input_)


class Engine(H2Connection):
    """One connection's protocol."""

    MAX_CLOSED_STREAMS = 10 * STREAMS
    """Of so many it is known how they ended."""

    def clear_outbound_data_buffer(self) -> None:
        """A client that says farewell still wants what is on its way to it."""


def engine_of(limits: Limits) -> H2Connection:
    """Tells the client what may be asked of us."""
    # Headers of answers are checked before they get here; here a bad one would be found when
    # others before it have changed the table of headers, which the client then cannot follow.
    config = H2Configuration(
        client_side=False, header_encoding=None, validate_outbound_headers=False
    )
    engine = Engine(config)
    engine.state_machine = Course()
    engine.local_settings = Settings(
        client=False,
        initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS,
            SettingCodes.MAX_HEADER_LIST_SIZE: list_size(limits),
            SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
            SettingCodes.ENABLE_CONNECT_PROTOCOL: 0,
        },
    )
    # Somewhat more is read, so that the client gets to know why it is too much.
    engine.decoder.max_header_list_size = 2 * list_size(limits)
    return engine
