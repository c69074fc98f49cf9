"""Names that say their value is secret: `DB_PASSWORD`, `apiKey`, `client_secret`, パスワード."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from context_engine.redaction.model import Subject


class Trust(IntEnum):
    """How much a name alone proves."""

    WEAK = 1
    """`key`, `auth`: only a long random value is a secret."""
    MEDIUM = 2
    """`token`, `secret`, `api key`: the value must not be a plain word."""
    STRONG = 3
    """`password`: whatever is written there."""
    DIGITS = 4
    """`PIN`, 暗証番号: four to eight digits."""


class Name(NamedTuple):
    """A secret's name in a text, `start` to `end`."""

    start: int
    end: int
    kind: str
    trust: Trust
    verb: bool = False
    """Could be the English verb: "pass x" gives nothing a value, "pass: x" does."""


_TAIL = (
    r"s?(?:[_-]?(?:confirm(?:ation)?|value|base|prod(?:uction)?|dev|staging|stg|test|live|old|new|"
    r"plain|text|encoded|b64|base64|primary|secondary|root|admin|string|data|\d{1,2}))?"
    r"(?![A-Za-z0-9_-])"
)
_NAME = re.compile(
    r"(?:(?P<password>pass(?:word|wd|wort|phrase|code)|passwd|pwd)|(?P<pass>pass|pw)"
    r"|(?P<secret>secret)|(?P<token>token)|(?P<key>key)"
    r"|(?P<credentials>cred(?:ential)?|auth)|(?P<pin>PIN(?:[ _-]?(?:code|number))?)"
    r"|(?P<mnemonic>mnemonic|(?<=seed[ _-])phrase|(?<=recovery[ _-])phrase))" + _TAIL,
    re.IGNORECASE | re.ASCII,
)
_ANCHORS = (
    b"pass",
    b"pw",
    b"secret",
    b"token",
    b"key",
    b"cred",
    b"auth",
    b"phrase",
    b"mnemonic",
)

# "the token service": most mentions of a secret go on in words, and need no closer look.
_PLAIN = re.compile(
    r" (?!(?:is|was|to|as|from|be|becomes|changed|set|for|of|on|in|at)\b)[a-z]++[ ,.;)\n?!]"
)
_PIN = re.compile(rb"PIN")
# What stands before `key`, `token` and `pass` says whether they are secret.
_SECRET_KEYS = (
    "api", "access", "secret", "private", "priv", "encryption", "encrypt", "enc", "decryption",
    "signing", "signature", "sign", "master", "account", "shared", "auth", "app", "application",
    "client", "service", "storage", "subscription", "consumer", "deploy", "admin", "license",
    "licence", "webhook", "session", "cookie", "crypto", "cipher", "aes", "hmac", "jwt", "server",
    "root", "integration", "ingestion", "ingest", "write", "bot", "fcm", "maps", "personal", "sdk",
    "bearer", "pass", "secure", "security", "restricted", "sas", "wallet", "psk",
)  # fmt: skip
_OTHER_KEYS = (
    "public", "pub", "primary", "foreign", "partition", "cache", "sort", "idempotency",
    "publishable", "object", "message", "routing", "group", "hash", "row", "index", "lookup",
    "json", "dict", "order", "translation", "natural", "unique", "composite", "candidate", "shift",
    "ctrl", "control", "hot", "arrow", "enter", "tab", "escape", "alt", "command", "function",
    "dedup", "dedupe", "trace", "correlation", "request", "event", "job", "sender", "recipient",
)  # fmt: skip
_OTHER_TOKENS = (
    "public", "page", "next", "continuation", "sync", "max", "eos", "bos", "pad", "unk", "sep",
    "cls", "mask", "special", "prompt", "completion", "total", "cache", "cached", "input",
    "output", "num", "stop", "start", "end", "cancellation", "parse", "position", "resume",
    "decoder", "image", "design", "lock",
)  # fmt: skip
_OTHER_PASSES = ("low", "high", "band", "all", "by", "first", "second", "one", "two", "multi")
_NAME_START = re.compile(r"[A-Za-z0-9_.$@-]{0,48}\Z")

# Written without groups: with them, the search tries every alternative at every character.
_JAPANESE = re.compile(
    r"パスワード|パスフレーズ|パスコード|パス(?=[:：＝=])|ﾊﾟｽﾜｰﾄﾞ|ＰＷ|合言葉|暗証番号|シークレット(?!キー)|秘密鍵|トークン|暗号鍵|"
    r"認証情報|クレデンシャル|キー"
)
_BEFORE_JAPANESE_KEY = re.compile(
    r"(?:API|ＡＰＩ|アクセス|シークレット|秘密|認証|ライセンス|暗号化?|共有|署名|マスター)[ ・]?\Z",
    re.IGNORECASE,
)
_JAPANESE_GROUPS = {
    "暗証番号": "pin",
    "シークレット": "secret",
    "秘密鍵": "secret",
    "トークン": "token",
    "暗号鍵": "key",
    "キー": "key",
    "認証情報": "credentials",
    "クレデンシャル": "credentials",
}
_KIND = {
    "password": ("password", Trust.STRONG),
    "pass": ("password", Trust.STRONG),
    "mnemonic": ("recovery-phrase", Trust.STRONG),
    "secret": ("secret", Trust.MEDIUM),
    "token": ("token", Trust.MEDIUM),
    "key": ("api-key", Trust.MEDIUM),
    "credentials": ("credentials", Trust.MEDIUM),
    "pin": ("pin", Trust.DIGITS),
}


def names(subject: Subject) -> Iterator[Name]:
    """Yield every name of a secret, English and Japanese, in no particular order."""
    places = [place for anchor in _ANCHORS for place in subject.places(anchor)]
    places += [match.start() for match in _PIN.finditer(subject.ascii)]
    for place in places:
        match = _NAME.match(subject.text, place)
        if match and _PLAIN.match(subject.text, match.end()):
            continue
        if match and (name := _classify(subject.text, match)):
            yield name
    if not subject.text.isascii():
        yield from _japanese(subject.text)


def _japanese(text: str) -> Iterator[Name]:
    for match in _JAPANESE.finditer(text):
        start = match.start()
        if match[0] == "キー":
            before = _BEFORE_JAPANESE_KEY.search(text, max(0, start - 8), start)
            if before is None:
                continue
            start = before.start()
        kind, trust = _KIND[_JAPANESE_GROUPS.get(match[0], "password")]
        yield Name(start, match.end(), kind, trust)


def _classify(text: str, match: re.Match[str]) -> Name | None:
    """Return the whole name that ends in `match`, or None when it names something else."""
    group = match.lastgroup or ""
    if text.endswith("/etc/", 0, match.start()):
        return None
    before = text[max(0, match.start() - 16) : match.start()]
    kind, trust = _KIND[group]
    if group in _CHECKS:
        checked = _CHECKS[group](before, match[0])
        if checked is None:
            return None
        trust = checked
    head = _NAME_START.search(text, max(0, match.start() - 48), match.start())
    start = head.start() if head else match.start()
    return Name(start, match.end(), kind, trust, verb=text[start : match.end()].lower() == "pass")


def _key(before: str, _: str) -> Trust | None:
    word = _word(before)
    if word.endswith(_SECRET_KEYS):
        return Trust.MEDIUM
    return None if word.endswith(_OTHER_KEYS) else Trust.WEAK


def _token(before: str, _: str) -> Trust | None:
    return None if _word(before).endswith(_OTHER_TOKENS) else Trust.MEDIUM


def _word(before: str) -> str:
    return before.rstrip(" _.-").lower()


def _pass(before: str, word: str) -> Trust | None:
    """`pass` and `pw` stand alone or end a name; PASS at the start of a line is a test result."""
    if before[-1:].isascii() and before[-1:].isalnum():
        return Trust.STRONG if word[:1] == "P" and before[-1].islower() else None
    if _word(before).endswith(_OTHER_PASSES) or (word == "PASS" and before[-1:] not in "_-"):
        return None
    return Trust.STRONG


def _pin(before: str, word: str) -> Trust | None:
    alone = not (before[-1:].isascii() and before[-1:].isalnum())
    return Trust.DIGITS if alone and (word.isupper() or len(word) > len("pins")) else None


def _auth(before: str, word: str) -> Trust | None:
    if word.lower().startswith("cred"):
        return Trust.MEDIUM
    alone = not (before[-1:].isascii() and before[-1:].isalpha())
    return Trust.WEAK if alone else None


_CHECKS = {"key": _key, "token": _token, "pass": _pass, "pin": _pin, "credentials": _auth}
