"""Plans and their results, for people and for programs."""

import json
from typing import Any

from .applying import Made
from .plan import Change, Plan

MARKS = {"create": "+", "update": "~", "delete": "-"}
LONGEST = 120


def plan_lines(plan: Plan) -> list[str]:
    """A plan for people."""
    lines = [line for change in plan.changes for line in change_lines(change)]
    lines += [f"  {name} is not in the file and stays" for name in plan.extra]
    lines += [f"! {text}" for text in plan.missing]
    count = len(plan.changes)
    counts = {action: sum(c.action == action for c in plan.changes) for action in MARKS}
    told = ", ".join(f"{count} to {action}" for action, count in counts.items() if count)
    return [*lines, f"{told}." if count else "Nothing to do."]


def change_lines(change: Change) -> list[str]:
    lines = [f"{MARKS[change.action]} {change.title}"]
    for each in change.changes:
        name = f"{each.field}: " if each.field else ""
        after = _short(each.after)
        if change.action == "create":
            lines.append(f"    {name}{after}")
        else:
            lines.append(f"    {name}{_short(each.before)} -> {after}")
    lines += [f"    {name}: (secret, written)" for name in change.secrets]
    return lines


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def drift_lines(plan: Plan) -> list[str]:
    """What a gateway has (-) and what the file says (+)."""
    lines = []
    for change in plan.changes:
        if change.action == "delete":
            lines.append(f"{change.title} is not in the file")
            continue
        lines.append(f"{change.title}{' is not there' if change.action == 'create' else ''}")
        for each in change.changes:
            name = f"{each.field}: " if each.field else ""
            if change.action == "update":
                lines.append(f"  - {name}{_short(each.before)}")
            lines.append(f"  + {name}{_short(each.after)}")
    lines += [f"{name} is not in the file" for name in plan.extra]
    return lines or ["No drift."]


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan for programs."""
    return {
        "changes": [change_json(change) for change in plan.changes],
        "extra": list(plan.extra),
        "missing": list(plan.missing),
    }


def change_json(change: Change) -> dict[str, Any]:
    return {
        "action": change.action,
        "section": change.section.name,
        "name": list(change.name),
        "fields": [
            {"field": each.field, "before": each.before, "after": each.after}
            for each in change.changes
        ],
        "secrets": list(change.secrets),
    }


def made_lines(made: Made) -> list[str]:
    """What came of a plan, for people; the changes themselves were printed as they were made."""
    if made.failed is None:
        return [f"{len(made.done)} applied."]
    return [
        f"! {made.failed.title} could not be {made.failed.action}d: {made.reason}",
        *(f"  {change.title} was not begun" for change in made.left),
        f"{len(made.done)} applied, 1 refused, {len(made.left)} not begun. "
        "Mend the cause and apply again: it goes on from here.",
    ]


def made_json(made: Made) -> dict[str, Any]:
    failed = None
    if made.failed is not None:
        failed = {**change_json(made.failed), "reason": made.reason}
    return {
        "done": [change_json(change) for change in made.done],
        "failed": failed,
        "left": [change_json(change) for change in made.left],
        "newKeys": sorted(made.keys),
    }
