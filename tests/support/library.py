"""A small vault with something in every scope, indexed by the product's own code."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from context_engine.events import Role, SourceDocument, Utterance
from context_engine.home import Home
from context_engine.scopes import Scope
from index.embedding.base import Embedder
from index.writer import IndexWriter
from vault.identity import project_identity
from vault.sources import write_source

NOTES: Mapping[Scope, Mapping[str, str]] = {
    Scope.PERSONAL: {
        "knowledge/value/2026-01-05-morning-0a1b2c3d4e5f.md": """\
---
type: insight
id: 0a1b2c3d4e5f
kind: value
confidence: raw
title: "朝に書く"
summary: "原稿は朝の二時間に書く。"
scope: personal
source: claude
extractor: cues
tags: [習慣]
created: 2026-01-05T07:00:00Z
---
# 朝に書く

原稿は朝の二時間に書く。夜は直しだけにする。暗号はタンポポ。

> 朝にしか書けないんだよね
""",
        "identity/canonical.md": """\
# 私について

## 書くこと

- 日本語と英語で書く {public}
- PRは三百行まで {work}

## 体のこと

- 持病の薬はタンポポ茶と一緒に飲まない
""",
    },
    Scope.WORK: {
        "knowledge/decision/2026-11-02-use-valkey-3f9a2c01b7de.md": """\
---
type: insight
id: 3f9a2c01b7de
kind: decision
confidence: raw
title: "キューはValkeyにする"
summary: "ライセンスを理由に、キューはRedisではなくValkeyにする。"
scope: work
project: shop
people: [佐藤]
source: claude
extractor: cues
tags: [queue]
created: 2026-11-02T09:05:11Z
---
# キューはValkeyにする

ライセンスを理由に、キューはRedisではなくValkeyにする。See [the runbook](../../runbook.md) and
[[projects/shop]].

> Valkeyにしよう。ライセンスが理由。
""",
        "runbook.md": """\
# Runbook

How the shop is run.

## Restarting the queue

Stop the workers first, then restart Valkey (`systemctl restart`). Ticket SHOP-4711.

## Backups

Backups run at night. 復元は月に一度ためす。

## Contacts

佐藤さんが当番表を持っている。
""",
        "projects/shop.md": """\
---
type: project
title: shop
state: active
goal: "注文を五分以内に発送へ渡す"
next: ["Valkeyへの移行を終える"]
---
# shop

Checkout and orders.
""",
    },
    Scope.PUBLIC: {
        "knowledge/learning/2026-03-03-utf8-99aabbccddee.md": """\
---
type: insight
id: 99aabbccddee
kind: learning
confidence: raw
title: "UTF-8 with BOM breaks the CSV import"
summary: "Strip the BOM before the import."
scope: public
source: github
extractor: cues
tags: [csv]
created: 2026-03-03T10:00:00Z
---
# UTF-8 with BOM breaks the CSV import

The importer takes the BOM for part of the first column's name. Strip it first.

> it was the BOM all along
""",
    },
}


MORNING = datetime(2026, 1, 5, 7, 0, tzinfo=UTC)


def _said(number: int, text: str, role: Role = Role.OWNER) -> Utterance:
    author = "aki" if role is Role.OWNER else "assistant"
    return Utterance(f"m{number}", author, role, MORNING + timedelta(minutes=number), text)


CONVERSATION = SourceDocument(
    source="claude",
    native_id="essay",
    scope=Scope.PERSONAL,
    title="随筆の相談",
    started=MORNING,
    utterances=(
        _said(0, "随筆の書き出しをタンポポの話にしたい。"),
        _said(1, "春の朝の情景から始めるとよいでしょう。", Role.ASSISTANT),
        _said(2, "それでいこう。締めは秋にする。"),
        _said(3, "秋の締めには落ち葉の匂いを置きましょう。", Role.ASSISTANT),
        _said(4, "題は「二つの季節」。"),
    ),
)


def write_notes(home: Home, scopes: Collection[Scope] = tuple(Scope)) -> None:
    """Write the notes of `scopes`, the identity's projections included."""
    for scope in scopes:
        for path, text in NOTES[scope].items():
            place = home.vault(scope) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    if Scope.PERSONAL in scopes:
        write_source(home, CONVERSATION)
        project_identity(home)


def index_home(home: Home, embedder: Embedder | None, scopes: Iterable[Scope] = Scope) -> None:
    """Bring the indexes of `scopes` up to date, vectors included."""
    for scope in scopes:
        with IndexWriter(home, scope, embedder) as writer:
            writer.scan()
            while embedder is not None and writer.embed_pending(64).waiting:
                pass


def copy_home(source: Home, target: Path) -> Home:
    """Return a copy of a home that nobody writes to at the moment; the model is shared."""
    shutil.copytree(source.root, target, ignore=shutil.ignore_patterns("models"))
    home = Home(target)
    home.models.symlink_to(source.models)
    return home
