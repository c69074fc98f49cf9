"""Wiki markup, as pages were written before Confluence 4, to Markdown: enough to read it well."""

from __future__ import annotations

import re

from connectors.confluence_markdown import fenced

_CODE = re.compile(r"\{(code|noformat)(?::([^}\n]{0,300}))?\}(.*?)\{\1\}", re.DOTALL)
_HEADING = re.compile(r"[ \t]*h([1-6])\.[ \t]*")
_LIST = re.compile(r"^[ \t]*([*#-]{1,10})[ \t]+(?=\S)")
_LINK = re.compile(r"\[([^\[\]|\n]{1,500})\|([^\[\]\n]{1,2000})\]")
_BARE_LINK = re.compile(r"\[((?:https?|mailto):[^\[\]\s]{1,2000})\]")
_MACRO = re.compile(r"\{(section|column|toc|color|quote|panel|anchor)(?::[^}\n]{0,300})?\}")
_QUOTE = re.compile(r"^bq\.[ \t]*", re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z0-9+#]{1,20}")
_WEB = re.compile(r"(?:https?|mailto):")


def wiki_to_markdown(text: str) -> str:
    """Return wiki markup as Markdown; code is copied, and what is not known is left as it is."""
    text = text.replace("\r\n", "\n")
    parts: list[str] = []
    position = 0
    for match in _CODE.finditer(text):
        parts.append(_prose(text[position : match.start()]))
        language = _language(match[2]) if match[1] == "code" else ""
        parts.append(f"\n{fenced(match[3].strip(chr(10)), language)}\n")
        position = match.end()
    parts.append(_prose(text[position:]))
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()


def _language(parameters: str | None) -> str:
    for parameter in (parameters or "").split("|"):
        name, equals, value = parameter.partition("=")
        if not equals and _LANGUAGE.fullmatch(name.strip()):
            return name.strip()
        if name.strip() in {"language", "lang"}:
            return value.strip()
    return ""


def _prose(text: str) -> str:
    text = _MACRO.sub("", text)
    text = _QUOTE.sub("> ", text)
    text = _LINK.sub(_link, text)
    text = _BARE_LINK.sub(r"<\1>", text)
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _line(line, in_table=bool(lines) and lines[-1].startswith("|"))
    return "\n".join(lines)


def _link(match: re.Match[str]) -> str:
    words, target = match[1].strip(), match[2].split("|")[0].strip()
    if _WEB.match(target):
        return f"[{words}]({target})"
    return words if words == target else f"{words} ({target})"


def _line(line: str, *, in_table: bool) -> list[str]:
    found = _LIST.match(line)
    if found:
        depth, ordered = len(found[1]) - 1, found[1].endswith("#")
        return [f"{'   ' * depth}{'1.' if ordered else '-'} {line[found.end() :]}"]
    found = _HEADING.match(line)
    if found:
        return [f"{'#' * int(found[1])} {line[found.end() :]}"]
    stripped = line.strip()
    if stripped.startswith("||"):
        cells = [cell.strip() for cell in stripped.strip("|").split("||")]
        return ["", _row(cells), "|" + " --- |" * len(cells)]
    if stripped.startswith("|") and in_table:
        return [
            _row([cell.strip() for cell in stripped.removeprefix("|").removesuffix("|").split("|")])
        ]
    return [line]


def _row(cells: list[str]) -> str:
    return "|" + "".join(f" {cell} |" for cell in cells)
