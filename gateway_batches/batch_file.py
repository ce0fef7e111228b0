"""Files of a batch's owner that are written line by line: its requests, and its results."""

from gateway_files.kept_elsewhere import AnyStore, AnyWriter
from gateway_files.record import FileRecord

from .batch import Batch
from .folder import PIECE

INPUT, OUTPUT, ERRORS = "batch_input", "batch_output", "batch_error"
"""Purposes of the files."""


def file_name(batch: Batch, name: str) -> str:
    return f"{batch.id}-{name}.jsonl"


class BatchFile:
    """One file, begun with its first line."""

    def __init__(self, files: AnyStore, batch: Batch, purpose: str, name: str) -> None:
        self._files, self._batch, self._purpose, self._name = files, batch, purpose, name
        self._writer: AnyWriter | None = None
        self._waiting = bytearray()

    def write(self, line: bytes) -> None:
        if self._writer is None:
            name = file_name(self._batch, self._name)
            self._writer = self._files.create(self._batch.owner, name, self._purpose)
        self._waiting += line
        if len(self._waiting) >= PIECE:
            self._writer.write(bytes(self._waiting))
            self._waiting.clear()

    def finish(self) -> FileRecord | None:
        """The file; ``None`` where no line was written."""
        if self._writer is None:
            return None
        self._writer.write(bytes(self._waiting))
        return self._writer.finish()

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.abandon()
