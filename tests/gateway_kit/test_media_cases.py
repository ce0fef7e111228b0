"""The kit for interceptors in front of forms and of answers of bytes: bugs in them are found."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_kit.extensions import ExtensionSuite
from gateway_kit.extensions.media_calls import (
    PICTURE,
    content_of,
    edit,
    form_calls,
    json_calls,
    members_of,
)

SOUND = '''"""Polite: an extension of tests that asks for politeness in forms and bodies."""

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from gateway_core import hookimpl

GATEWAY_PROTOCOL = 1
POLITE = " Please."


def told(text):
    return Raw(msgspec.json.encode(text))


def changed(part):
    if part.name != "prompt":
        return part
    return replace(part, content=part.content + POLITE.encode())


class Polite:
    order, required = 10, True

    async def before(self, call):
        members, form = dict(call.members), call.form
        for name in ("prompt", "input"):
            if name in members and call.kind != "llm":
                members[name] = told(msgspec.json.decode(members[name]) + POLITE)
        if form:
            form = tuple(changed(part) for part in form)
            return replace(call, form=form, members=members)
        if members == call.members:
            return call
        return replace(call, members=members, body=msgspec.json.encode(members))

    async def after(self, record):
        pass


@hookimpl
def register_interceptors():
    return [Polite()]
'''
CHANGED = "form = tuple(changed(part) for part in form)"
BUGS = {
    "files_left_out": (CHANGED, f"{CHANGED[:-1]} if part.filename is None)"),
    "fields_left_out": (CHANGED, f"{CHANGED[:-1]} if part.filename or part.name == 'prompt')"),
    "double_fields_joined": (
        CHANGED,
        "form = tuple({(part.name, part.filename): changed(part) for part in form}.values())",
    ),
    "names_of_files_lost": (
        CHANGED,
        "form = tuple(replace(changed(p), filename=p.filename and 'file') for p in form)",
    ),
    "types_of_files_lost": (
        CHANGED,
        "form = tuple(replace(changed(p), media_type=None) for p in form)",
    ),
    "order_of_files_turned": (CHANGED, "form = tuple(changed(part) for part in reversed(form))"),
    "files_taken_for_text": (
        'if part.name != "prompt":',
        'if "Please" in (part.content if isinstance(part.content, bytes) else b"").decode():',
    ),
    "files_on_disk_forgotten": ('if part.name != "prompt":', "if len(part.content) > 64:"),
    "files_cut": (
        "        return part\n",
        "        short = part.content[:99] if isinstance(part.content, bytes) else part.content\n"
        "        return replace(part, content=short)\n",
    ),
    "form_without_its_members": (
        "return replace(call, form=form, members=members)",
        "return replace(call, form=form)",
    ),
    "members_without_their_form": (
        "return replace(call, form=form, members=members)",
        "return replace(call, members=members)",
    ),
    "members_of_forms_emptied": (
        "return replace(call, form=form, members=members)",
        "return replace(call, form=form, members={})",
    ),
    "body_without_its_members": (
        "return replace(call, members=members, body=msgspec.json.encode(members))",
        "return replace(call, body=msgspec.json.encode(members))",
    ),
    "other_work_taken_for_chat": (
        "members, form = dict(call.members), call.form",
        "members, form = dict(call.members), call.form\n"
        "        call.members.get('messages') or call.members.get('contents') or "
        "call.members['input']",
    ),
    "what_is_no_chat_rebuilt": (
        "if members == call.members:",
        "members = {name: members[name] for name in members if name not in ('prompt', 'model')}\n"
        "        if members == call.members or call.kind == 'llm':",
    ),
    "query_lost": (
        "return replace(call, members=members, body=msgspec.json.encode(members))",
        "return replace(call, members=members, body=msgspec.json.encode(members), path={})",
    ),
    "records_of_chat_only": ("        pass\n", "        record['endpoint'].index('chat')\n"),
}
"""One replacement each."""


def module_of(name: str) -> str:
    return f"gateway_polite_{name}"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder: Path = tmp_path_factory.mktemp("polite")
    for name, (old, new) in {"sound": ("", ""), **BUGS}.items():
        assert old in SOUND, name
        (folder / f"{module_of(name)}.py").write_text(SOUND.replace(old, new, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield folder


def failures(name: str, data_dir: Path) -> Iterator[str]:
    suite = ExtensionSuite(module_of(name))
    about = ("interceptor: forms", "interceptor: other work", "interceptor: files and bytes")
    try:
        for case in suite.cases():
            if case.name.partition(": ")[2] in about:
                failure = suite.run(case, data_dir / name)
                if failure is not None:
                    yield failure
    finally:
        suite.close()


def test_a_sound_interceptor_of_forms_passes(tmp_path: Path) -> None:
    assert list(failures("sound", tmp_path)) == []


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_in_front_of_forms_and_bytes_is_found(name: str, tmp_path: Path) -> None:
    assert next(failures(name, tmp_path), None) is not None


def test_a_failure_says_what_to_do(tmp_path: Path) -> None:
    assert next(failures("files_left_out", tmp_path)).startswith(
        "gateway_polite_files_left_out: interceptor: forms: Change a form's fields in call.form "
        "together with its members, and leave its files, their names and types, and fields that "
        "come twice as they are. Seen: a form for image with its files in memory: the files of "
        "the form, their names or their types are changed"
    )


def test_forms_hold_files_and_fields_and_other_calls_neither() -> None:
    for _, call in form_calls("wombat"):
        assert call.body == b""
        assert b"wombat" in b"".join(bytes(raw) for raw in call.members.values())
        assert any(part.filename for part in call.form)
    for _, call in json_calls("wombat"):
        assert not call.form
        assert b"wombat" in call.body
    kept = [content_of(part) for part in edit("", on_disk=True) if part.filename]
    assert kept[0] == PICTURE
    assert bytes(members_of(edit(""))["kit_field[]"]) == b'"two4712"'
