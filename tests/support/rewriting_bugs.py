"""A correct extension that rewrites calls and answers, as text, and variants with one bug each."""

from pathlib import Path

SOUND = '''"""Scrub: an extension that exists only in tests.

It hides words in calls and answers, and asks every model to be polite.
"""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from gateway_core import PartGrew, StopAnswer, Text, hookimpl

GATEWAY_PROTOCOL = 1


class Settings(Struct, frozen=True, kw_only=True):
    words: Annotated[tuple[str, ...], Meta(description="What is hidden.")] = ("wombat",)
    note: Annotated[str, Meta(description="What models are asked.")] = "Answer politely."


def hide(text, words):
    for word in words:
        text = text.replace(word, "#")
    return text


class Scrub:
    """Hides words in the body."""

    order, required = 10, True

    def __init__(self, settings):
        self.words = settings.words

    async def before(self, call):
        await asyncio.sleep(0)
        members = dict(call.members)
        for name in ("messages", "contents", "input"):
            if name in members:
                value = msgspec.json.decode(members[name])
                members[name] = Raw(msgspec.json.encode(self.value(value)))
        if members == call.members:
            return call
        return replace(call, members=members, body=msgspec.json.encode(members))

    def value(self, value):
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.message(each) for each in value]
        return value

    def message(self, message):
        if not isinstance(message, dict):
            return message
        changed = dict(message)
        for name in ("content", "parts"):
            if name in message:
                changed[name] = self.content(message[name])
        return changed

    def content(self, content):
        if isinstance(content, str):
            return self.text(content)
        if isinstance(content, list):
            return [self.part(each) for each in content]
        return content

    def part(self, part):
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            return part
        return {**part, "text": self.text(part["text"])}

    def text(self, text):
        return hide(text, self.words)

    async def after(self, record): ...


class Polite:
    """Asks for a polite answer."""

    order, required = 20, False

    def __init__(self, settings):
        self.note, self.words = settings.note, settings.words

    async def before(self, call):
        conversation = call.read_conversation()
        if conversation is None:
            return call
        instructions = (*conversation.instructions, Text(text=self.note))
        turns = conversation.turns
        await asyncio.sleep(0)
        changed = replace(conversation, instructions=instructions, turns=turns)
        return replace(call, conversation=changed)

    async def after(self, record): ...


class Hush:
    """Hides words in answers."""

    order, required, timeout, look_ahead = 10, True, 2.0, 8

    def open(self, call, target):
        return Hushing()


class Hushing:
    words = ("wombat",)

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
        if isinstance(part, Text | PartGrew):
            return replace(part, text=hide(part.text, self.words))
        return part


@hookimpl
def register_settings():
    return Settings


@hookimpl
def register_interceptors(settings):
    return [Scrub(settings), Polite(settings)]


@hookimpl
def register_answer_filters():
    return [Hush()]
'''
ENCODED = "        return replace(call, members=members, body=msgspec.json.encode(members))"
CHANGED = "        changed = replace(conversation, instructions=instructions, turns=turns)"
MESSAGES = "return [self.message(each) for each in value]"
PARTS = "return [self.part(each) for each in content]"
HIDDEN = "        return hide(text, self.words)"
REPLY = "        return replace(reply, choices=tuple(choices))"
SHOWN = "return [self.part(each) if isinstance(each, PartGrew) else each for each in events]"

Change = tuple[str, str]


def _members(code: str) -> tuple[Change, ...]:
    """Do this to the members of a changed body."""
    return ((ENCODED, f"        {code}\n{ENCODED}"),)


def _turns(code: str) -> tuple[Change, ...]:
    return (("        turns = conversation.turns\n", f"        turns = {code}\n"),)


def _conversation(fields: str) -> tuple[Change, ...]:
    return ((CHANGED, f"{CHANGED}\n        changed = replace(changed, {fields})"),)


BODIES: dict[str, tuple[Change, ...]] = {
    "unknown_members_lost": _members(
        "known = {'model', 'stream', 'messages', 'contents', 'input', 'tools', 'system', "
        "'max_tokens', 'temperature', 'tool_choice', 'systemInstruction', 'generationConfig'}\n"
        "        members = {name: value for name, value in members.items() if name in known}"
    ),
    "tools_lost": _members("members.pop('tools', None)"),
    "sampling_lost": _members("members.pop('temperature', None)"),
    "numbers_as_texts": _members(
        "members = {name: Raw(b'\"' + bytes(value) + b'\"') if bytes(value)[:1].isdigit() "
        "else value for name, value in members.items()}"
    ),
    "numbers_rounded": _members(
        "members = {name: Raw(b'%d' % float(bytes(value))) if bytes(value)[:2] == b'0.' "
        "else value for name, value in members.items()}"
    ),
    "tools_cut": _members(
        "members.update(tools=Raw(msgspec.json.encode(msgspec.json.decode(members['tools'])[:1])))"
        " if 'tools' in members else None"
    ),
}  # fmt: skip
MESSAGES_OF_CALLS: dict[str, tuple[Change, ...]] = {
    "message_members_lost": (
        ("        changed = dict(message)\n",
         "        names = ('role', 'content', 'parts', 'type')\n"
         "        changed = {name: message[name] for name in names if name in message}\n"),
    ),
    "part_members_lost": (
        ('return {**part, "text"', 'return {"type": part.get("type", "text"), "text"'),
    ),
    "images_lost": (
        (PARTS, "return [self.part(each) for each in content if 'text' in each]"),
    ),
    "parts_joined": (
        (PARTS, 'return " ".join(each["text"] for each in map(self.part, content) '
         "if 'text' in each) if any('type' in each for each in content) else content"),
    ),
    "only_strings": ((PARTS, "return content"),),
    "only_lists": (
        ("        if isinstance(content, str):\n            return self.text(content)\n", ""),
    ),
    "system_made_user": (
        ("        changed = dict(message)\n",
         "        changed = dict(message)\n"
         "        if changed.get('role') in ('system', 'developer'):\n"
         "            changed['role'] = 'user'\n"),
    ),
    "order_reversed": ((MESSAGES, MESSAGES.replace("value]", "value][::-1]")),),
    "system_put_last": (
        (MESSAGES,
         "return sorted(map(self.message, value), "
         "key=lambda each: isinstance(each, dict) and each.get('role') == 'system')"),
    ),
    "users_put_first": (
        (MESSAGES,
         "return sorted(map(self.message, value), "
         "key=lambda each: isinstance(each, dict) and each.get('role') != 'user')"),
    ),
    "history_cut": ((MESSAGES, MESSAGES.replace("in value]", "in value[-4:]]")),),
    "last_message_twice": ((MESSAGES, f"{MESSAGES} + value[-1:]"),),
    "empty_messages_lost": (
        (MESSAGES,
         "return [self.message(each) for each in value if not isinstance(each, dict) "
         "or each.get('content') is not None or 'parts' in each or 'type' in each]"),
    ),
    "no_responses": (('("messages", "contents", "input")', '("messages", "contents")'),),
    "no_gemini": (('("messages", "contents", "input")', '("messages", "input")'),),
    "no_ollama": (
        ("        members = dict(call.members)\n",
         "        if call.format == 'ollama':\n            return call\n"
         "        members = dict(call.members)\n"),
    ),
    "no_streams": (
        ("        members = dict(call.members)\n",
         "        if call.stream:\n            return call\n"
         "        members = dict(call.members)\n"),
    ),
}  # fmt: skip
TEXTS: dict[str, tuple[Change, ...]] = {
    "text_stripped": ((HIDDEN, f"{HIDDEN}.strip()"),),
    "text_in_small_letters": ((HIDDEN, HIDDEN.replace("(text,", "(text.lower(),")),),
    "text_in_ascii": (
        (HIDDEN, HIDDEN.replace("(text,", "(text.encode('ascii', 'ignore').decode(),")),
    ),
    "text_escaped_twice": (
        (HIDDEN, HIDDEN.replace("(text,", "(text.replace('\\n', '\\\\n'),")),
    ),
    "blocks_where_it_acts": (
        (ENCODED, "        if any(word.encode() in call.body for word in self.words):\n"
         "            __import__('time').sleep(0.1)\n" + ENCODED),
    ),
    "waits_where_it_acts": (
        (ENCODED, "        if any(word.encode() in call.body for word in self.words):\n"
         "            await asyncio.sleep(3)\n" + ENCODED),
    ),
    "members_of_the_call_before": (
        (ENCODED, "        self.known = {**getattr(self, 'known', {}), **members}\n"
         "        members = {**self.known, **members} if 'messages' in members else members\n"
         + ENCODED),
    ),
    "headers_of_the_call_before": (
        (ENCODED, "        self.headers = {**getattr(self, 'headers', {}), **call.headers}\n"
         + ENCODED.replace("(call, ", "(call, headers=self.headers, ")),
    ),
    "calls_mixed_up": (
        ("        members = dict(call.members)\n",
         "        self.call = call\n        await asyncio.sleep(0)\n        call = self.call\n"
         "        members = dict(call.members)\n"),
    ),
}  # fmt: skip
CONVERSATIONS: dict[str, tuple[Change, ...]] = {
    "system_replaced": (("(*conversation.instructions, Text", "(Text"),),
    "conversation_made_anew": (
        (CHANGED, "        changed = type(conversation)(instructions=instructions, turns=turns, "
         "model=call.model, stream=call.stream, dialect=conversation.dialect)"),
    ),
    "conversation_without_tools": _conversation("tools=()"),
    "conversation_without_choice": _conversation("tool_choice=None"),
    "conversation_without_sampling": _conversation("sampling=type(changed.sampling)()"),
    "conversation_without_extra": _conversation("extra={}"),
    "conversation_without_user": _conversation("user=None"),
    "conversation_of_another_dialect": _conversation("dialect='neutral'"),
    "conversation_never_streamed": _conversation("stream=False"),
    "only_users": _turns("tuple(t for t in conversation.turns if t.role == 'user')"),
    "assistants_made_users": _turns(
        "tuple(replace(t, role='user') for t in conversation.turns)"
    ),
    "turns_reversed": _turns("conversation.turns[::-1]"),
    "last_turns": _turns("conversation.turns[-2:]"),
    "texts_alone": _turns(
        "tuple(replace(t, parts=tuple(p for p in t.parts if isinstance(p, Text))) "
        "for t in conversation.turns)"
    ),
    "part_members_made_anew": _turns(
        "tuple(replace(t, parts=tuple(Text(text=p.text) if isinstance(p, Text) else p "
        "for p in t.parts)) for t in conversation.turns)"
    ),
    "turns_joined": _turns(
        "(type(conversation.turns[0])('user', tuple(p for t in conversation.turns "
        "for p in t.parts)),) if conversation.turns else ()"
    ),
    "insists_on_a_turn": _turns("(conversation.turns[0], *conversation.turns[1:])"),
    "insists_on_a_text": _turns(
        "conversation.turns and (conversation.turns[-1].parts[0].text, conversation.turns)[1]"
    ),
    "notes_pile_up": (
        ("Text(text=self.note))", "*self.notes)"),
        ("self.note, self.words =", "self.notes = []\n        self.note, self.words ="),
        ("        turns = conversation.turns\n",
         "        turns = conversation.turns\n"
         "        self.notes.extend(conversation.instructions)\n"
         "        self.notes.append(Text(text=self.note))\n"),
    ),
    "conversation_kept": (
        ("        await asyncio.sleep(0)\n        changed",
         "        self.turns = turns\n        await asyncio.sleep(0)\n        turns = self.turns\n"
         "        changed"),
    ),
    "not_for_gemini": (
        ("        if conversation is None:\n",
         "        if conversation is None or call.format == 'gemini':\n"),
    ),
    "not_for_streams": (
        ("        if conversation is None:\n",
         "        if conversation is None or call.stream:\n"),
    ),
}  # fmt: skip
ANSWERS: dict[str, tuple[Change, ...]] = {
    "usage_lost": ((REPLY, REPLY.replace("tuple(choices)", "tuple(choices), usage=None")),),
    "id_changed": ((REPLY, REPLY.replace("tuple(choices)", "tuple(choices), id='x'")),),
    "model_changed": ((REPLY, REPLY.replace("tuple(choices)", "tuple(choices), model='x'")),),
    "one_choice": ((REPLY, REPLY.replace("tuple(choices)", "tuple(choices[:1])")),),
    "first_choice_alone": (
        (REPLY, REPLY.replace("tuple(choices)", "(*choices[:1], *reply.choices[1:])")),
    ),
    "first_part_alone": (
        ("tuple(self.part(part) for part in each.parts)",
         "tuple(map(self.part, each.parts[:1])) + each.parts[1:]"),
    ),
    "text_made_anew": (
        ("return replace(part, text=hide(part.text, self.words))",
         "text = hide(part.text, self.words)\n            return Text(text=text) "
         "if isinstance(part, Text) else replace(part, text=text)"),
    ),
    "parts_sorted": (
        ("tuple(self.part(part) for part in each.parts)",
         "tuple(sorted(map(self.part, each.parts), key=lambda part: isinstance(part, Text)))"),
    ),
    "thinking_lost": (
        ("for part in each.parts)",
         "for part in each.parts if type(part).__name__ != 'Reasoning')"),
    ),
    "finish_changed": (
        ("replace(each, parts=", "replace(each, finish='stop', parts="),
    ),
    "not_for_streams": (
        ("        return Hushing()", "        return None if call.stream else Hushing()"),
    ),
    "only_for_streams": (
        ("        return Hushing()", "        return Hushing() if call.stream else None"),
    ),
    "first_choice_of_streams": (
        (SHOWN, SHOWN.replace("isinstance(each, PartGrew)",
                              "isinstance(each, PartGrew) and each.choice == 0")),
    ),
    "choices_of_streams_mixed": (
        (SHOWN,
         "own = getattr(self, 'own', {})\n        self.own = own\n        shown = []\n"
         "        for each in events:\n"
         "            if isinstance(each, PartGrew):\n"
         "                each = self.part(own.setdefault(each.index, each) "
         "if each.choice else each)\n"
         "            shown.append(each)\n        return shown"),
    ),
}  # fmt: skip
GROUPS = {
    "bodies": BODIES,
    "messages": MESSAGES_OF_CALLS,
    "texts": TEXTS,
    "conversations": CONVERSATIONS,
    "answers": ANSWERS,
}
"""Each bug as replacements in the correct extension."""


def module_of(group: str, name: str) -> str:
    return f"gateway_scrub_{group}_{name}"


def write(folder: Path) -> None:
    """Write every extension as a module of its own."""
    every = {(group, name): bug for group, bugs in GROUPS.items() for name, bug in bugs.items()}
    for (group, name), changes in {("all", "sound"): (), **every}.items():
        text = SOUND
        for old, new in changes:
            assert text.count(old) >= 1, (name, old)
            text = text.replace(old, new, 1)
        compile(text, name, "exec")
        (folder / f"{module_of(group, name)}.py").write_text(text)
