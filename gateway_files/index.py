"""The records of all files, in memory, in step with the folder that they are in.

Other processes of the gateway change the folder too, and so may an operator. When its state is
another one its names are compared, and only new records are read.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from .ids import is_id
from .record import FileRecord, read_record


class State(NamedTuple):
    """Shows that the folder has changed."""

    changes: int
    """That the gateway's processes have made. Two within one tick of the file system's clock have
    the same time."""
    modified: int
    """The folder's time of change, which an operator's changes have too."""


class Usage(NamedTuple):
    """What an owner has."""

    bytes: int
    files: int


NOTHING = Usage(0, 0)


class Index:
    """Not for several threads at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = State(-1, 0)
        self._owners: dict[str, str] = {}
        """By the ids of files; of a damaged file the owner is empty."""
        self._files: dict[str, dict[str, FileRecord]] = {}
        self._usage: dict[str, Usage] = {}
        self._expiring: dict[str, FileRecord] = {}

    def sync(self, state: State) -> None:
        """Take in what has changed; ``state`` is older than this call. Raises OSError."""
        if state == self._seen:
            return
        with os.scandir(self._folder) as entries:
            names = {entry.name for entry in entries if is_id(entry.name)}
        for id in self._owners.keys() - names:
            self.remove(id)
        for id in names - self._owners.keys():
            record = read_record(self._folder / id)
            if record is None:
                self._owners[id] = ""
            else:
                self.add(record)
        self._seen = state

    def skip(self, state: State) -> None:
        """The state after a change that ``add`` or ``remove`` has already made here."""
        self._seen = state

    def add(self, record: FileRecord) -> None:
        owner = record.owner
        self._owners[record.id] = owner
        self._files.setdefault(owner, {})[record.id] = record
        used = self.usage(owner)
        self._usage[owner] = Usage(used.bytes + record.bytes, used.files + 1)
        if record.expires_at is not None:
            self._expiring[record.id] = record

    def remove(self, id: str) -> None:
        """Forget a file, if it is known."""
        owner = self._owners.pop(id, "")
        record = self._files.get(owner, {}).pop(id, None)
        self._expiring.pop(id, None)
        if record is None:
            return
        used = self.usage(owner)
        self._usage[owner] = Usage(used.bytes - record.bytes, used.files - 1)
        if not self._files[owner]:
            del self._files[owner], self._usage[owner]

    def of(self, owner: str) -> Mapping[str, FileRecord]:
        """The files of an owner, by their ids."""
        return self._files.get(owner, {})

    def all(self) -> Iterator[FileRecord]:
        """The files of every owner."""
        return chain.from_iterable(files.values() for files in self._files.values())

    def usage(self, owner: str) -> Usage:
        return self._usage.get(owner, NOTHING)

    def usages(self) -> Mapping[str, Usage]:
        """What each owner of files has."""
        return dict(self._usage)

    def expired(self, now: float) -> list[FileRecord]:
        return [record for record in self._expiring.values() if record.is_expired(now)]
