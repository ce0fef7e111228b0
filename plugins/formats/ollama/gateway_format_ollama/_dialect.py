"""What several modules of this dialect share."""

import msgspec

BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding JSON from outside may raise."""

DIALECT = "ollama"
