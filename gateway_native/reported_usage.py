"""Makes a streamed chat call report its usage, as a few edits of its text."""

from collections.abc import Mapping

from gateway_formats.json_text import Edit, JsonText

_OPTIONS = b'{"include_usage":true}'


def usage_edits(text: JsonText) -> list[Edit]:
    """What sets ``stream_options.include_usage``; nothing for a call that is not streamed.

    Raises AmbiguousField.
    """
    if text.value.get("stream") is not True:
        return []
    members = text.members(text.root)
    if "stream_options" not in members:
        end = max(span.end for span in members.values())
        return [Edit(end, end, b',"stream_options":' + _OPTIONS)]
    span, options = members["stream_options"], text.value["stream_options"]
    if not isinstance(options, Mapping):
        return [Edit(span.begin, span.end, _OPTIONS)]
    inner = text.members(span)
    if "include_usage" not in inner:
        comma = b"," if inner else b""
        return [Edit(span.begin + 1, span.begin + 1, b'"include_usage":true' + comma)]
    flag = inner["include_usage"]
    return [] if options["include_usage"] is True else [Edit(flag.begin, flag.end, b"true")]
