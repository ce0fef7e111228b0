"""Cases about commands: names of their own, and help for each."""

import re
from collections.abc import Iterator, Mapping

import click
from click.testing import CliRunner

from gateway_cli.main import cli
from gateway_kit.case import Case, CaseFailed, expect, expect_none
from gateway_kit.hook_calls import call_hook

from .harness import ExtensionHarness
from .subject import ExtensionUnderTest

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def command_cases(subject: ExtensionUnderTest) -> Iterator[Case]:
    name = f"{subject.module}: commands"

    async def own_names(harness: ExtensionHarness) -> None:
        root = _root()
        before = dict(_commands(root))
        _register(subject, root)
        after = dict(_commands(root))
        expect_none(
            f"{n} was there before" for n, command in before.items() if after.get(n) is not command
        )
        new = after.keys() - before.keys()
        expect(new, "it adds no command")
        last_words = {path: path.rpartition(" ")[2] for path in sorted(new)}
        expect_none(
            f"{path!r} is no name" for path, word in last_words.items() if not _NAME.fullmatch(word)
        )

    async def help_texts(harness: ExtensionHarness) -> None:
        root = _root()
        before = dict(_commands(root))
        _register(subject, root)
        expect_none(
            fault
            for path, command in _commands(root)
            if path not in before
            for fault in _help_faults(root, path, command)
        )

    yield Case(
        name=f"{name}: own names",
        advice="Add commands with cli.add_command under names that nobody has.",
        run=own_names,
    )
    yield Case(
        name=f"{name}: help",
        advice="Give every command a docstring, and do nothing before it is run.",
        run=help_texts,
    )


def _register(subject: ExtensionUnderTest, root: click.Group) -> None:
    try:
        call_hook(subject.plugin, "register_commands", {"cli": root})
    except (Exception, SystemExit) as error:  # the plugin's code may raise anything
        raise CaseFailed(f"register_commands raises {type(error).__name__}: {error}") from error


def _root() -> click.Group:
    """The command line as it is without plugins, for a plugin to add to."""
    copies = {
        name: click.Group(command.name, commands=dict(command.commands), help=command.help)
        if isinstance(command, click.Group)
        else command
        for name, command in cli.commands.items()
        # A gateway that has run in this process has added those of plugins.
        if getattr(command.callback, "__module__", "").startswith("gateway_cli.")
    }
    return click.Group("model-gateway", commands=copies)


def _commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command below a group, by the words that are typed."""
    members: Mapping[str, click.Command] = group.commands
    for name, command in members.items():
        path = f"{before} {name}".strip()
        yield path, command
        if isinstance(command, click.Group):
            yield from _commands(command, path)


def _help_faults(root: click.Group, path: str, command: click.Command) -> Iterator[str]:
    result = CliRunner().invoke(root, [*path.split(), "--help"])
    if result.exit_code != 0:
        last = (result.output.strip().splitlines() or [repr(result.exception)])[-1]
        yield f"{path} --help ends with {result.exit_code}: {last}"
    if not (command.help or "").strip():
        yield f"{path} does not say what it does"
