"""What globs leave of a name, so that a change of its beginning can be told from its rest."""


def remainders(pattern: str, beginning: str) -> frozenset[str]:
    """What is left of a pattern once it has matched the beginning of a name.

    The name matches the pattern if the rest of it matches one of these.
    """
    left = {pattern.casefold()}
    for letter in beginning.casefold():
        following = set()
        for rest in left:
            while rest.startswith("*"):
                following.add(rest)
                rest = rest[1:]  # the star may also stand for nothing
            if rest.startswith(letter):
                following.add(rest[1:])
        left = following
    return frozenset(left)
