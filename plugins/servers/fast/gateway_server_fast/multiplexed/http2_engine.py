"""HTTP/2's protocol state, as h2 keeps it, with the settings that we announce to a client."""

import logging

from h2.config import H2Configuration
from h2.connection import ConnectionInputs, H2Connection, H2ConnectionStateMachine
from h2.events import Event
from h2.settings import SettingCodes, Settings

from gateway_core import ServerLimits

from .request_head import max_list_size

MAX_STREAMS = 100
"""How many requests of a connection may run. RFC 9113, section 6.5.2, asks for no fewer."""
STREAM_WINDOW = 256 * 1024
"""How much of one body a client may send before the application receives it."""

# At DEBUG it logs the headers of every request, keys included.
logging.getLogger("hpack").setLevel(logging.INFO)


class LenientStateMachine(H2ConnectionStateMachine):
    """Lets streams go on after a client's GOAWAY."""

    def process_input(self, input_: ConnectionInputs) -> list[Event]:
        # RFC 9113, section 6.8: GOAWAY lets streams that are open complete.
        if input_ is ConnectionInputs.RECV_GOAWAY:
            return []
        return super().process_input(input_)


class LenientConnection(H2Connection):
    """One connection's protocol state."""

    MAX_CLOSED_STREAMS = 10 * MAX_STREAMS
    """For so many it is remembered how they ended."""

    def clear_outbound_data_buffer(self) -> None:
        """h2 drops unsent data at a GOAWAY, but the client still waits for its responses."""


def create_engine(limits: ServerLimits) -> H2Connection:
    """The state of a new connection."""
    # Response headers are checked before they reach h2, which would find a bad one only after
    # the ones before it have changed the HPACK table, and the client's would differ.
    config = H2Configuration(
        client_side=False, header_encoding=None, validate_outbound_headers=False
    )
    engine = LenientConnection(config)
    engine.state_machine = LenientStateMachine()
    engine.local_settings = Settings(
        client=False,
        initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: MAX_STREAMS,
            SettingCodes.MAX_HEADER_LIST_SIZE: max_list_size(limits),
            SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
            # RFC 8441, section 3: a client may open WebSockets.
            SettingCodes.ENABLE_CONNECT_PROTOCOL: 1,
        },
    )
    # Twice as much is decoded, so that the client gets a response that says what is too large.
    engine.decoder.max_header_list_size = 2 * max_list_size(limits)
    return engine
