"""A group of commands that plugins may add to."""

import click

KIT_COMMANDS = {"cli": {"mock-vendor"}, "plugins": {"check", "dev", "new"}}
"""Commands of the kit for plugin authors, by the group that they belong to."""


class Commands(click.Group):
    """Loads the plugins' commands only when a command is not one of ours.

    So that serving does not load every plugin twice. A group within the command
    line is searched in the same way: plugins reach it as ``cli.commands[name]``.
    """

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        if own is None:
            _ask_plugins(ctx)
            own = super().get_command(ctx, cmd_name)
        if own is None and cmd_name in KIT_COMMANDS.get(self.name or "", ()):
            raise click.UsageError(
                f"{cmd_name} needs the kit: pip install 'model-gateway[kit]'", ctx
            )
        return own

    def list_commands(self, ctx: click.Context) -> list[str]:
        _ask_plugins(ctx)
        return super().list_commands(ctx)

    has_asked = False


def _ask_plugins(ctx: click.Context) -> None:
    """Let the plugins add their commands to the whole command line, once."""
    from .options import add_plugin_commands

    root = ctx.find_root().command
    if isinstance(root, Commands) and not root.has_asked:
        root.has_asked = True
        add_plugin_commands(root)
