"""An invented Confluence site, as its exports show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

PAGE = "65591"
HOME = "65580"
AKI, KIM = "8a7f0001", "8a7f0002"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<hibernate-generic datetime="2026-11-03 10:00:00">\n'
)
TAIL = "</hibernate-generic>\n"


def cdata(text: str) -> str:
    """CDATA the way Confluence writes it: with a space in every end inside."""
    return f"<![CDATA[{text.replace(']]>', ']] >')}]]>"


def prop(name: str, value: str) -> str:
    return f'<property name="{name}">{cdata(value)}</property>\n'


def ref(name: str, kind: str, target: str, id_name: str = "id") -> str:
    return (
        f'<property name="{name}" class="{kind}" package="com.atlassian.confluence">'
        f'<id name="{id_name}">{cdata(target) if id_name == "key" else target}</id>\n</property>\n'
    )


def thing(kind: str, name: str, *parts: str, id_name: str = "id") -> str:
    return (
        f'<object class="{kind}" package="com.atlassian.confluence.pages">\n'
        f'<id name="{id_name}">{name}</id>\n{"".join(parts)}</object>\n'
    )


def person(key: str, name: str) -> str:
    return thing("ConfluenceUserImpl", cdata(key), prop("name", name), id_name="key")


def space(name: str = "Shop", key: str = "SHOP") -> str:
    return thing("Space", "100", prop("name", name), prop("key", key))


def changed(created: str, modified: str, by: str = KIM, creator: str = KIM) -> str:
    return (
        f'<property name="creationDate">{created}</property>\n'
        f'<property name="lastModificationDate">{modified}</property>\n'
        + ref("creator", "ConfluenceUserImpl", creator, "key")
        + ref("lastModifier", "ConfluenceUserImpl", by, "key")
    )


def page(  # noqa: PLR0913 - each test names the one field that it is about
    name: str = PAGE,
    title: str = "Cache",
    version: int = 1,
    *more: str,
    parent: str = HOME,
    status: str = "current",
    modified: str = "2026-11-02 09:05:11.000",
    kind: str = "Page",
    by: str = KIM,
    creator: str = KIM,
) -> str:
    return thing(
        kind,
        name,
        ref("space", "Space", "100"),
        ref("parent", kind, parent) if parent else "",
        prop("title", title),
        f'<property name="version">{version}</property>\n',
        changed("2026-11-01 08:00:00.000", modified, by, creator),
        prop("contentStatus", status),
        *more,
    )


def body(owner: str, text: str, kind: str = "Page", form: str | None = "2") -> str:
    shown = f'<property name="bodyType">{form}</property>\n' if form is not None else ""
    return thing("BodyContent", f"9{owner}", prop("body", text), ref("content", kind, owner), shown)


def comment(name: str, text: str, owner: str = PAGE, *more: str, by: str = KIM) -> str:
    when = f"2026-11-02 10:{int(name) % 60:02d}:00.000"
    return thing(
        "Comment",
        name,
        ref("containerContent", "Page", owner),
        '<property name="version">1</property>\n',
        changed(when, when, by, by),
        prop("contentStatus", "current"),
        *more,
    ) + body(name, text, "Comment")


def home() -> str:
    return page(HOME, "Shop Home", parent="")


def entities(*objects: str) -> str:
    people = [person(AKI, "Aki"), person(KIM, "Kim 金")]
    return HEAD + "".join([space(), *people, *objects]) + TAIL


def write(folder: Path, *objects: str) -> Path:
    """An export folder with these objects."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entities.xml").write_text(entities(*objects), encoding="utf-8")
    return folder


def write_raw(folder: Path, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entities.xml").write_bytes(data)
    return folder


def code(text: str, **parameters: str) -> str:
    return macro(
        "code", f"<ac:plain-text-body>{cdata_inside(text)}</ac:plain-text-body>", parameters
    )


def cdata_inside(text: str) -> str:
    """CDATA inside a body: an end in it goes on in a second section."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def macro(name: str, inside: str = "", parameters: Mapping[str, str] | None = None) -> str:
    told = "".join(
        f'<ac:parameter ac:name="{key}">{value}</ac:parameter>'
        for key, value in (parameters or {}).items()
    )
    return f'<ac:structured-macro ac:name="{name}">{told}{inside}</ac:structured-macro>'


def rich(inside: str) -> str:
    return f"<ac:rich-text-body>{inside}</ac:rich-text-body>"


def html_page(
    title: str = "Cache",
    inside: str = "<p>Valkey it is.</p>",
    modified: str = "Nov 02, 2026",
    crumbs: Iterable[str] = ("Shop", "Shop Home"),
    below: str = "",
) -> str:
    items = "".join(f"<li><span><a href='x.html'>{crumb}</a></span></li>" for crumb in crumbs)
    return f"""<!DOCTYPE html>
<html><head><title>Shop : {title}</title></head>
<body class="theme-default"><div id="page"><div id="main">
<div id="main-header"><div id="breadcrumb-section"><ol id="breadcrumbs">{items}</ol></div>
<h1 id="title-heading" class="pagetitle"><span id="title-text"> Shop : {title} </span></h1></div>
<div id="content" class="view"><div class="page-metadata">
Created by <span class='author'> Aki</span>, last modified by <span class='editor'> Kim 金</span>
on {modified}</div>
<div id="main-content" class="wiki-content group">{inside}</div>{below}</div></div></div></body>
</html>
"""


def write_html(folder: Path, **pages: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text("<html><title>SHOP (Shop)</title></html>", encoding="utf-8")
    for name, text in pages.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder
