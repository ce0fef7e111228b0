"""The files of one batch while it runs: the only place of this package that touches the disk.

```text
FILES_DIR/batches/<id>/
  input.jsonl          its rows; a second name or a copy of a file that its owner may delete
  part-<n>.jsonl       settled rows, one file for each process that has run the batch
  rest.jsonl           rows that never got an answer, once the batch is over
```

How many bytes of a part count is in the database, and is written after they are on the disk.
Every method blocks, and is to be called in a thread.
"""

import os
import shutil
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gateway_core.config.data_dir import PRIVATE_DIRECTORY, PRIVATE_FILE

FOLDER = "batches"
"""Below the folder for files and batches."""
INPUT, REST = "input.jsonl", "rest.jsonl"
PIECE = 64 * 1024


class BatchFolder:
    """The working files of a batch."""

    def __init__(self, place: Path, batch_id: str) -> None:
        self.path = place / FOLDER / batch_id

    def make(self) -> None:
        """Raises OSError."""
        self.path.parent.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        self.path.mkdir(mode=PRIVATE_DIRECTORY)

    def is_here(self) -> bool:
        return self.path.is_dir()

    def take_input(self, copy: Callable[[Path], None]) -> None:
        """Keep a file as the input, whatever becomes of it elsewhere. Raises OSError."""
        copy(self.path / INPUT)

    def write_rest(self, lines: Iterable[bytes]) -> None:
        """Write the rows without an answer: the whole file or none. Raises OSError."""
        path = self.path / f"{REST}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
        with os.fdopen(descriptor, "wb", PIECE) as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        path.replace(self.path / REST)

    def open_input(self) -> BinaryIO:
        """Raises OSError."""
        return (self.path / INPUT).open("rb", PIECE)

    def append(self, generation: int, length: int, lines: Sequence[bytes]) -> int:
        """Put lines behind the first ``length`` bytes of a part, on the disk before this returns.

        Gives the new length. What an earlier try has left behind there is overwritten. Raises
        OSError.
        """
        flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)
        part = os.open(self._part(generation), flags, PRIVATE_FILE)
        with os.fdopen(part, "wb", PIECE) as file:
            file.truncate(length)
            file.seek(length)
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
            return file.tell()

    def tail(self, generation: int, length: int) -> Iterator[bytes]:
        """The whole lines of a part behind those that count, without their ends.

        A last line without an end was being written when its process was killed.
        """
        try:
            with self._part(generation).open("rb") as file:
                file.seek(length)
                for line in file:
                    if line.endswith(b"\n"):
                        yield line[:-1]
        except FileNotFoundError:
            return

    def settled(self, parts: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        """Every settled line, and then every row without an answer.

        ``parts`` are generations and lengths. Raises OSError.
        """
        for generation, length in parts:
            if length == 0:
                continue
            with self._part(generation).open("rb", PIECE) as file:
                while file.tell() < length:
                    yield file.readline()
        rest = self.path / REST
        if rest.exists():
            with rest.open("rb", PIECE) as file:
                yield from file

    def remove_input(self) -> None:
        (self.path / INPUT).unlink(missing_ok=True)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    def _part(self, generation: int) -> Path:
        return self.path / f"part-{generation}.jsonl"


def remove_folders(place: Path, known: Container[str], age: float) -> None:
    """Remove folders that nobody needs and that were last changed so many seconds ago: a process
    was killed before it had stored their batch, or before it removed them itself."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(place / FOLDER):
            if entry.name not in known and time.time() - entry.stat().st_mtime > age:
                shutil.rmtree(entry.path, ignore_errors=True)
