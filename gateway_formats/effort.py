"""Between the two ways of saying how much to think: a word, or a number of tokens."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

# Vendors publish no table; 1024 is the least that budget_tokens may be:
# https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
_BUDGETS = {
    "none": 0,
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 16384,
    "xhigh": 32768,
    "max": 65536,
}


def budget_of(effort: str) -> int:
    """Thinking tokens for a word; an unknown word counts as ``medium``."""
    return _BUDGETS.get(effort, _BUDGETS["medium"])


def effort_of(budget: int) -> str:
    """The word nearest above a budget; -1, which leaves it to the model, is ``medium``."""
    if budget < 0:
        return "medium"
    return next((word for word in EFFORTS if budget <= _BUDGETS[word]), "max")
