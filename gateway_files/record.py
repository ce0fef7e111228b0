"""What is known of a file besides its content, and where that is written down."""

import logging
from pathlib import Path

import msgspec
from msgspec import Struct

META = "meta.json"
CONTENT = "content"
log = logging.getLogger(__name__)


class FileRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file. Times are in Unix seconds."""

    id: str
    bytes: int
    created_at: int
    filename: str
    purpose: str
    owner: str
    """The id of a key, or ``local``."""
    expires_at: int | None = None

    def is_expired(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now


_read = msgspec.json.Decoder(FileRecord).decode


def read_record(folder: Path) -> FileRecord | None:
    """The record of a file's folder; ``None``, and a line in the log, for one that is damaged."""
    try:
        record = _read((folder / META).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        log.warning("the file %s is left out: its record cannot be read (%s)", folder.name, error)
        return None
    return record if record.id == folder.name else None
