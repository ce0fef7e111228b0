"""Programs that a measurement needs: found, or installed with a message."""

import os
import shutil
import subprocess
import sys


class ToolMissing(Exception):
    """A program is not installed; the message says how to get it."""


def found(name: str, package: str) -> str:
    """The path of a program, installed with apt-get where that may be done. Raises ToolMissing."""
    path = path_of(name)
    apt = shutil.which("apt-get")
    if path is None and apt and os.geteuid() == 0:
        print(f"{name} is missing; installing {package} with apt-get", file=sys.stderr)
        subprocess.run([apt, "update", "-qq"], check=False)
        command = [apt, "install", "-y", "-qq", "--no-install-recommends", package]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        path = path_of(name)
    if path is None:
        raise ToolMissing(f"{name} is not installed; try: apt-get install {package}")
    return path


def path_of(name: str) -> str | None:
    """Where a program is, also where only administrators look."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
