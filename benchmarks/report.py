"""Results as tables in Markdown, for the terminal and for README.md."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from .results import Results
from .rounds import Line
from .targets import targets

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- the last table -->", "<!-- end of the last table -->"
OTHERS = "<!-- beside others -->", "<!-- end of beside others -->"
_HEAD = (
    *("peer", "CPU µs", "low–high", "÷ nginx", "÷ bare nginx", "p50", "p99", "added p50"),
    *("first byte p50", "p99", "answers/s", "errors", "RSS MiB"),
)


def report(results: Results) -> str:
    """All results of a run."""
    parts = [_about(results), "### Targets", _targets(results), *_scenarios(results.lines)]
    if results.grown:
        parts += ["### Large installations", _grown(results)]
    if results.lifetime or results.workers:
        parts += ["### Start, memory, workers", _lifetime(results)]
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns line up."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = [
        "| "
        + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([drawn[0], rule, *drawn[1:]])


def beside_others(results: Results) -> str:
    """The results of a run with other gateways."""
    return "\n\n".join((_about(results), *_scenarios(results.lines))) + "\n"


def placed(text: str, fresh: str, marks: tuple[str, str] = (BEGIN, END)) -> str:
    """A page with another text between the two marks."""
    begin, end = marks
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{fresh}\n{end}{after}"


def into_readme(fresh: str, marks: tuple[str, str] = (BEGIN, END), path: Path = README) -> None:
    """Put a run's tables into the page of this folder."""
    path.write_text(placed(path.read_text(), fresh, marks))


def microseconds(value: float | None) -> str:
    """A time, with its unit and few digits."""
    if value is None:
        return ""
    if abs(value) < 10_000:
        return f"{value:.0f} µs"
    return f"{value / 1000:.0f} ms"


def _about(results: Results) -> str:
    machine = results.machine
    versions = ", ".join(f"{name} {number}" for name, number in results.versions.items())
    lines = [
        f"Taken at {results.taken_at} on {machine.cores} cores of {machine.processor}, "
        f"Linux {machine.kernel}, Python {machine.python}; load average at the start "
        f"{machine.load:.1f}.",
        f"Versions: {versions}.",
        *results.notes,
    ]
    return "\n".join(lines)


def _targets(results: Results) -> str:
    rows = [
        (
            target.name,
            f"{'≥' if target.is_least else '≤'} {target.limit:g} {target.unit}",
            "" if target.measured is None else f"{target.measured:.2f} {target.unit}",
            target.verdict,
            target.beside,
        )
        for target in targets(results)
    ]
    return table(("target", "limit", "measured", "", ""), rows)


def _scenarios(lines: Sequence[Line]) -> Iterator[str]:
    for name in dict.fromkeys(line.scenario for line in lines):
        yield f"### {name}"
        yield table(_HEAD, (_row(line) for line in lines if line.scenario == name))


def _row(line: Line) -> Sequence[str]:
    return (
        line.peer,
        f"{line.cpu:.0f}",
        f"{line.cpu_low:.0f}–{line.cpu_high:.0f}",
        _number(line.to_nginx),
        _number(line.to_bare_nginx),
        microseconds(line.p50),
        microseconds(line.p99),
        microseconds(line.added_p50),
        microseconds(line.first50),
        microseconds(line.first99),
        f"{line.rate:.0f}",
        str(line.errors),
        _number(line.rss),
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _grown(results: Results) -> str:
    head = ("what", "from", "to", "CPU µs", "CPU µs", "÷", "p50", "p50", "start s", "start s")
    rows = [
        (
            grown.name,
            f"{grown.small:,}",
            f"{grown.large:,}",
            f"{grown.small_cpu:.0f}",
            f"{grown.large_cpu:.0f}",
            f"{grown.ratio or 0:.2f}",
            microseconds(grown.small_p50),
            microseconds(grown.large_p50),
            f"{grown.small_start:.2f}",
            f"{grown.large_start:.2f}",
            f"{grown.small_rss:.0f}",
            f"{grown.large_rss:.0f}",
        )
        for grown in results.grown
    ]
    return table((*head, "RSS MiB", "RSS MiB"), rows)


def _lifetime(results: Results) -> str:
    rows: list[Sequence[str]] = []
    if life := results.lifetime:
        rows += [
            ("until /api/health answers", f"{life.start:.2f} s (at most {life.start_high:.2f} s)"),
            ("memory when idle", f"{life.idle:.1f} MiB"),
            (f"after {life.early_answers:,} answers", f"{life.early:.1f} MiB"),
            (f"after {life.late_answers:,} more", f"{life.late:.1f} MiB"),
        ]
    for each in results.workers:
        notes = (
            f"{each.one:.0f} and {each.two:.0f}: {each.ratio:.2f} times; "
            f"an answer costs {each.cost_one:.0f} and {each.cost_two:.0f} µs"
        )
        rows.append((f"{each.mode}: answers/s with 1 and 2 workers, {each.where}", notes))
    return table(("what", "measured"), rows)
