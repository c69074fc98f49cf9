"""A generated space export of Confluence, `entities.xml`, of any size.

Pages with three old versions each, comments, users and the bookkeeping around them, bodies before
their pages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

WORDS = [
    "cache",
    "license",
    "queue",
    "worker",
    "Valkey",
    "決定",
    "理由",
    "移行",
    "の",
    "手順",
    "を",
]


def generate(path: Path, size: int) -> None:
    """Write an export of at least `size` bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng, written, number = random.Random(4), 0, 65_000
    with path.open("w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic>\n')
        out.write('<object class="Space"><id name="id">1</id><property name="name">Shop</property>')
        out.write('<property name="key">SHOP</property></object>\n')
        while written < size:
            for text in _page(rng, number):
                written += len(text.encode())
                out.write(text)
            number += 20
        out.write("</hibernate-generic>\n")


def _page(rng: random.Random, number: int) -> Iterator[str]:
    for version in range(4):
        name = number + version
        yield _body(name, "Page", _storage(rng))
        original = (
            f'<property name="originalVersion" class="Page"><id name="id">{number}</id></property>'
        )
        yield _content(name, "Page", 4 - version, original if version else "")
    for offset in range(5, 8):
        owner = (
            f'<property name="containerContent" class="Page"><id name="id">{number}</id></property>'
        )
        yield _content(number + offset, "Comment", 1, owner)
        yield _body(number + offset, "Comment", f"<p>{_words(rng, 20)}</p>")
    for offset in range(8, 16):
        yield (
            f'<object class="ContentProperty"><id name="id">{number + offset}</id>'
            '<property name="name"><![CDATA[editor]]></property>'
            '<property name="stringValue"><![CDATA[v2]]></property></object>\n'
        )


def _ref(name: str, target: int, kind: str = "Page") -> str:
    return f'<property name="{name}" class="{kind}"><id name="id">{target}</id></property>\n'


def _content(name: int, kind: str, version: int, more: str) -> str:
    return (
        f'<object class="{kind}" package="com.atlassian.confluence.pages">\n'
        f'<id name="id">{name}</id>\n{_ref("space", 1, "Space")}{more}'
        f'<property name="title"><![CDATA[Page {name} 計画]]></property>\n'
        f'<property name="version">{version}</property>\n'
        '<property name="creationDate">2026-11-01 08:00:00.000</property>\n'
        '<property name="lastModificationDate">2026-11-02 09:05:11.000</property>\n'
        '<property name="contentStatus"><![CDATA[current]]></property>\n</object>\n'
    )


def _body(owner: int, kind: str, text: str) -> str:
    return (
        f'<object class="BodyContent"><id name="id">9{owner}</id>\n'
        f'<property name="body"><![CDATA[{text}]]></property>\n{_ref("content", owner, kind)}'
        '<property name="bodyType">2</property></object>\n'
    )


def _storage(rng: random.Random) -> str:
    return "".join(_section(rng) for _ in range(rng.randint(2, 10)))


def _section(rng: random.Random) -> str:
    return (
        f"<h2>{_words(rng, 4)}</h2><p>{_words(rng, 60)} <strong>{_words(rng, 3)}</strong></p>"
        f"<ul><li>{_words(rng, 8)}</li><li><ac:link><ri:page ri:content-title='Run book'/>"
        "</ac:link></li></ul><table><tbody><tr><th>a</th><th>b</th></tr>"
        f"<tr><td>{_words(rng, 5)}</td><td>{_words(rng, 5)}</td></tr></tbody></table>"
        "<ac:structured-macro ac:name='code'><ac:parameter ac:name='language'>py</ac:parameter>"
        f"<ac:plain-text-body><![CDATA[x = {rng.random()}]] ></ac:plain-text-body>"
        "</ac:structured-macro>"
    )


def _words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))
