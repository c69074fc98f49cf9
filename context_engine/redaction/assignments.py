"""Values given to a name that says it is secret: env files, YAML, JSON, code, flags, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.judgement import Style, Value, is_secret
from context_engine.redaction.model import Span, Subject
from context_engine.redaction.names import Name, names

# What may stand between a name and its value. A group's name says which style follows.
_SEPARATOR = re.compile(
    r"""
    (?:\\{0,3}["'`\]]){0,2}\*{0,2}                       # the name was quoted, or bold
    (?:[ \t]?[(（][^()（）\n]{1,30}[)）])?               # password (production):
    (?:
      (?P<sibling>["'`]?(?:</?[A-Za-z]{1,10}>)?[,;\s]{0,40}(?:\w{1,12}="[^"\n]{0,40}"[ ]){0,3}
        \\{0,3}["'<]?(?:value|string|default|secretvalue)\\{0,3}["']?[ ]?[:=>]\s{0,4})
    | (?P<typed>\??[ \t]?:[ \t]?[A-Za-z][A-Za-z_.<>\[\]?|\ ]{0,30}?(?:[ ]=[ ]|[ ]?=(?=["'`])))
    | (?P<compared>[ \t]?[!=]==?[ \t]?(?=["'`]))
    | (?P<assigned>[ \t\u3000]{0,24}(?::=|=>|\?\?=|\|\|=|\?=|->|[=＝])[ \t\u3000]{0,8}\*{0,2})
    | (?P<below>[ \t]?[:：](?:[ \t]?[|>][+-]?)?[ \t]{0,4}\r?\n[ \t]{0,16})
    | (?P<field>[ \t]{0,24}[:：→⇒]\*{0,2}[ \t\u3000]{0,8})
    | (?P<listed>(?<=["'`]),[ ]?(?=\\{0,3}["'`]))        # put("password", "…")
    | (?P<element>(?:[ ]\w{1,12}="[^"\n]{0,40}"){0,2}>)
    | (?P<call>\((?=["'`]))
    | (?P<cell>[ \t]{0,24}\|[ \t]{0,8})
    | (?P<prose>
        (?:[ ](?:for|of|on|in|at|to)[ ][^\n:=]{1,40}?)?
        (?:(?:[ ](?:is|was|to|as|from|be|becomes|changed[ ]to|set[ ]to)|['’]s)
           (?:[ ](?:now|set[ ]to|currently|just|still|probably|literally))?[ ]?:?[ ]
         | [ ]?[:=][ ] | [ ][—–-][ ])
      | [ \u3000]?(?:として(?:は)?|については|には|では|は|が|を|も|に|の値は)[、,]?
        (?:次|以下|こちら|これ|下記|今)?(?:の通り|のとおり)?(?:です)?[:：→。]?[ \u3000]?\r?\n?
      )
    | (?P<flag>[ \t]{1,4})
    | (?P<bracket>(?=[「『“]))
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOOSE = frozenset({"prose", "cell", "call", "listed", "flag", "bracket", "compared", "below"})
_QUOTE_ONLY = frozenset({"call", "compared", "bracket"})
_STYLES = {
    "sibling": Style.FIELD,
    "typed": Style.CODE,
    "field": Style.FIELD,
    "element": Style.FIELD,
}
_PHRASE = re.compile(r"[a-z]{2,12}(?:[ ][a-z]{2,12}){3,23}(?=[ \t]*(?:\n|\Z))")
_THEN = re.compile(r"[\"'`」』”]?[ ]?(?:to|から|→|->|or)[ ]?")

_OPENING = re.compile(r"(?:[furbFURB@]{0,2})(?P<open>\\{0,3}(?:\"\"\"|'''|[\"'`“‘「『«]))")
_CLOSING = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
_LOOKED_AT = 300
_LOOKED_AT_AGAIN = 64
_LONGEST = 8192

# Japanese text ends a value, whether spaced or not; so does what was redacted before.
_ENDS = r"\s\ufffc\u3000-\u303f\u3040-\u9fff\uff01\uff08-\uff0c\uff1a-\uff1f"
_BARE = re.compile(
    rf"[^{_ENDS}\"'`<|](?:[^{_ENDS}\"'`<|]++|<(?![/!]|[a-z]{{1,10}}[\s>/:])|\|(?!\s|\Z))*"
)
_WHOLE_LINE = re.compile(rf"[^{_ENDS}]+(?=[ \t]*(?:\r?\n|\Z))")
_NEXT = re.compile(
    r"[,;&](?=[ ]?[\"']?[A-Za-z][\w.-]{0,40}[\"']?[ ]?[=:])|&(?:quot|lt|gt|#\d\d|#x\w\w);"
)
_OPENED = re.compile(r"[()\[\]{}]")
_CLOSES = re.compile(r"[)\]}](?=[\s.,;:!?)\]}(\[\"'`]|\Z)")
_TRAILING = re.compile(r"[\]),.;:!?}*\\]+\Z")
# What may stand before a name on a line of its own; an env file's name is not indented.
_ENV_LINE = re.compile(
    r"(?:>\s?|[|#;] ?|- |\d{1,4}[:.|]|\$ |export |setx? |ENV |ARG |local |readonly |declare -x |"
    r"-e )*\Z"
)
_FIELD_LINE = re.compile(r"[ \t>*#;・-]*\Z")
_LINE_REACH = 40


def assignments(subject: Subject) -> Iterator[Span]:
    """Yield the values of names that say they are secret."""
    end = read = 0
    for name in sorted(names(subject)):
        separator = _SEPARATOR.match(subject.text, name.end) if name.start >= end else None
        if separator is None or (name.verb and separator.lastgroup in _LOOSE):
            continue
        # inside what was read and found no secret, a short look keeps the whole linear
        longest = _LOOKED_AT if name.start >= read else _LOOKED_AT_AGAIN
        value = _read(subject.text, name, separator, longest)
        read = max(read, value.end) if value else read
        if value and is_secret(subject.text, name.trust, value):
            for found in _whole(subject.text, name, separator, value):
                end = found.end
                yield Span(found.start, end, name.kind)


def _whole(text: str, name: Name, separator: re.Match[str], value: Value) -> Iterator[Value]:
    """Yield the value in its full length, and a second one: changed the password from … to …."""
    value = _read(text, name, separator, _LONGEST) or value
    yield value
    then = _THEN.match(text, value.end) if value.style is Style.PROSE else None
    second = _bare(text, then.end(), Style.PROSE, _LOOKED_AT) if then else None
    if second and is_secret(text, name.trust, second):
        yield second


def _read(text: str, name: Name, separator: re.Match[str], longest: int) -> Value | None:
    """Return the value after `separator`: quoted, or one bare word."""
    start, how = separator.end(), separator.lastgroup or ""
    opening = _OPENING.match(text, start)
    if opening:
        return _quoted(text, opening, Style.CITED if how in _LOOSE else Style.QUOTED, longest)
    if how in _QUOTE_ONLY:
        return None
    if how == "field" and (phrase := _phrase(text, name, start)):
        return phrase
    style = _assigned(text, name, separator) if how == "assigned" else _STYLES.get(how, Style.PROSE)
    on_its_own = style is Style.ENV or (how == "field" and _begins_line(text, name, _FIELD_LINE))
    line = _line(text, start, style, longest) if on_its_own else None
    value = line or _bare(text, start, style, longest)
    if how == "element" and value and not text.startswith("</", value.end):
        return None
    return value


def _phrase(text: str, name: Name, start: int) -> Value | None:
    """Return the words of a passphrase or recovery phrase that fill the rest of the line."""
    spelled = text[name.start : name.end].lower()
    words = _PHRASE.match(text, start) if spelled.endswith(("phrase", "mnemonic")) else None
    return Value(start, words.end(), Style.QUOTED) if words else None


def _assigned(text: str, name: Name, separator: re.Match[str]) -> Style:
    """Tell the `=` of an env file or a flag from that of code, where a name or a call follows."""
    spelled = text[name.start : name.end]
    literal = spelled.isupper() or spelled[0] == "-" or _begins_line(text, name, _ENV_LINE)
    return Style.ENV if separator[0] == "=" and literal else Style.CODE


def _begins_line(text: str, name: Name, prefix: re.Pattern[str]) -> bool:
    start = text.rfind("\n", max(0, name.start - _LINE_REACH), name.start) + 1
    near = start > 0 or name.start <= _LINE_REACH
    return near and bool(prefix.match(text, start, name.start))


def _quoted(text: str, opening: re.Match[str], style: Style, longest: int) -> Value | None:
    mark = opening["open"]
    closing = mark[:-1] + _CLOSING.get(mark[-1], mark[-1])
    end = _closing(text, closing, opening.end(), opening.end() + longest)
    if end < 0:
        return _bare(text, opening.end(), style, longest)
    return Value(opening.end(), end, style)


def _closing(text: str, closing: str, start: int, limit: int) -> int:
    """Return where a quoted value ends: before an unescaped `closing`, on the same line."""
    end = text.find(closing, start, limit)
    while end > start and closing[0] != "\\" and _is_escaped(text, end):
        end = text.find(closing, end + 1, limit)
    several_lines = len(closing) == 1 and end > start and text.find("\n", start, end) >= 0
    return -1 if several_lines else end


def _is_escaped(text: str, position: int) -> bool:
    backslashes = 0
    while text[position - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _bare(text: str, start: int, style: Style, longest: int) -> Value | None:
    match = _BARE.match(text, start, start + longest)
    if match is None:
        return None
    following = _NEXT.search(text, start, match.end() + 1) if style is not Style.ENV else None
    end = _balanced_end(text, start, following.start() if following else match.end())
    trailing = _TRAILING.search(text, start, end)
    end = trailing.start() if trailing else end
    return Value(start, end, style) if end > start else None


def _balanced_end(text: str, start: int, end: int) -> int:
    """Return where a bracket closes that did not open in the value: (password=x)."""
    if not _CLOSES.search(text, start, end + 1):
        return end
    depth = 0
    for bracket in _OPENED.finditer(text, start, end):
        depth += 1 if bracket[0] in "([{" else -1
        if depth < 0 and _CLOSES.match(text, bracket.start()):
            return bracket.start()
    return end


def _line(text: str, start: int, style: Style, longest: int) -> Value | None:
    """Return the one word that fills the rest of a line, whatever signs it holds."""
    match = _WHOLE_LINE.match(text, start, start + longest)
    if match is None or match[0][-1] in ",);":
        return None
    return Value(start, match.end(), style)
