"""What the pages are made of: words, charts, Markdown, settings, quarantine, the command."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from string import Formatter

import httpx
import pytest

from api import git as asking
from api.audit import AuditEntry, AuditLog
from api.audit_reading import read_last
from api.dashboard import language
from api.dashboard.cache import Cache
from api.dashboard.charts import Series, chart
from api.dashboard.git_history import history
from api.dashboard.language import LANGUAGES, catalogue, choose
from api.dashboard.links import create_link
from api.dashboard.markdown import render
from api.dashboard.review import _ACTIONS
from context_engine.clock import ManualClock, SystemClock
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import load_settings
from context_engine.settings_origin import MASK, origins
from index.browse import latest, tally, undecided
from support.api import serving
from support.dashboard import give_up
from support.engine import run
from support.library import index_home, write_notes
from support.vaults import START
from workers import outbox_view, quarantine
from workers.outbox import Outbox

TEMPLATES = Path(language.__file__).parent / "templates"


def test_every_language_has_the_same_texts_with_the_same_gaps() -> None:
    gaps = {
        each: {
            key: sorted(name for _, name, _, _ in Formatter().parse(text) if name)
            for key, text in catalogue(each).items()
        }
        for each in LANGUAGES
    }
    assert gaps["en"] == gaps["ja"]
    assert all(text.strip() for each in LANGUAGES for text in catalogue(each).values())


def test_every_text_that_a_template_names_exists() -> None:
    named = {
        key
        for place in TEMPLATES.rglob("*.html")
        for key in re.findall(r"""\bt\(["']([a-z0-9_.]+)["'](?! ~)""", place.read_text("utf-8"))
    }
    assert len(named) > 100
    assert named <= catalogue("en").keys()
    assert {f"review.action.{action}" for action in _ACTIONS} - {"review.action.move"} <= set(
        catalogue("en")
    )
    ailments = {
        f"ailment.{each.value}{end}" for each in quarantine.Ailment for end in ("", ".advice")
    }
    assert ailments <= catalogue("ja").keys()


def test_no_template_has_words_or_styles_of_its_own() -> None:
    for place in TEMPLATES.rglob("*.html"):
        source = place.read_text("utf-8")
        assert not re.search(r'\s(style|on[a-z]+)="', source), place.name
        assert not re.search(r"<script(?! src=)", source), place.name
        assert "|safe" not in source, place.name


@pytest.mark.parametrize(
    ("stated", "accept", "wanted"),
    [
        (None, "ja,en;q=0.8", "ja"),
        (None, "fr, ja-JP;q=0.9, en;q=0.95", "en"),
        (None, "de", "en"),
        (None, "ja;q=0, en;q=0.1", "en"),
        (None, ";;q=x,,", "en"),
        ("ja", "en", "ja"),
        ("xx", "ja", "ja"),
    ],
)
def test_the_language_is_the_one_that_is_wanted(
    stated: str | None, accept: str, wanted: str
) -> None:
    assert choose(stated, accept) == wanted


def test_a_chart_leaves_a_gap_where_nothing_was_measured() -> None:
    minutes = [*range(0, 600, 60), *range(3000, 3600, 60)]
    drawn = chart([Series("x", [(at, 1.5) for at in minutes])], now=3600, seconds=3600)

    assert drawn.lines[0].path.count("M") == 2
    assert drawn.high == 2.0
    assert chart([Series("x", [])], now=3600, seconds=3600).empty


def test_a_chart_of_a_month_keeps_its_peaks() -> None:
    points = [(float(at), 90.0 if at == 5000 else 1.0) for at in range(10_000)]
    drawn = chart([Series("x", points)], now=10_000, seconds=10_000)

    assert drawn.lines[0].path.count("L") < 400
    assert drawn.high == 100.0


def test_markdown_becomes_html_without_anything_that_loads_or_runs() -> None:
    html = render(
        "# 題\n\n<b onclick=x>b</b> ![a](http://x.example/p.png) [j](javascript:x) "
        "[n](../b/c%20d.md#e) [o](https://x.example/?a=1&b=2) [s](//x.example/a.md)",
        Scope.WORK,
        "a/n.md",
    )
    assert 'href="/notes/work/b/c%20d.md"' in html
    assert 'href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow"' in html
    assert "<b" not in html.replace("<blockquote", "")
    assert "src=" not in html
    assert html.count("href=") == 2


def test_a_setting_says_where_it_comes_from_and_no_secret(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.config_file.write_text('owner_name = "亜紀"\n[llm]\nmodel = "a"\n', encoding="utf-8")
    monkeypatch.setenv("CE_LLM__MODEL", "b")
    monkeypatch.setenv("CE_REDIS_URL", "redis://me:hunter2@127.0.0.1:6379/0")
    found = {each.name: each for each in origins(load_settings())}

    assert (found["llm.model"].value, found["llm.model"].origin) == ("b", "environment")
    assert (found["owner_name"].value, found["owner_name"].origin) == ("亜紀", "config")
    assert found["llm.num_ctx"].origin == "default"
    assert found["redis_url"].value == f"redis://{MASK}@127.0.0.1:6379/0"
    assert "hunter2" not in str(found)


def test_the_last_requests_are_read_from_the_end_over_rotated_files(home: Home) -> None:
    log = AuditLog(home.audit_log, max_bytes=500)
    for number in range(20):
        client = "a" if number % 2 else "b"
        log.write(AuditEntry(START, "rest", f"action{number}", "ok", client=client))

    found = read_last(home.audit_log, client=None, limit=12)
    assert [each["action"] for each in found] == [f"action{n}" for n in range(19, 7, -1)]
    assert [each["action"] for each in read_last(home.audit_log, client="b", limit=2)] == [
        "action18",
        "action16",
    ]


def test_what_took_a_worker_down_gets_one_try_and_what_took_too_long_starts_afresh(
    home: Home,
) -> None:
    outbox = Outbox(home.outbox)
    crash, slow = give_up(outbox, "crash", "a"), give_up(outbox, "timeout", "bb")
    assert {each.ailment.value for each in quarantine.classes(outbox)} == {"crash", "timeout"}
    assert quarantine.replay(outbox, [crash, slow, 999], max_attempts=3) == 2
    assert quarantine.replay(outbox, [crash], max_attempts=3) == 0

    jobs = {job.job_id: job for job in outbox.publishable("extract", 10)}
    assert (jobs[crash].attempts, jobs[slow].attempts) == (2, 0)
    started = outbox.start(crash, jobs[crash].key, "worker-1", max_attempts=3)
    assert started is not None
    outbox.release("worker-1", max_attempts=3)
    assert [job.job_id for job in outbox_view.quarantined(outbox)] == [crash]
    outbox.close()


def test_the_index_is_leafed_through_newest_first(home: Home) -> None:
    assert latest(home, Scope.WORK, before=None, limit=5) == []
    write_notes(home)
    index_home(home, None)
    first = latest(home, Scope.WORK, before=None, limit=2)
    rest = latest(home, Scope.WORK, before=first[-1].number, limit=10)

    assert {each.path for each in (*first, *rest)} >= {"runbook.md", "projects/shop.md"}
    assert not {each.path for each in first} & {each.path for each in rest}
    assert tally(home, Scope.WORK).notes == len(first) + len(rest)
    assert any("valkey" in path for _, path in undecided(home, Scope.WORK))


def test_a_notes_history_comes_from_git_and_starts_no_program(home: Home, tmp_path: Path) -> None:
    root, proof = home.vault(Scope.WORK), tmp_path / "started"
    note = root / "朝の ノート.md"

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=亜紀", "-c", "user.email=aki@example.com")
        subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)

    git("init", "-q")
    for text in ("一つ目\n", "二つ目\n"):
        note.write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", f"書く: {text.strip()}")
    (root / ".gitattributes").write_text("*.md diff=bad\n")
    for name in ("core.fsmonitor", "diff.external", "diff.bad.textconv", "diff.bad.command"):
        git("config", name, f"touch {proof}")

    found = history(root, note.name)
    assert found is not None
    assert [each.subject for each in found] == ["書く: 二つ目", "書く: 一つ目"]
    assert found[0].author == "亜紀"
    assert {"-一つ目", "+二つ目"} <= set(found[0].patch)
    assert not proof.exists()
    assert history(root, "nothing.md") == ()
    assert history(tmp_path, "note.md") is None


@pytest.mark.parametrize("piece", ["[", "![[", "*a", "`a` ", "[a](", "a_a "])
@pytest.mark.parametrize("length", [7_900, 190_000])
def test_no_paragraph_holds_a_page_up(piece: str, length: int) -> None:
    paragraph = f"{piece * (length // len(piece))}\n\n"
    text = paragraph * max(1, 190_000 // len(paragraph))
    started = time.process_time()
    html = render(f"{text}\n\n<b>[next](other.md)", Scope.WORK, "sources/a.md")
    assert time.process_time() - started < 8
    assert "&lt;b&gt;" in html
    assert 'href="/notes/work/sources/other.md"' in html


@pytest.mark.parametrize("knows_lazy_fetch", [True, False])
def test_what_a_repository_lacks_is_fetched_by_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, knows_lazy_fetch: bool
) -> None:
    root, proof = tmp_path / "vault", tmp_path / "started"
    root.mkdir()

    def git(*arguments: str) -> str:
        who = ("-c", "user.name=aki", "-c", "user.email=aki@example.com")
        command = ["git", *who, *arguments]
        return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    for text in ("one\n", "two\n"):
        (root / "note.md").write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", text.strip())
    blob = git("rev-parse", "HEAD~1:note.md").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(root),
        "remote.origin.uploadpack": f"touch {proof}; false",
        "protocol.file.allow": "always",
    }.items():
        git("config", name, value)
    if not knows_lazy_fetch:
        forget_lazy_fetch(tmp_path / "bin", monkeypatch)

    assert history(root, "note.md") is None
    assert not proof.exists()


def forget_lazy_fetch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a git first that does as an older one, which never heard of the variable."""
    real = shutil.which("git")
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setattr(asking, "_PLACES", str(folder))


def test_a_figure_is_shown_at_once_while_it_is_counted_anew() -> None:
    clock = ManualClock(START)
    cache = Cache(clock)
    begun, go_on = threading.Event(), threading.Event()

    def slow(value: int) -> Callable[[], int]:
        def compute() -> int:
            begun.set()
            assert go_on.wait(10)
            return value

        return compute

    assert cache.get("x", 5, lambda: 1) == 1
    clock.advance(6)
    assert cache.get("x", 5, slow(2)) == 1
    assert begun.wait(10)
    assert cache.get("x", 5, lambda: 3) == 1
    go_on.set()
    deadline = time.monotonic() + 10
    while cache.get("x", 5, lambda: 4) == 1:
        assert time.monotonic() < deadline
    assert cache.get("x", 5, lambda: 4) == 2


def test_the_command_gives_a_link_of_the_running_engine(home: Home) -> None:
    stopped = run(home, "dashboard", "--no-open", "--print-url")
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert "context-engine up" in stopped.stderr
    with serving(home) as api:
        done = run(home, "dashboard", "--no-open", "--print-url")
        link = done.stdout.strip()
        assert done.returncode == 0
        assert link.startswith(api.base + "/login?link=")
        assert httpx.get(link).status_code == 200
        assert httpx.get(link).status_code == 401


def test_an_open_live_page_does_not_hold_up_the_end(home: Home) -> None:
    with serving(home) as api:
        api.http.get(f"/login?link={create_link(home, SystemClock())}")
        with api.http.stream("GET", "/live?view=work") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            lines = stream.iter_lines()
            assert next(lines) == "event: part"
            pid = json.loads((home.state / "api.json").read_text("utf-8"))["pid"]
            started = time.monotonic()
            os.kill(pid, signal.SIGTERM)
            for _ in lines:
                pass
            assert time.monotonic() - started < 4
