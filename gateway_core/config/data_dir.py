"""The data directory: its layout, its permissions, its lock and its secret files.

```text
DATA_DIR/                 0700
  gateway.lock            held by the one gateway that runs on this directory
  gateway.address         where that one listens; locked as long as it does
  started                 a marker: a start has once come through, so data is expected
  machine-id              raw id of this install
  api-key-secret          signs gateway keys
  master-key              seals secrets in the database
  gateway-database.env    which database the next start uses, if it was chosen in the dashboard
  auth/cli-secret         lets the command line speak to its own gateway
  db/data.sqlite          the database
  db/served, db/change    which database the processes serve, and the right to change it
  db/backups/             snapshots of it
  db/journal/             finished requests that are not in it yet
  files/                  files of clients: see gateway_files/store.py
  batches/                rows of batches: see gateway_batches/folder.py
  plugin-data/NAME/       what a plugin keeps for itself, once it asks for a place
```

Every file is 0600 from its first moment, and is replaced whole or not at all.
"""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote
from uuid import uuid4

from .environment import Environment
from .errors import DataDirInUse, DataDirUnusable, SecretLost

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

SECRET_BYTES = 32
PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
_OWN_DIRECTORIES = ("auth", "db", "db/backups", "db/journal")
_OWN_FILES = (
    "gateway.lock",
    "gateway.address",
    "started",
    "machine-id",
    "api-key-secret",
    "master-key",
    "auth/cli-secret",
    "gateway-database.env",
    "db/data.sqlite",
    "db/data.sqlite-wal",
    "db/data.sqlite-shm",
)


def operating_system_id() -> str | None:
    """The machine id the operating system keeps, where it keeps one."""
    for path in (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id")):
        with suppress(OSError, UnicodeDecodeError):
            if text := path.read_text().strip():
                return text
    return None


class DataDir:
    """A data directory, made and with its permissions repaired; not locked until ``acquire``.

    One that is only looked at stays as it is, even when it is not there.
    """

    def __init__(
        self,
        path: Path,
        *,
        random: Callable[[int], bytes] = os.urandom,
        system_id: Callable[[], str | None] = operating_system_id,
        look_only: bool = False,
    ) -> None:
        """Prepare the directory. Raises DataDirUnusable."""
        self.path = path.absolute()
        self._random = random
        self._system_id = system_id
        self._lock: int | None = None
        if not look_only:
            for directory in (self.path, *(self.path / name for name in _OWN_DIRECTORIES)):
                try:
                    directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
                    _repair(directory, PRIVATE_DIRECTORY)
                except OSError as error:
                    raise _refused(directory, error) from error
            for name in _OWN_FILES:
                with suppress(FileNotFoundError):
                    _repair(self.path / name, PRIVATE_FILE)

    def __repr__(self) -> str:
        return f"DataDir({str(self.path)!r})"

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        record: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def database(self) -> Path:
        return self.path / "db" / "data.sqlite"

    @property
    def backups(self) -> Path:
        return self.path / "db" / "backups"

    @property
    def journal(self) -> Path:
        return self.path / "db" / "journal"

    @property
    def was_started(self) -> bool:
        """True once a start has come through, so that its data must be found again."""
        return (self.path / "started").exists()

    def mark_started(self) -> None:
        if not self.was_started:
            self.write("started", b"")

    def check(self) -> None:
        """See whether a gateway could begin here; nothing is made, repaired or kept.

        Raises DataDirUnusable, DataDirInUse.
        """
        try:
            # The nearest directory that exists: the others would be made in it.
            nearest = [each for each in (self.path, *self.path.parents) if each.exists()][:1]
            own = (self.path / name for name in _OWN_DIRECTORIES)
            for directory in (*nearest, *(each for each in own if each.exists())):
                if not directory.is_dir():
                    raise FileExistsError(errno.EEXIST, "There is a file")
                # Permissions of the gateway's own directories are repaired when it starts.
                may_repair = (
                    directory not in self.path.parents
                    and sys.platform != "win32"
                    and directory.stat().st_uid == os.geteuid()
                )
                if not (may_repair or os.access(directory, os.R_OK | os.W_OK | os.X_OK)):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise _refused(self.path, error) from error
        path = self.path / "gateway.lock"
        if not path.exists():
            return
        lock = self._open(path, os.O_RDWR)
        try:
            lock_exclusively(lock)
        except OSError as error:
            raise DataDirInUse(_in_use(self.path, _holder(lock))) from error
        finally:
            os.close(lock)

    def holder(self) -> int | None:
        """The process id of the gateway that runs here, if one does. Raises DataDirUnusable."""
        try:
            self.check()
        except DataDirInUse:
            holder = (self.path / "gateway.lock").read_bytes()
            return int(holder) if holder.isdigit() else None
        return None

    def acquire(self) -> None:
        """Keep every other gateway out until ``close``. Raises DataDirInUse."""
        if self._lock is not None:
            raise DataDirInUse(f"{self.path} is open in this gateway already.")
        lock = self._open(self.path / "gateway.lock", os.O_RDWR | os.O_CREAT)
        try:
            lock_exclusively(lock)
        except OSError as error:
            holder = _holder(lock)
            os.close(lock)
            raise DataDirInUse(_in_use(self.path, holder)) from error
        self._lock = lock
        with suppress(OSError):
            os.ftruncate(lock, 0)
            os.write(lock, str(os.getpid()).encode())
        # The first to open the database decides which one it is: see storage/agreement.py.
        with suppress(OSError):
            os.truncate(self.path / "db" / "served", 0)
        # A killed process leaves half-written files. Nobody else writes while this lock is held.
        for directory in (self.path, self.path / "auth"):
            for leftover in directory.glob(".*.tmp"):
                leftover.unlink(missing_ok=True)

    def close(self) -> None:
        """Let other gateways in. Does nothing when the lock is not held."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def machine_id(self, salt: str) -> str:
        """The public id of this install, 16 hex characters. Raises SecretLost."""
        raw = self.raw_machine_id()
        return hashlib.sha256(f"{raw}{salt}".encode()).hexdigest()[:16]

    def raw_machine_id(self) -> str:
        return self._read_or_create("machine-id", lambda: self._system_id() or str(uuid4()))

    def api_key_secret(self, environment: Environment) -> str:
        """What gateway keys are signed with. Raises SecretLost, DataDirUnusable."""
        if environment.api_key_secret is not None:
            return environment.api_key_secret
        return self._read_or_create("api-key-secret", self._new_secret)

    def cli_secret(self) -> str:
        return self._read_or_create("auth/cli-secret", self._new_secret)

    def gateway_name(self) -> str:
        """What the processes on this directory have in common, and others not."""
        return hashlib.sha256(f"gateway {self.cli_secret()}".encode()).hexdigest()[:8]

    def master_key(self, *, mint: bool) -> bytes:
        """The 32 bytes that everything sealed depends on.

        With ``mint`` a missing key is made; say so only when nothing is sealed
        yet. Raises SecretLost.
        """
        path = self.path / "master-key"
        if not mint and not path.exists():
            raise SecretLost(
                f"{path} is missing, but the database holds secrets sealed with it. "
                "Put the file back from a backup."
            )
        try:
            key = bytes.fromhex(self._read_or_create("master-key", self._new_secret))
        except ValueError as error:
            raise SecretLost(_damaged(path)) from error
        if len(key) != SECRET_BYTES:
            raise SecretLost(_damaged(path))
        return key

    def read(self, name: str) -> bytes | None:
        """A file's content, or ``None`` when there is no such file. Raises DataDirUnusable."""
        path = self.path / name
        try:
            _repair(path, PRIVATE_FILE)
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise DataDirUnusable(_unusable(path, "read", error)) from error

    def write(self, name: str, content: bytes) -> None:
        """Put a whole file in place, on disk before this returns. Raises DataDirUnusable."""
        path = self.path / name
        temporary = path.with_name(f".{path.name}.{self._random(8).hex()}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            # The new name is on disk only once its directory is: fsync(2).
            sync_directory(path.parent)
        except OSError as error:
            raise DataDirUnusable(_unusable(path, "written", error)) from error
        finally:
            temporary.unlink(missing_ok=True)

    def plugin_folder(self, name: str) -> Path:
        """A plugin's own folder, made if it is not there. Raises DataDirUnusable."""
        safe = quote(name, safe="")
        path = self.path / "plugin-data" / (f"%2E{safe[1:]}" if safe.startswith(".") else safe)
        try:
            path.parent.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
            path.mkdir(mode=PRIVATE_DIRECTORY, exist_ok=True)
        except OSError as error:
            raise DataDirUnusable(_unusable(path, "made", error)) from error
        return path

    def touch_database(self) -> None:
        """Make an empty database file with its permissions, unless there is a file."""
        os.close(self._open(self.database, os.O_RDWR | os.O_CREAT))
        sync_directory(self.database.parent)

    def _read_or_create(self, name: str, create: Callable[[], str]) -> str:
        content = self.read(name)
        if content is None:
            text = create()
            self.write(name, text.encode())
            return text
        try:
            text = content.decode().strip()
        except UnicodeDecodeError as error:
            raise SecretLost(_damaged(self.path / name)) from error
        if not text:
            raise SecretLost(_damaged(self.path / name))
        return text

    def _new_secret(self) -> str:
        return self._random(SECRET_BYTES).hex()

    def _open(self, path: Path, flags: int) -> int:
        try:
            return os.open(path, flags, PRIVATE_FILE)
        except OSError as error:
            raise DataDirUnusable(_unusable(path, "opened", error)) from error


def lock_exclusively(descriptor: int, *, wait: bool = False) -> None:
    """Lock a file for as long as it is open. Raises OSError when somebody else has it locked, and
    is not waited for."""
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _holder(descriptor: int) -> str:
    with suppress(OSError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        return os.read(descriptor, 20).decode("ascii", "replace").strip()
    return ""


def _in_use(path: Path, holder: str) -> str:
    who = f"another gateway (process {holder})" if holder else "another gateway"
    return f"{path} is in use by {who}. Stop it, or set DATA_DIR to another directory."


def _refused(directory: Path, error: OSError) -> DataDirUnusable:
    why = "There is a file" if isinstance(error, FileExistsError) else error.strerror
    return DataDirUnusable(
        f"The data directory {directory} cannot be used: {why}. "
        "Set DATA_DIR to a directory the gateway may write to."
    )


def _unusable(path: Path, what: str, error: OSError) -> str:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    advice = "Make room on its disk" if is_full else "See that the gateway may read and write it"
    return f"{path} cannot be {what}: {error.strerror}. {advice}."


def _damaged(path: Path) -> str:
    return f"{path} is damaged. Put the file back from a backup; it is not made anew by itself."


def _repair(path: Path, mode: int) -> None:
    if sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == mode:
        return
    # A mounted volume may belong to someone else; what the gateway writes in it is still 0600.
    with suppress(PermissionError):
        path.chmod(mode)


def sync_directory(path: Path) -> None:
    """Bring the names in a folder to disk. Raises OSError."""
    if sys.platform == "win32":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
