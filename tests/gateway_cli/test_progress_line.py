"""How far a change of the database is, as the command line shows it."""

import io

from gateway_cli.database_commands import ProgressLine

STEPS = (
    {},
    {"step": "copying", "tables": 4, "tablesDone": 1, "rows": 10},
    {"step": "copying", "tables": 4, "tablesDone": 1, "rows": 10},
    {"step": "copying", "tables": 4, "tablesDone": 4, "rows": 25},
    {"step": "switching"},
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show(file: io.StringIO) -> str:
    line = ProgressLine(file)
    for each in STEPS:
        line.show(each)
    line.end()
    return file.getvalue()


def test_a_file_has_a_line_for_each_step() -> None:
    assert show(io.StringIO()).splitlines() == [
        "copying [######------------------] 1 of 4 tables, 10 rows",
        "copying [########################] 4 of 4 tables, 25 rows",
        "switching",
    ]


def test_a_terminal_has_one_line_that_changes() -> None:
    shown = show(Terminal())

    assert shown.count("\n") == 1
    assert shown.endswith("\rswitching\x1b[K\n")
    assert shown.count("\r") == 3
