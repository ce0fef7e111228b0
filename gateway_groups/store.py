"""What keys have used together, and what calls under way have reserved, in the database."""

from collections.abc import Sequence

from gateway_core.storage.database import Queries, Row, Statements
from gateway_core.storage.stores.key_usage import KeySpent, Spending

IDS_AT_ONCE = 500
_FIGURES = ("requests", "input_tokens", "output_tokens", "cost")
_SUMS = ", ".join(f"CAST(COALESCE(sum({name}), 0) AS BIGINT) AS {name}" for name in _FIGURES)
_INSERT = """
    INSERT INTO group_reservations
        (request_id, group_name, process, until, input_tokens, output_tokens, cost)
    VALUES (:request_id, :group_name, :process, :until, :input_tokens, :output_tokens, :cost)
"""


async def spent_by(queries: Queries, keys: Sequence[str], day: str) -> KeySpent:
    """What keys have used together on ``day``, since the first of its month, and ever."""
    spent = KeySpent(day=day)
    for start in range(0, len(keys), IDS_AT_ONCE):
        ids = {f"k{number}": key for number, key in enumerate(keys[start : start + IDS_AT_ONCE])}
        among = f"api_key_id IN ({', '.join(f':{name}' for name in ids)})"
        rows = await queries.fetch(
            f"""
            SELECT 'today' AS span, {_SUMS} FROM key_days WHERE {among} AND day = :day
            UNION ALL
            SELECT 'month', {_SUMS} FROM key_days
            WHERE {among} AND day >= :first AND day <= :last
            UNION ALL
            SELECT 'ever', {_SUMS} FROM key_totals WHERE {among}
            """,
            **ids,
            day=day,
            first=f"{day[:8]}01",
            last=f"{day[:8]}31",
        )
        sums = {row["span"]: _spending(row) for row in rows}
        spent = KeySpent(
            day=day,
            today=spent.today.plus(sums["today"]),
            month=spent.month.plus(sums["month"]),
            ever=spent.ever.plus(sums["ever"]),
        )
    return spent


async def reserved(queries: Queries, group: str, now: float) -> Spending:
    """What the calls under way may still use of a group."""
    rows = await queries.fetch(
        "SELECT count(*) AS requests, "
        "CAST(COALESCE(sum(input_tokens), 0) AS BIGINT) AS input_tokens, "
        "CAST(COALESCE(sum(output_tokens), 0) AS BIGINT) AS output_tokens, "
        "CAST(COALESCE(sum(cost), 0) AS BIGINT) AS cost "
        "FROM group_reservations WHERE group_name = :name AND until > :now",
        name=group,
        now=now,
    )
    return _spending(rows[0])


async def reserve(
    statements: Statements, request: str, group: str, process: str, most: Spending, until: float
) -> None:
    """Note what a call may use of a group until ``until``, Unix seconds."""
    await statements.execute(
        _INSERT,
        request_id=request,
        group_name=group,
        process=process,
        until=until,
        input_tokens=most.input_tokens,
        output_tokens=most.output_tokens,
        cost=most.cost,
    )


async def release(statements: Statements, requests: Sequence[str]) -> None:
    """Remove the reservations of calls that are over."""
    await statements.execute_many(
        "DELETE FROM group_reservations WHERE request_id = :id", [{"id": id} for id in requests]
    )


async def renew(statements: Statements, process: str, until: float) -> None:
    """Let the reservations of a process that lives stand until ``until``."""
    await statements.execute(
        "UPDATE group_reservations SET until = :until WHERE process = :process",
        until=until,
        process=process,
    )


async def expire(statements: Statements, now: float) -> None:
    """Remove the reservations of processes that are gone."""
    await statements.execute("DELETE FROM group_reservations WHERE until <= :now", now=now)


def _spending(row: Row) -> Spending:
    return Spending(*(row[name] for name in _FIGURES))
