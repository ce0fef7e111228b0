"""Pictures are kept by number, size and age (4.4, limits of section 8)."""

from manual_clock import Clock

from gateway_providers.image_cache import LARGEST, LIFETIME, MOST, ImageCache


def test_a_picture_is_found_by_its_id_until_it_is_too_old() -> None:
    clock = Clock()
    cache = ImageCache(clock)
    name = cache.put(b"png", "image/png", context="c")

    assert name is not None
    assert len(name) == 32
    assert (found := cache.find(name)) is not None
    assert (found.content, found.media_type, found.context) == (b"png", "image/png", "c")
    clock.now += LIFETIME
    assert cache.find(name) is None


def test_the_oldest_leave_when_there_are_too_many() -> None:
    cache = ImageCache()
    names = [cache.put(b"%d" % number, "image/png") for number in range(MOST + 1)]

    kept = [name for name in names if name is not None and cache.find(name)]

    assert kept == names[1:]


def test_the_oldest_leave_when_they_are_too_large() -> None:
    cache = ImageCache(most_bytes=10)
    first, second = cache.put(b"123456", "image/png"), cache.put(b"78901", "image/png")

    assert first is not None
    assert second is not None
    assert cache.find(first) is None
    assert cache.find(second) is not None
    assert cache.put(b"x" * 11, "image/png") is None
    assert ImageCache().put(b"x" * (LARGEST + 1), "image/png") is None


def test_a_picture_is_recognized_when_it_comes_back() -> None:
    cache = ImageCache()
    cache.put(b"png", "image/png", context="conversation")

    found = cache.find_content(b"png")

    assert found is not None
    assert found.context == "conversation"
    assert cache.find_content(b"other") is None
