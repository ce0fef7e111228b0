"""The sub-command ``plugins check``: does a plugin fit the gateway, and does it behave?

Compatibility is read from the source; behaviour is tested by the kit's cases. An
extension needs an installed wire format; without one it is only read.
"""

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from gateway_cli.plugins_looking import as_json_option, show
from gateway_core.config.environment import Environment
from gateway_core.plugins import IMPORT_LIMIT, Found, PluginFolder
from gateway_core.plugins.guard import LoadGuard, PluginFailed

from .plugin_argument import find_plugin

if TYPE_CHECKING:
    from .compatibility import Comparison
    from .results import Results

MOST_BUGS = 30
LACKING = "Its cases were not run; they need more: "


@click.command("check")
@click.argument("plugin", metavar="NAME|MODULE|PATH")
@click.option("--against", metavar="VERSION", help="Of the gateway, or its hook protocol.")
@click.option("--live", is_flag=True, help="Ask the real vendor too, with the key that is set.")
@click.option(
    "--bugs",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=MOST_BUGS,
    default=0,
    metavar="[N]",
    help=f"Plant N bugs ({MOST_BUGS}) into copies of the plugin, and say how many are found.",
)
@as_json_option
@click.pass_obj
def check_command(
    environment: Environment,
    plugin: str,
    against: str | None,
    live: bool,
    bugs: int,
    as_json: bool,
) -> None:
    """Compare a plugin with the gateway's hooks and run the conformance cases."""
    folder = PluginFolder.of(environment.data_path)
    discovered = find_plugin(plugin, folder)
    comparison = _compared(discovered, against)
    if not as_json:
        for line in _comparison_lines(comparison):
            click.echo(line)
    try:
        results = _checked(discovered, folder, live) if against is None else None
    except PluginFailed as failure:
        if as_json:
            show({"comparison": comparison, "conformance": None})
        raise click.ClickException(f"{discovered.name} cannot be run: {failure.reason}") from None
    if as_json:
        show({"comparison": comparison, "conformance": results})
    else:
        for failed in results.failures if results is not None else ():
            click.echo(f"  failed   {failed.message}")
        if results is not None:
            for expected in results.expected:
                click.echo(f"  expected {expected.case}: {expected.reason}")
            click.echo(
                f"{results.passed} of {results.cases} cases pass; tier: {describe_tier(results)}."
            )
            if results.clients:
                click.echo(f"Seen with the client formats {', '.join(results.clients)}.")
    if bugs and results is not None:
        _hunt(discovered, bugs)
    if not comparison.fits or (results is not None and results.failures):
        sys.exit(1)


def describe_tier(results: "Results") -> str:
    """The tier with its exceptions, and what it says nothing of."""
    count = len(results.expected)
    but = f", but for {count} expected failure{'s' if count > 1 else ''}" if count else ""
    without = f", without {', '.join(results.lacks)}" if results.lacks else ""
    return f"{results.tier}{but}{without}"


def _hunt(discovered: Found, most: int) -> None:
    """Plant bugs into copies of the plugin, and say which of them are found."""
    from .bugs.hunt import hunt, source_of
    from .bugs.mutate import mutations

    plugin = source_of(discovered)
    bugs = mutations(plugin, most)
    found = tested = 0
    for finding in hunt(plugin, bugs, with_tests=True):
        found += finding.message is not None
        tested += finding.is_tested
        if finding.message is None and not finding.is_tested:
            click.echo(f"  missed   {finding.bug.name}")
    click.echo(f"{found} of {len(bugs)} bugs are found by the kit, {tested} by the plugin's tests.")


def _compared(discovered: Found, against: str | None) -> "Comparison":
    from .compatibility import compared
    from .interface import UnknownVersion

    try:
        return compared(discovered) if against is None else compared(discovered, against)
    except (UnknownVersion, OSError) as error:
        raise click.ClickException(str(error)) from None


def _checked(discovered: Found, folder: PluginFolder, live: bool) -> "Results | None":
    """Run the cases and keep what came of them; None where they cannot be run.

    Raises PluginFailed for a plugin that cannot be imported.
    """
    from .dev import log_output
    from .providers.conformance_options import BadConformanceOptions
    from .results import check, record
    from .results.case_run import NoKey
    from .results.steps import MissingRequirement

    with LoadGuard(IMPORT_LIMIT) as guard:
        guard.run(discovered.load)
    try:
        with log_output.without_repeats(partial(click.echo, err=True)):
            results = check(discovered, live=live, progress=_progress)
    except MissingRequirement as error:
        click.echo(f"{LACKING}{error}", err=True)
        return None
    except NoKey as error:
        raise click.ClickException(f"{discovered.name}: {error}") from None
    except BadConformanceOptions as error:
        raise PluginFailed(str(error)) from None
    try:
        record(folder, results)
    except OSError as error:
        click.echo(f"The result is not kept: {error}", err=True)
    return results


def _progress(done: int, of: int, name: str) -> None:
    """Show the progress on a terminal."""
    if sys.stderr.isatty():
        line = f"{done}/{of} {name}" if name else ""
        click.echo(f"\r\x1b[K{line[:78]}", nl=False, err=True)


def _comparison_lines(comparison: "Comparison") -> Iterator[str]:
    protocol = comparison.protocol
    speaks = (
        "does not say what it speaks" if protocol is None else f"speaks hook protocol {protocol}"
    )
    verdict = "fits" if comparison.fits else "does not fit"
    yield f"{comparison.plugin} {speaks} and {verdict} {comparison.against}."
    for each in comparison.findings:
        yield f"  {each.weight:<9}{each.detail}{f' ({each.place})' if each.place else ''}"
