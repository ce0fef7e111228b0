"""Cookies in responses."""

from http.cookies import SimpleCookie

import httpx2


def cookie_of(answer: httpx2.Response, name: str = "auth_token") -> dict[str, str]:
    """A cookie's attributes as they were sent, with its value under its own name."""
    for line in answer.headers.get_list("set-cookie"):
        jar = SimpleCookie(line)
        if name in jar:
            return {name: jar[name].value} | {k: str(v) for k, v in jar[name].items() if v}
    return {}
