"""The URL parser: one spelling per destination, and nothing it cannot send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_core.upstream.transport.failures import MalformedUrl
from gateway_core.upstream.transport.urls import parse

TAKEN = [
    ("http://a.test", "http://a.test:80", "a.test", "/"),
    ("HTTPS://A.Test/X?y=Z", "https://a.test:443", "a.test", "/X?y=Z"),
    ("https://a.test:443/", "https://a.test:443", "a.test", "/"),
    ("https://a.test:80/", "https://a.test:80", "a.test:80", "/"),
    ("http://a.test?q=1", "http://a.test:80", "a.test", "/?q=1"),
    ("http://a.test/x#part", "http://a.test:80", "a.test", "/x"),
    ("http://a.test#part", "http://a.test:80", "a.test", "/"),
    ("http://a.test/a%2fb/../c", "http://a.test:80", "a.test", "/a%2fb/../c"),
    ("http://a.test/x?a=b/c?d@e:f", "http://a.test:80", "a.test", "/x?a=b/c?d@e:f"),
    ("http://127.0.0.1:11434/api", "http://127.0.0.1:11434", "127.0.0.1:11434", "/api"),
    ("http://[::1]:8080/x", "http://[::1]:8080", "[::1]:8080", "/x"),
    ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]:80", "[::1]", "/"),
    ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]:80", "[::ffff:102:304]", "/"),
    ("http://my_service:8000/", "http://my_service:8000", "my_service:8000", "/"),
    ("http://localhost/", "http://localhost:80", "localhost", "/"),
    ("https://bücher.test/", "https://xn--bcher-kva.test:443", "xn--bcher-kva.test", "/"),
    ("http://１２７.0.0.1/", "http://127.0.0.1:80", "127.0.0.1", "/"),
]


@pytest.mark.parametrize(("text", "origin", "authority", "target"), TAKEN)
def test_a_url_is_taken_apart(text, origin, authority, target):
    url = parse(text)

    assert (url.origin, url.authority, url.target) == (origin, authority, target)
    assert url.line == f"{target} HTTP/1.1\r\nhost: {authority}\r\n"


REFUSED = {
    "nothing": "",
    "no scheme": "a.test/x",
    "other scheme": "ftp://a.test/",
    "file": "file:///etc/passwd",
    "no host": "http:///x",
    "only a port": "http://:80/",
    "one slash": "http:/a.test/",
    "user": "http://user@a.test/",
    "user and password": "http://user:pass@a.test/",
    "empty user": "http://@a.test/",
    "backslash for slash": "http:\\\\a.test\\x",
    "backslash in host": "http://a.test\\@b.test/",
    "backslash in path": "http://a.test/x\\y",
    "space before": " http://a.test/",
    "space in path": "http://a.test/x y",
    "space in host": "http://a. test/",
    "line feed in path": "http://a.test/x\ny",
    "line feed at the end": "http://a.test/\n",
    "return in host": "http://a.test\r/",
    "nul": "http://a.test/\0",
    "tab in scheme": "ht\ttp://a.test/",
    "non-ascii path": "http://a.test/ü",
    "non-ascii query": "http://a.test/?ü",
    "empty port": "http://a.test:/",
    "port zero": "http://a.test:0/",
    "port too large": "http://a.test:65536/",
    "port with sign": "http://a.test:+80/",
    "port with letters": "http://a.test:80x/",
    "port in other digits": "http://a.test:８０/",
    "two ports": "http://a.test:80:80/",
    "empty label": "http://a..test/",
    "dot at the end": "http://a.test./",
    "dot alone": "http://./",
    "hyphen at the edge": "http://-a.test/",
    "percent in host": "http://a%2etest/",
    "long label": f"http://{'a' * 64}.test/",
    "long name": f"http://{'a.' * 130}test/",
    "long url": f"http://a.test/{'x' * 17000}",
    "decimal address": "http://2130706433/",
    "short address": "http://127.1/",
    "octal address": "http://0177.0.0.1/",
    "hexadecimal address": "http://0x7f.0.0.1/",
    "hexadecimal number": "http://0x7f000001/",
    "five parts": "http://1.2.3.4.5/",
    "address out of range": "http://256.1.1.1/",
    "zone": "http://[fe80::1%25eth0]/",
    "open bracket": "http://[::1/",
    "closed bracket": "http://::1]/",
    "bare ipv6": "http://::1/",
    "brackets around a name": "http://[a.test]/",
    "no idna": "http://a\u2488com/",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_a_doubtful_url_is_refused(text):
    with pytest.raises(MalformedUrl) as caught:
        parse(text)

    assert caught.value.sent is False


@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://a.test", "http://a.test/"]))
def test_whatever_is_taken_is_clean_and_means_the_same_again(text, start):
    try:
        url = parse(start + text)
    except MalformedUrl:
        return

    assert all(0x20 < ord(character) < 0x7F for character in url.authority + url.target)
    assert url.target.startswith("/")
    assert 0 < url.port < 65536
    assert parse(f"{url.origin}{url.target}") == url
