"""Executes a Containerfile in a plain folder: no engine, no root, the same steps.

What an image has at ``/opt``, ``/data``, ``/src`` or ``/tmp`` lies in the folder instead, and
belongs to whoever runs the test. The interpreter of the base image is this one. A step that
is not known here is an error, so that nothing of the file goes untested by accident.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

OWN = re.compile(r"(?<![\w.])/(?=(?:opt|data|src|tmp)\b)")
"""Prefixes of the image's paths that are in the folder."""
FOREIGN = (
    "PYTHON",
    "VIRTUAL_ENV",
    "COV_",
    "DATA_DIR",
    "GATEWAY_",
    "PORT",
    "HOSTNAME",
    "UV_PROJECT",
)
"""Prefixes of variables of the test's process that a builder does not have."""


class Step(NamedTuple):
    """One instruction, its lines joined."""

    word: str
    rest: str


def steps(text: str) -> list[Step]:
    """The instructions of a Containerfile, in order."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


class Ignored:
    """The patterns of an ignore file; the last one that matches decides."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        words = [line for line in lines if line and not line.startswith("#")]
        self._rules = [(_pattern(word.lstrip("!")), word.startswith("!")) for word in words]

    def __contains__(self, path: str) -> bool:
        """``path`` is relative to the context; its parents are matched too."""
        parts = path.split("/")
        paths = ["/".join(parts[: end + 1]) for end in range(len(parts))]
        ignored = False
        for pattern, is_kept in self._rules:
            if any(pattern.fullmatch(each) for each in paths):
                ignored = not is_kept
        return ignored


def _pattern(word: str) -> re.Pattern[str]:
    ways = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", word.strip("/"))
    return re.compile("".join(ways.get(part) or re.escape(part) for part in parts))


class Image:
    """The built image. ``root`` is the last stage's; ``env`` has the variables of its ENV lines."""

    def __init__(self, file: Path, ignore: Path, folder: Path) -> None:
        self.context = file.parent
        self.ignored = Ignored(ignore.read_text("utf-8"))
        self.steps = steps(file.read_text("utf-8"))
        self.root = folder / "root"
        self.env: dict[str, str] = {}
        self.written: dict[str, str] = {}
        self._folder = folder
        self._at = self.root
        self._stage = ""

    def build(self) -> None:
        """Execute every step. Raises CalledProcessError."""
        for step in self.steps:
            getattr(self, f"_{step.word.lower()}", self._say)(step)

    def words(self, instruction: str) -> list[str]:
        """An instruction in its exec form, with its paths in the folder."""
        found = self.written[instruction]
        return [self.rooted(word) for word in json.loads(found[found.index("[") :])]

    def rooted(self, text: str) -> str:
        return OWN.sub(f"{self.root}/", text)

    def _say(self, step: Step) -> None:
        known = {"USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT"}
        assert step.word in known, f"{step.word} is not known here"
        self.written[step.word] = step.rest

    def _arg(self, step: Step) -> None:
        assert re.fullmatch(r"BASE=\S+", step.rest)

    def _from(self, step: Step) -> None:
        """The previous stage stays in a folder of its own, for COPY --from."""
        if self.root.exists():
            self.root.rename(self._folder / f"stage-{self._stage}")
        base, _, self._stage = step.rest.partition(" AS ")
        assert base == "${BASE}"
        for name in ("opt", "tmp"):
            (self.root / name).mkdir(parents=True)
        self._at, self.env = self.root, {}

    def _workdir(self, step: Step) -> None:
        self._at = Path(self.rooted(step.rest))
        self._at.mkdir()

    def _env(self, step: Step) -> None:
        self.env |= dict(word.split("=", 1) for word in shlex.split(self.rooted(step.rest)))

    def _copy(self, step: Step) -> None:
        *options, target = shlex.split(step.rest)
        names = [word for word in options if not word.startswith("--")]
        stage = next((word[7:] for word in options if word.startswith("--from=")), None)
        goal = self._at / self.rooted(target)
        if stage is not None:
            (name,) = names
            shutil.copytree(self._folder / f"stage-{stage}{name}", goal, symlinks=True)
            return
        for name in names:
            self._copy_own(name, goal, is_into=target.endswith("/"))

    def _copy_own(self, name: str, goal: Path, *, is_into: bool) -> None:
        source = self.context / name
        if source.is_dir():
            for file in self._kept(source):
                _put(file, goal / file.relative_to(source))
        else:
            assert name not in self.ignored, name
            _put(source, goal / source.name if is_into else goal)

    def _kept(self, folder: Path) -> Iterator[Path]:
        for place, inner, names in os.walk(folder):
            here = Path(place)
            inner[:] = [name for name in inner if not self._is_ignored(here / name)]
            yield from (here / name for name in names if not self._is_ignored(here / name))

    def _is_ignored(self, path: Path) -> bool:
        return path.relative_to(self.context).as_posix() in self.ignored

    def _run(self, step: Step) -> None:
        me = {"-o 10001": f"-o {os.getuid()}", "-g 10001": f"-g {os.getgid()}"}
        text = self.rooted(step.rest)
        for image, here in me.items():
            text = text.replace(image, here)
        subprocess.run(["/bin/sh", "-ec", text], cwd=self._at, env=self._builder(), check=True)

    def _builder(self) -> Mapping[str, str]:
        """The base's interpreter comes first, after the image's own entries."""
        outside = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        python = str(Path(sys.base_prefix) / "bin")
        path = os.pathsep.join((python, outside["PATH"]))
        if "PATH" in self.env:
            path = os.pathsep.join((self.env["PATH"].split(os.pathsep)[0], path))
        return {**outside, **self.env, "PATH": path}


def _put(file: Path, goal: Path) -> None:
    goal.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, goal)
