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
    if any(
        (
            results.lifetime,
            results.workers,
            results.engines,
            results.kinds,
            results.first_page,
        )
    ):
        parts += ["### Start, memory, first page, workers", _lifetime(results)]
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


def _number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}"


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
    if page := results.first_page:
        work, script = page.overview_work, page.overview_script
        rows += [
            ("files until a person can sign in", f"{page.sign_in_bytes / 1000:.0f} kB"),
            ("files of the overview, with charts", f"{page.overview_bytes / 1000:.0f} kB"),
            (
                "until the browser shows the overview with its charts",
                f"{page.overview:.2f} s (at most {page.overview_high:.2f} s)",
            ),
            (
                "processor time of the browser's main thread for it",
                f"{_number(work, 2)} s, of which scripts {_number(script, 2)} s",
            ),
        ]
    for each in results.workers:
        notes = (
            f"{each.one:.0f} and {each.two:.0f}: {each.ratio:.2f} times; "
            f"an answer costs {each.cost_one:.0f} and {each.cost_two:.0f} µs"
        )
        rows.append((f"{each.mode}: answers/s with 1 and 2 workers, {each.where}", notes))
    if engines := results.engines:
        notes = (
            f"{engines.sqlite_cpu:.0f} and {engines.postgres_cpu:.0f} µs: "
            f"{_number(engines.ratio, 2)} times; p50 {microseconds(engines.sqlite_p50)} and "
            f"{microseconds(engines.postgres_p50)}"
        )
        rows.append(("plain: an answer on SQLite and on PostgreSQL costs", notes))
    for kinds in results.kinds:
        notes = (
            f"{kinds.chat_cpu:.0f} and {kinds.embeddings_cpu:.0f} µs: "
            f"{_number(kinds.ratio, 2)} times; p50 {microseconds(kinds.chat_p50)} and "
            f"{microseconds(kinds.embeddings_p50)}"
        )
        how = "1 connection" if kinds.connections == 1 else f"{kinds.connections} connections"
        rows.append((f"an answer to a chat and to an embeddings call costs, {how}", notes))
        if kinds.long_ratio is not None:
            notes = (
                f"{kinds.long_cpu:.0f} and {kinds.embeddings_cpu:.0f} µs: "
                f"{kinds.long_ratio:.2f} times"
            )
            rows.append((f"the same with a chat answer of that length, {how}", notes))
    return table(("what", "measured"), rows)
