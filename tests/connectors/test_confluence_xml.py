"""`entities.xml` is read whole, however it is cut, damaged or meant to harm."""

from __future__ import annotations

import io
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.confluence_xml import OBJECT_LIMIT, Entity, EntityReader
from context_engine.events import BadRecord
from support.confluence import HEAD, PAGE, TAIL, body, cdata, entities, home, page, prop, thing


class Pieces(io.BytesIO):
    """A stream that gives out few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self.size = size

    def read(self, size: int | None = -1, /) -> bytes:
        del size
        return super().read(self.size)


def read(data: bytes, size: int = 1 << 20) -> tuple[list[Entity], list[BadRecord], bool]:
    reader = EntityReader(Pieces(data, size), "entities.xml")
    items = list(reader)
    found = [item for item in items if isinstance(item, Entity)]
    return found, [item for item in items if isinstance(item, BadRecord)], reader.complete


def one(inside: str) -> Entity:
    found, bad, _ = read(f"{HEAD}{thing('Page', '1', inside)}{TAIL}".encode())
    assert bad == []
    return found[0]


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_objects_are_the_same_however_the_stream_is_cut(size: int) -> None:
    data = entities(home(), page(), body(PAGE, "<p>a</object> ]]> b</p>")).encode()
    found, bad, complete = read(data, size)
    assert complete
    assert bad == []
    assert [item.kind for item in found[3:]] == ["Page", "Page", "BodyContent"]
    assert found[5].fields["body"] == "<p>a</object> ]]> b</p>"
    assert found[4].refs == {
        "space": "100", "parent": "65580", "creator": "8a7f0002", "lastModifier": "8a7f0002",
    }  # fmt: skip


def test_named_entities_stray_ampersands_and_forbidden_characters_are_tolerated() -> None:
    entity = one('<property name="title">Gr&uuml;n &nbsp;A&B &foo; &#8;&#x41;\x0b</property>')
    assert entity.fields["title"] == "Grün \xa0A&B &foo; \ufffdA"


def test_entities_inside_cdata_stay_what_they_are() -> None:
    assert one(prop("body", "<p>&nbsp;&uuml;</p>")).fields["body"] == "<p>&nbsp;&uuml;</p>"


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    data = f"{HEAD}{thing('Page', '1', prop('title', 'x'))}{TAIL}".encode()
    found, bad, _ = read(data.replace(b"[x]", b"[\xff\xed\xa0\x80\xef\xbf\xbe]"))
    assert bad == []
    assert set(found[0].fields["title"]) == {"\ufffd"}


def test_collections_give_the_ids_of_their_elements() -> None:
    entity = one(
        '<collection name="bodyContents"><element class="BodyContent"><id name="id">7</id>'
        '\n</element><element class="BodyContent"><id name="id">8</id></element>'
        "</collection>"
    )
    assert entity.many == {"bodyContents": ["7", "8"]}


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!doctype x SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE x SYSTEM "http://192.0.2.1/x.dtd">',
    ],
)
def test_document_types_are_refused_at_once(doctype: str) -> None:
    begun = time.monotonic()
    data = f'<?xml version="1.0"?>{doctype}{HEAD[39:]}{page()}{TAIL}'.encode()
    found, bad, complete = read(data)
    assert found == []
    assert not complete
    assert [record.place for record in bad] == ["entities.xml"]
    assert "document type" in bad[0].reason
    assert time.monotonic() - begun < 1


def test_a_document_type_inside_an_object_harms_only_that_object() -> None:
    bomb = thing("Page", "1", '<!DOCTYPE x [<!ENTITY a "b">]><property name="title">&a;</property>')
    found, bad, complete = read(f"{HEAD}{bomb}{page()}{TAIL}".encode())
    assert [item.id for item in found] == [PAGE]
    assert len(bad) == 1
    assert complete


def test_a_huge_attribute_costs_no_seconds() -> None:
    huge = thing("Page", "1", f'<property name="title" x="{"a" * 20_000_000}">t</property>')
    begun = time.monotonic()
    found, bad, _ = read(f"{HEAD}{huge}{page()}{TAIL}".encode(), 1 << 16)
    assert [item.id for item in found] == [PAGE]
    assert [item.reason for item in bad] == ["refused: an object larger than 16 MiB"]
    assert time.monotonic() - begun < 2


def test_a_large_attribute_that_is_allowed_costs_no_seconds() -> None:
    large = thing("Page", "1", f'<property name="title" x="{"a" * 15_000_000}">t</property>')
    begun = time.monotonic()
    found, bad, _ = read(f"{HEAD}{large}{TAIL}".encode(), 1 << 16)
    assert [item.id for item in found] == ["1"]
    assert bad == []
    assert time.monotonic() - begun < 3


def test_many_small_sections_cost_no_seconds() -> None:
    many = thing("Page", "1", "<![CDATA[x]]>" * 600_000)
    begun = time.monotonic()
    found, _, _ = read(f"{HEAD}{many}{TAIL}".encode(), 1 << 16)
    assert [item.id for item in found] == ["1"]
    assert time.monotonic() - begun < 5


def test_an_object_beyond_the_limit_is_refused_and_the_rest_goes_on() -> None:
    class Huge(io.RawIOBase):
        def __init__(self) -> None:
            filler = [b"x" * (1 << 20)] * ((3 * OBJECT_LIMIT) >> 20)
            start = (
                f'{HEAD}<object class="Page"><id name="id">1</id><property name="title"><![CDATA['
            )
            self.rest = [start.encode(), *filler, f"]]></property></object>{page()}{TAIL}".encode()]

        def read(self, size: int = -1, /) -> bytes:
            del size
            return self.rest.pop(0) if self.rest else b""

    tracemalloc.start()
    try:
        items = list(EntityReader(Huge(), "entities.xml"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [item.id for item in items if isinstance(item, Entity)] == [PAGE]
    assert [item.reason for item in items if isinstance(item, BadRecord)] == [
        "refused: an object larger than 16 MiB"
    ]
    assert peak < 3 * OBJECT_LIMIT


def test_deep_nesting_is_refused() -> None:
    deep = thing("Page", "1", "<a>" * 100_000 + "</a>" * 100_000)
    found, bad, _ = read(f"{HEAD}{deep}{page()}{TAIL}".encode())
    assert [item.id for item in found] == [PAGE]
    assert "nested" in bad[0].reason


def test_a_damaged_object_is_named_and_the_one_it_swallowed_is_kept() -> None:
    broken = '<object class="Page"><id name="id">1</id><property name="title">\n'
    found, bad, complete = read(f"{HEAD}{broken}{page()}{TAIL}".encode())
    assert [item.id for item in found] == [PAGE]
    assert bad[0].place.startswith("entities.xml at byte ")
    assert complete


@pytest.mark.parametrize("cut", [30, 200, 700, -3, -30])
def test_a_file_that_is_cut_off_says_so_and_is_not_complete(cut: int) -> None:
    found, bad, complete = read(entities(home(), page()).encode()[:cut])
    assert bad
    assert not complete
    assert len(found) <= 5


@pytest.mark.parametrize("data", [b"", b"PK\3\4", b"{}", "\ufeff<hibernate".encode("utf-16")])
def test_what_is_no_export_is_said_to_be_none(data: bytes) -> None:
    found, bad, complete = read(data)
    assert found == []
    assert len(bad) == 1
    assert not complete


tokens = st.sampled_from(
    [
        "<object class='Page'>", "</object>", "<![CDATA[", "]]>", "]] >", "<id name='id'>", "</id>",
        "<property name='title'>", "</property>", "<collection name='c'>", "</collection>",
        "&nbsp;", "&#0;", "&", "<!DOCTYPE a>", "<!--", "-->", "<?x", "?>", "\0", "ü", "<", ">", "'",
        "<object", "<hibernate-generic>", "</hibernate-generic>", "1", " ", cdata("x"), page(),
    ]
)  # fmt: skip


@given(st.lists(tokens, max_size=40), st.integers(min_value=1, max_value=30), st.booleans())
@settings(max_examples=300, deadline=None)
def test_anything_ends_without_raising(parts: list[str], size: int, headed: bool) -> None:
    text = "".join(parts)
    data = (HEAD + text + TAIL if headed else text).encode()
    found, bad, _ = read(data, size)
    whole, all_bad, _ = read(data)
    assert ([item.id for item in found], len(bad)) == ([item.id for item in whole], len(all_bad))


@given(st.binary(max_size=400), st.integers(min_value=0, max_value=3000))
@settings(max_examples=200, deadline=None)
def test_bytes_in_the_middle_never_raise(noise: bytes, place: int) -> None:
    data = entities(home(), page(), body(PAGE, "<p>x</p>")).encode()
    read(data[:place] + noise + data[place:], 50)
