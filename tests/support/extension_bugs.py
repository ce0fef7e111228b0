"""A correct extension with every hook, as text, and variants with one bug each."""

from pathlib import Path

from gateway_core.storage.stores.usage import UsageRecord

SOUND = '''"""Sample: an extension that exists only in tests.

It lets calls pass that name no forbidden word, counts them, and tells how many there were.
"""

import asyncio
from contextlib import asynccontextmanager
from typing import Annotated

import click
import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace
from starlette.responses import JSONResponse
from starlette.routing import Route

from gateway_core import Access, BadRequest, Guarded, PartGrew, StopAnswer, Text, hookimpl

GATEWAY_PROTOCOL = 1


class Settings(Struct, frozen=True, kw_only=True):
    words: Annotated[tuple[str, ...], Meta(description="Words that no call may hold.")] = ()
    label: Annotated[str, Meta(description="What calls are marked with.")] = "kit"
    limit: Annotated[int, Meta(ge=1, description="How many counts are kept.")] = 100
    api_key: Annotated[str | None, Meta(description="For the list.", extra={"secret": True})] = None


class Guard:
    order, required = 10, False

    def __init__(self, settings):
        self.settings, self.seen = settings, 0

    async def before(self, call):
        await asyncio.sleep(0)
        if any(word.encode() in call.body for word in self.settings.words):
            raise BadRequest("The call holds a word that is not allowed")
        self.seen += 1
        if not call.members:
            return call
        members = {**call.members, "_label": Raw(msgspec.json.encode(self.settings.label))}
        return replace(call, members=members, body=msgspec.json.encode(members))

    async def after(self, record):
        self.seen += record.get("attempts") or 0


class Hush:
    order, required, timeout, look_ahead = 10, True, 2.0, 8

    def open(self, call, target):
        return Hushing()


class Hushing:
    async def reply(self, reply):
        await asyncio.sleep(0)
        choices = [
            replace(each, parts=tuple(self.part(part) for part in each.parts))
            for each in reply.choices
        ]
        return replace(reply, choices=tuple(choices))

    async def events(self, events, *, is_last):
        await asyncio.sleep(0)
        return [self.part(each) if isinstance(each, PartGrew) else each for each in events]

    def part(self, part):
        if not isinstance(part, (Text, PartGrew)):
            return part
        if "kit-ends" in part.text:
            raise StopAnswer("No more.")
        return replace(part, text=part.text.replace("lovelace", "#"))


class Count(Struct, forbid_unknown_fields=False):
    value: int = 0


async def count(request):
    try:
        limit = int(request.query_params.get("limit", "10"))
    except ValueError:
        return JSONResponse({"error": "limit is a whole number"}, 400)
    return JSONResponse({"name": request.path_params["name"][:80], "limit": limit})


async def change(request):
    try:
        wanted = msgspec.json.decode(await request.body(), type=Count)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return JSONResponse({"error": "The body is no count"}, 400)
    return JSONResponse({"value": wanted.value})


async def health(request):
    return JSONResponse({"ok": True})


@asynccontextmanager
async def running(host):
    host.log.info("%s begins at %s", host.name, host.clock())
    task = asyncio.create_task(asyncio.sleep(3600))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait((task,))


@click.command("sample-counts")
def counts():
    """Show what was counted."""
    click.echo("none")


@hookimpl
def register_settings():
    return Settings


@hookimpl
def register_interceptors(settings):
    return [Guard(settings)]


@hookimpl
def register_answer_filters():
    return [Hush()]


@hookimpl
def register_routes(settings):
    return [
        Guarded(Route("/api/sample/counts/{name}", count), Access.MANAGEMENT),
        Guarded(Route("/api/sample/counts", change, methods=["PUT"]), Access.OPERATOR),
        Guarded(Route("/sample/health", health), Access.PUBLIC),
    ]


@hookimpl
def lifespan(host):
    return running(host)


@hookimpl
def register_commands(cli):
    cli.add_command(counts)
'''
OPENS = "        return Hushing()\n"
SEES = "        await asyncio.sleep(0)\n        choices"
GROWS = "        await asyncio.sleep(0)\n        return [self"
SHOWN = "return [self.part(each) if isinstance(each, PartGrew) else each for each in events]"
FIELDS = "order, required, timeout, look_ahead = 10, True, 2.0, 8"
PASSES = "        await asyncio.sleep(0)\n"
CHANGED = "return replace(call, members=members, body=msgspec.json.encode(members))"
LEFT = "        task.cancel()\n        await asyncio.wait((task,))\n"
BEGUN = "    task = asyncio.create_task(asyncio.sleep(3600))\n"
CAUGHT = "    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):\n"

COUNTS = '        Guarded(Route("/api/sample/counts/{name}", count), Access.MANAGEMENT),\n'
KNOWN = len(UsageRecord.__struct_fields__)

Change = tuple[str, str]


def _first(code: str) -> Change:
    """Do this for every call."""
    return PASSES, "".join(f"        {line}\n" for line in code.splitlines()) + PASSES


def _top(code: str) -> Change:
    """Do this while the module is imported."""
    return "GATEWAY_PROTOCOL", f"{code}\nGATEWAY_PROTOCOL"


def _begin(code: str) -> Change:
    """Do this when the gateway opens."""
    return BEGUN, "".join(f"    {line}\n" for line in code.splitlines()) + BEGUN


BUGS: dict[str, tuple[Change, ...]] = {
    "order_is_text": (("order, required = 10, False", 'order, required = "10", False'),),
    "required_missing": (("order, required = 10, False", "order = 10"),),
    "gives_nothing": ((CHANGED, "return None"),),
    "gives_bytes": ((CHANGED, "return msgspec.json.encode(members)"),),
    "body_alone": ((CHANGED, CHANGED.replace("members=members, ", "")),),
    "members_alone": ((CHANGED, "return replace(call, members=members)"),),
    "changed_in_place": ((CHANGED, "call.members.update(members)\n        return call"),),
    "streams_always": ((CHANGED, CHANGED.replace("(call, ", "(call, stream=True, ")),),
    "blocks": (_first('__import__("time").sleep(0.4)'),),
    "waits_too_long": (_first("await asyncio.sleep(3600)"),),
    "waits_a_little_too_long": (_first("await asyncio.sleep(1.5)"),),
    "blocks_afterwards": (
        ("        self.seen += record",
         '        __import__("time").sleep(0.4)\n        self.seen += record'),
    ),
    "insists_on_messages": (_first('msgspec.json.decode(call.body)["messages"][0]["content"]'),),
    "insists_on_json": (_first("msgspec.json.decode(call.body)"),),
    "insists_on_text": (_first("call.body.decode()"),),
    "insists_on_a_key": (_first('call.headers["authorization"]'),),
    "insists_on_a_model": (_first('assert "/" in call.model'),),
    "foreign_error": (("raise BadRequest(", "raise ValueError("), ("= ()", '= ("hello",)')),
    "refuses_without_a_word": (
        _first('if b"parts" in call.body:\n    raise BadRequest("")'),
    ),
    "mixes_calls_up": (
        (PASSES, "        self.call = call\n" + PASSES + "        call = self.call\n"),
    ),
    "insists_on_a_cost": (('record.get("attempts") or 0', 'record["cost"]'),),
    "insists_on_known_members": (
        ("        self.seen += record",
         f"        assert len(record) <= {KNOWN}\n        self.seen += record"),
    ),
    "changes_the_record": (('record.get("attempts") or 0', 'record.pop("attempts")'),),
    "before_is_not_async": (("    async def before(self, call):\n        await asyncio.sleep(0)\n",
                             "    def before(self, call):\n"),),
    "path_of_the_gateway": (('"/sample/health"', '"/api/health"'),),
    "path_of_the_management_api": (('"/api/sample/counts", change', '"/api/settings", change'),
                         ('methods=["PUT"]', 'methods=["PATCH"]')),
    "path_of_a_format": (('"/sample/health", health', '"/v1/messages", health'),),
    "path_twice": (('"/sample/health", health), Access.PUBLIC',
                    '"/api/sample/counts/{name}", health), Access.MANAGEMENT'),),
    "open_to_everybody": (("count), Access.MANAGEMENT", "count), Access.PUBLIC"),),
    "not_guarded": (('Guarded(Route("/sample/health", health), Access.PUBLIC)',
                     'Route("/sample/health", health)'),),
    "junk_query": (('    except ValueError:\n        return JSONResponse({"error": "limit',
                    '    except KeyError:\n        return JSONResponse({"error": "limit'),),
    "junk_body": ((CAUGHT, "    except msgspec.ValidationError:\n"),),
    "junk_depth": (
        (CAUGHT, "    except (msgspec.DecodeError, UnicodeDecodeError):\n"),
        ("type=Count)", "type=object)"), ('{"value": wanted.value}', '{"value": 1}'),
    ),
    "junk_name": (('request.path_params["name"][:80]', 'int(request.path_params["name"])'),),
    "route_blocks": (('    return JSONResponse({"ok": True})',
                      '    __import__("time").sleep(0.4)\n    return JSONResponse({"ok": True})'),),
    "route_hangs": (('    return JSONResponse({"ok": True})', "    await asyncio.sleep(3600)"),),
    "json_that_is_none": (('JSONResponse({"ok": True})',
                           '__import__("starlette").responses.Response("ok", '
                           'media_type="application/json")'),),
    "no_routes": ((COUNTS,
                   "        *(),\n    ][:0] + [\n"), ('        Guarded(Route("/api/sample/counts", '
                  'change, methods=["PUT"]), Access.OPERATOR),\n', ""),
                  ('        Guarded(Route("/sample/health", health), Access.PUBLIC),\n', "")),
    "task_left": ((LEFT, "        pass\n"),),
    "thread_left": (
        _begin("import threading\n"
               "threading.Thread(target=threading.Event().wait, daemon=True).start()"),
    ),
    "file_left": (_begin('import os\nKEPT.append(os.open(os.devnull, os.O_RDONLY))'),
                  ("GATEWAY_PROTOCOL", "KEPT = []\nGATEWAY_PROTOCOL")),
    "once_only": (_begin("if KEPT:\n    raise RuntimeError('it runs already')\nKEPT.append(1)"),
                  ("GATEWAY_PROTOCOL", "KEPT = []\nGATEWAY_PROTOCOL")),
    "opens_slowly": (_begin("await asyncio.sleep(1.2)"),),
    "opens_blocking": (_begin('__import__("time").sleep(0.5)'),),
    "closes_slowly": ((LEFT, f"{LEFT}        await asyncio.sleep(1.2)\n"),),
    "fails_to_open": (_begin('raise RuntimeError("there is no server")'),),
    "fails_to_close": ((LEFT, f'{LEFT}        raise RuntimeError("the server is gone")\n'),),
    "lifespan_is_no_context": (("return running(host)", "return None"),),
    "takes_the_whole_gateway": (_begin("host.core.tables"),),
    "routes_take_the_whole_gateway": (
        ("def register_routes(settings):\n",
         "def register_routes(host, settings):\n    host.core.ledger\n"),
    ),
    "settings_without_default": (
        ('Meta(ge=1, description="How many counts are kept.")] = 100',
         'Meta(ge=1, description="How many counts are kept.")]'),
    ),
    "settings_not_frozen": (("(Struct, frozen=True, kw_only=True)", "(Struct, kw_only=True)"),),
    "settings_not_described": ((', description="How many counts are kept."', ""),),
    "settings_of_no_json": (("] = 100", "] = 100\n    made: object = Meta()"),),
    "settings_default_misfits": (("] = 100", "] = 0"),),
    "secret_in_the_code": (("})] = None", '})] = "sk-1"'),),
    "takes_a_commands_name": (('"sample-counts"', '"doctor"'),),
    "replaces_a_sub_command": (
        ("cli.add_command(counts)", 'cli.commands["plugins"].add_command(counts, "list")'),
    ),
    "command_without_help": (('    """Show what was counted."""\n', ""),),
    "command_fails_at_once": (
        ("    cli.add_command(counts)", '    cli.add_command(counts)\n    raise SystemExit(3)'),
    ),
    "command_named_oddly": (('"sample-counts"', '"Sample counts"'),),
    "socket_at_import": (
        ("GATEWAY_PROTOCOL", '__import__("socket").getaddrinfo("localhost", 80)\nGATEWAY_PROTOCOL'),
    ),
    "slow_at_import": (("GATEWAY_PROTOCOL", '__import__("time").sleep(0.6)\nGATEWAY_PROTOCOL'),),
    "private_import": (_top("from gateway_core.app import Gateway"),),
    "no_docstring": (('"""Sample: an extension', 'GATEWAY = """Sample: an extension'),),
    "unknown_hook": (("def lifespan(", "def livespan("),),
    "filter_without_timeout": ((FIELDS, "order, required, look_ahead = 10, True, 8"),),
    "filter_never_in_time": ((FIELDS, FIELDS.replace("2.0", "0.0")),),
    "filter_looks_too_far": ((FIELDS, FIELDS.replace(", 8", ", 1_000_000")),),
    "filter_looks_too_short": ((FIELDS, FIELDS.replace(", 8", ", 3")),),
    "filter_opens_later": (("    def open(self", "    async def open(self"),),
    "filter_insists_on_messages": ((OPENS, '        call.members["messages"]\n' + OPENS),),
    "filter_blocks_at_once": ((OPENS, '        __import__("time").sleep(0.2)\n' + OPENS),),
    "filter_is_shared": (
        ("        return Hushing()", "        return SHARED"),
        ("class Count(Struct", "SHARED = Hushing()\nSHARED.held = ''\n\n\nclass Count(Struct"),
        (GROWS, "        self.held = [e.text for e in events if isinstance(e, PartGrew)]\n"
         "        await asyncio.sleep(0)\n        kept = iter(list(self.held))\n"
         "        return [replace(e, text=next(kept, '')) if isinstance(e, PartGrew) else e "
         "for e in events]\n        return [self"),
    ),
    "filter_hangs": ((SEES, "        await asyncio.sleep(3600)\n        choices"),),
    "filter_hangs_in_streams": (
        (GROWS, "        await asyncio.sleep(3600)\n        return [self"),
    ),
    "filter_blocks": ((GROWS, '        __import__("time").sleep(0.3)\n        return [self'),),
    "filter_forgets_whole_answers": (("self.part(part) for part in each.parts", "each.parts"),),
    "filter_forgets_streams": ((SHOWN, "return list(events)"),),
    "filter_gives_no_reply": (("return replace(reply, choices=tuple(choices))", "return choices"),),
    "filter_gives_nothing": (("return replace(reply, choices=tuple(choices))", "pass"),),
    "filter_drops_tool_calls": (
        ("for part in each.parts", "for part in each.parts if isinstance(part, Text)"),
    ),
    "filter_drops_events": ((SHOWN, "return [e for e in events if isinstance(e, PartGrew)]"),),
    "filter_gives_no_events": ((SHOWN, "return None"),),
    "filter_changes_arguments": (('"lovelace", "#"', '"lovelace", "#").replace("Z", "z"'),),
    "filter_insists_on_a_choice": ((SEES, "        reply.choices[0].parts[0]\n" + SEES),),
    "filter_insists_on_an_index": ((GROWS, "        events[-1].index\n" + GROWS),),
    "filter_insists_on_an_event": ((GROWS, "        assert events\n" + GROWS),),
    "filter_raises_anything": (
        ('raise StopAnswer("No more.")', 'raise ValueError("No more.")'), ("kit-ends", "print("),
    ),
    "filter_ends_everything": (('if "kit-ends" in part.text', "if part.text is not None"),),
    "filter_ends_streams_only": (
        ('if "kit-ends" in part.text', 'if "card" in part.text and isinstance(part, PartGrew)'),
    ),
    "filter_prints": ((GROWS, "        print(events)\n" + GROWS),),
    "filter_keeps_answers": (
        (SEES, "        KEPT.append(str(reply))\n" + SEES),
        ("GATEWAY_PROTOCOL", "KEPT = []\nGATEWAY_PROTOCOL"),
    ),
}  # fmt: skip
"""Each bug as replacements in the correct extension."""


_names = list(BUGS)
GROUPS = {
    "calls": tuple(_names[: _names.index("path_of_the_gateway")]),
    "routes": tuple(_names[_names.index("path_of_the_gateway") : _names.index("task_left")]),
    "life": tuple(_names[_names.index("task_left") : _names.index("settings_without_default")]),
    "the rest": tuple(
        _names[_names.index("settings_without_default") : _names.index("filter_without_timeout")]
    ),
    "answers": tuple(_names[_names.index("filter_without_timeout") :]),
}
"""The bugs by subject, each in one group."""


def module_of(name: str) -> str:
    return f"gateway_sample_{name}"


def write(folder: Path) -> None:
    """Write every extension as a module of its own."""
    for name, changes in {"sound": (), **BUGS}.items():
        text = SOUND
        for old, new in changes:
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        (folder / f"{module_of(name)}.py").write_text(text)
