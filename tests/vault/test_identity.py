"""The identity is one; no scope ever sees an item of a narrower visibility."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context_engine.errors import BadInputError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.identity import check_identity, create_identity, identity_card, project_identity
from vault.layout import IDENTITY, PROFILE

WIDTH = {Scope.PERSONAL: 0, Scope.WORK: 1, Scope.PUBLIC: 2}


def write_identity(home: Home, body: str) -> None:
    file = home.vault(Scope.PERSONAL) / IDENTITY
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"---\ntype: identity\n---\n{body}")
    project_identity(home)


def profile(home: Home, scope: Scope) -> str:
    file = home.vault(scope) / PROFILE
    return file.read_text() if file.exists() else ""


def seen_by(home: Home, body: str) -> dict[str, str]:
    write_identity(home, body)
    return {scope.value: identity_card(home, scope) for scope in Scope}


def test_each_scope_sees_its_own_items_and_the_wider_ones(home: Home) -> None:
    cards = seen_by(home, "- 夜型\n- 小さいPR {work}\n- 日本語と英語 {visibility: public}\n")
    assert cards["personal"] == "- 夜型\n- 小さいPR\n- 日本語と英語"
    assert cards["work"].endswith("- 小さいPR\n- 日本語と英語")
    assert "夜型" not in cards["work"]
    assert cards["public"].endswith("\n- 日本語と英語")
    assert "PR" not in cards["public"]


def test_a_tag_on_a_heading_counts_for_the_items_below_it(home: Home) -> None:
    body = "## 仕事 {work}\n\n- 一\n- 二 {personal}\n\n### 細部\n\n- 三\n\n## 家\n\n- 四\n"
    work = seen_by(home, body)["work"]
    assert work.endswith("## 仕事\n\n- 一\n\n### 細部\n\n- 三")


def test_the_words_of_a_heading_without_tag_stay_personal(home: Home) -> None:
    work = seen_by(home, "## 病歴\n\n- 朝は弱い {work}\n")["work"]
    assert "病歴" not in work
    assert work.endswith("## —\n\n- 朝は弱い")


@pytest.mark.parametrize(
    "item",
    [
        "- 秘密 {wrok}",
        "- 秘密 {visibility: everyone}",
        "- 秘密 {}",
        "- 秘密 {personal}.",
        "- 秘密 {visibility: personal} だけ",
        "- 秘密 ｛個人｝",
        "- 秘密 {work} {personal}",
        "- 秘密 {personal} {work}",
        "- 一行目 {work}\n  秘密 {personal}",
        "- 一 {personal}\n  - 秘密",
        "- 一 {personal}\n  - 秘密 {public}",
        "秘密の段落 {personal}",
        "<!-- 秘密 {public} -->",
        "- 一 <!-- 秘密 --> {work}",
        "- 一 <!-- 秘密",
    ],
)
def test_in_doubt_an_item_is_personal(home: Home, item: str) -> None:
    cards = seen_by(home, f"# 題 {{work}}\n\n{item}\n\n- 他 {{public}}\n")
    assert "秘密" not in cards["work"] + cards["public"]
    assert "他" in cards["work"]


@pytest.mark.parametrize(
    "tag", ["{public}", "{公開}", "｛public｝", "{visibility: public}", "{ PUBLIC }"]
)
def test_tags_are_understood_in_both_languages_and_widths(home: Home, tag: str) -> None:
    assert "日本語と英語" in seen_by(home, f"- 日本語と英語 {tag}\n")["public"]


def test_what_is_not_understood_is_reported_with_its_line(home: Home) -> None:
    write_identity(home, "- 一\n- 二 {pulbic}\n")
    (problem,) = check_identity(home)
    assert problem.place == f"{IDENTITY}:2"
    assert "pulbic" in problem.reason


def test_ordinary_braces_inside_a_line_are_no_tag(home: Home) -> None:
    body = "- `${HOME}` を使う、{x} も {work}\n"
    assert seen_by(home, body)["work"].endswith("- `${HOME}` を使う、{x} も")
    assert check_identity(home) == ()


def test_narrowing_an_item_takes_it_out_of_the_profiles(home: Home) -> None:
    assert "夜型" in seen_by(home, "- 夜型 {public}\n")["public"]
    cards = seen_by(home, "- 夜型\n")
    assert "夜型" not in cards["work"] + cards["public"]


def test_deleting_the_identity_empties_the_profiles(home: Home) -> None:
    write_identity(home, "- 夜型 {public}\n")
    (home.vault(Scope.PERSONAL) / IDENTITY).unlink()
    project_identity(home)
    assert "夜型" not in profile(home, Scope.PUBLIC)


def test_projecting_again_changes_nothing(home: Home) -> None:
    write_identity(home, "- 夜型 {public}\n")
    assert not any(projection.changed for projection in project_identity(home))


def test_what_a_person_wrote_into_a_profile_is_moved_to_the_inbox(home: Home) -> None:
    write_identity(home, "- 夜型 {work}\n")
    file = home.vault(Scope.WORK) / PROFILE
    file.write_text(file.read_text() + "- 手書き\n")
    work, _ = project_identity(home)
    assert "手書き" not in file.read_text()
    assert work.conflict is not None
    assert "手書き" in (home.vault(Scope.WORK) / work.conflict).read_text()


def test_an_unreadable_identity_is_told_and_the_profiles_stay(home: Home) -> None:
    write_identity(home, "- 夜型 {work}\n")
    (home.vault(Scope.PERSONAL) / IDENTITY).write_bytes("夜型".encode("shift_jis"))
    with pytest.raises(BadInputError, match="UTF-8"):
        project_identity(home)
    assert "夜型" in profile(home, Scope.WORK)


def test_a_new_home_gets_a_template_that_says_nothing_about_anybody(home: Home) -> None:
    assert create_identity(home)
    assert not create_identity(home)
    assert check_identity(home) == ()
    assert identity_card(home, Scope.PERSONAL) == ""
    assert all(not projection.changed for projection in project_identity(home))


SCOPES = st.sampled_from([None, *Scope])
GLUE = st.sampled_from(
    ["", "\n", "\n\n", "  ", "\n\n## 題\n\n", "\n\n---\n\n", "\n```\nx\n```\n", "\n> "]
)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_whatever_surrounds_it_a_tagged_item_is_never_shown_more_widely(
    home: Home, data: st.DataObject
) -> None:
    lines: list[str] = []
    tags: dict[str, Scope] = {}
    for number in range(data.draw(st.integers(1, 8))):
        word, tag = f"項目{number:03d}", data.draw(SCOPES)
        indent = data.draw(
            st.sampled_from(["- ", "  - ", "    - ", "* ", "1. ", "\n", "> - ", "", "## "])
        )
        lines.append(f"{indent}{word}{f' {{{tag}}}' if tag else ''}{data.draw(GLUE)}")
        if tag is not None:
            tags[word] = tag
    write_identity(home, "\n".join(lines))
    for scope in (Scope.WORK, Scope.PUBLIC):
        too_narrow = [word for word, tag in tags.items() if WIDTH[tag] < WIDTH[scope]]
        assert not [word for word in too_narrow if word in profile(home, scope)]


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_exactly_the_items_of_a_scope_are_shown(home: Home, data: st.DataObject) -> None:
    lines: list[str] = []
    visible: dict[str, Scope] = {}
    heading, outer, depth = Scope.PERSONAL, [Scope.PUBLIC], 0
    for number in range(data.draw(st.integers(1, 10))):
        word, tag = f"項目{number:03d}", data.draw(SCOPES)
        stated = f" {{{tag}}}" if tag else ""
        if data.draw(st.integers(0, 3)) == 0:
            heading, depth, outer = tag or Scope.PERSONAL, 0, [Scope.PUBLIC]
            lines.append(f"\n## {word}{stated}\n")
            continue
        depth = data.draw(st.integers(1, depth + 1))
        above = outer[depth - 1] if depth > 1 else None
        scope = tag or above or heading
        scope = min(scope, above or scope, key=WIDTH.__getitem__)
        outer = [*outer[:depth], scope]
        lines.append(f"{'  ' * (depth - 1)}- {word}{stated}")
        visible[word] = scope
    write_identity(home, "\n".join(lines))
    for scope in Scope:
        shown = identity_card(home, scope)
        expected = {word for word, seen in visible.items() if WIDTH[seen] >= WIDTH[scope]}
        assert {word for word in visible if word in shown} == expected
