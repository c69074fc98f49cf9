"""What a person sees and does, in a real Chromium."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi, serving
from support.dashboard import (
    HOSTILE,
    browsing,
    document,
    give_up,
    log_in,
)
from support.library import index_home, write_notes
from vault.sources import write_source
from workers.outbox import Outbox

PAGES = {
    "/": "Overview",
    "/work": "Work",
    "/review": "Review",
    "/search": "Search",
    "/search?q=Valkey&scope=work": "Search",
    "/notes/work/runbook.md": "Runbook",
    "/notes/work/runbook.md?view=edit": "Runbook",
    "/sources": "Sources",
    "/clients": "Clients",
    "/settings": "Settings",
}
AXE = (Path(__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RUN_AXE = (
    "const done = arguments[arguments.length - 1];"
    "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
    ".then(found => done(found.violations.map("
    "each => each.id + ': ' + each.nodes.map(node => node.html).slice(0, 3).join(' | '))))"
)


def eventually(condition: Callable[[], Any], seconds: float = 15) -> Any:
    """Return what `condition` gives once it holds."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = condition()
        except StaleElementReferenceException:
            found = None  # the page changed under our eyes
        if found:
            return found
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def one(chrome: webdriver.Chrome, selector: str) -> WebElement:
    """Return the element, once it is there."""
    found: list[WebElement] = eventually(lambda: chrome.find_elements(By.CSS_SELECTOR, selector))
    return found[0]


def text(chrome: webdriver.Chrome, selector: str = "main") -> str:
    return one(chrome, selector).text


def press(chrome: webdriver.Chrome, *keys: str) -> None:
    webdriver.ActionChains(chrome).send_keys(*keys).perform()


def complaints(chrome: webdriver.Chrome) -> list[str]:
    """Return what the browser refused to load or run since the last call."""
    entries = chrome.get_log("browser")  # type: ignore[no-untyped-call]  # selenium has no types there
    return [entry["message"] for entry in entries if "favicon" not in entry["message"]]


def _says(chrome: webdriver.Chrome, wanted: str) -> bool:
    return wanted in text(chrome)


@pytest.fixture
def ready(chrome: webdriver.Chrome, board: RunningApi) -> Iterator[webdriver.Chrome]:
    complaints(chrome)
    chrome.get(board.base + "/settings")
    yield chrome
    assert complaints(chrome) == []


@pytest.mark.parametrize("path", PAGES)
def test_each_page_opens_and_pleases_an_accessibility_checker(
    ready: webdriver.Chrome, board: RunningApi, path: str
) -> None:
    ready.get(board.base + path)
    assert text(ready, "h1") == PAGES[path]
    if path == "/":
        one(ready, "#charts svg")
    ready.execute_script(AXE)
    for theme in ("light", "dark"):
        ready.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
        assert ready.execute_async_script(RUN_AXE) == [], theme


@pytest.mark.parametrize("path", PAGES)
def test_each_page_fits_a_phone(ready: webdriver.Chrome, board: RunningApi, path: str) -> None:
    phone = {"width": 375, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    ready.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        ready.get(board.base + path)
        width = ready.execute_script("return document.documentElement.scrollWidth")
        assert width <= 375
    finally:
        ready.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_overview_shows_the_pipeline_the_ills_and_the_charts(
    ready: webdriver.Chrome, board: RunningApi
) -> None:
    ready.get(board.base + "/")
    stages = [
        each.text.split("\n")[0] for each in ready.find_elements(By.CSS_SELECTOR, ".stage .name")
    ]

    assert stages == ["Collected", "Queued", "Extracted", "In the vault", "Indexed"]
    assert "Needs a look" in text(ready, "#state-title")
    assert "The engine does not run" in text(ready, ".state")
    assert len(eventually(lambda: ready.find_elements(By.CSS_SELECTOR, "#charts .stroke"))) >= 6
    assert "no model is asked" in eventually(
        lambda: "no model" in text(ready, "#llm") and text(ready, "#llm")
    )
    ready.find_element(By.LINK_TEXT, "1 h").click()
    assert eventually(lambda: text(ready, ".segments [aria-current]") == "1 h")


def test_figures_change_by_themselves(ready: webdriver.Chrome, board: RunningApi) -> None:
    ready.get(board.base + "/work")
    before = int(text(ready, ".tiles .figure"))
    outbox = Outbox(board.home.outbox)
    outbox.commit("claude", [document(900, "かけこみの話")], [])
    outbox.close()

    assert eventually(lambda: int(text(ready, ".tiles .figure")) == before + 1)


def test_what_was_given_up_is_replayed_one_by_one_by_choice_and_by_class(
    ready: webdriver.Chrome, board: RunningApi
) -> None:
    outbox = Outbox(board.home.outbox)
    jobs = [give_up(outbox, "timeout", "x" * n) for n in range(30, 34)]

    def state(job: int) -> tuple[Any, ...]:
        row = outbox.connection().execute("SELECT state, attempts FROM job WHERE job_id=?", (job,))
        return row.fetchall()[0]

    ready.get(board.base + "/work?class=timeout")
    one(ready, f"button[value='{jobs[0]}']").click()
    assert eventually(lambda: "Sent back to the queue: 1" in text(ready, "#quarantine"))
    assert state(jobs[0]) == ("pending", 0)

    for job in jobs[1:3]:
        one(ready, f"input[value='{job}']").click()
    one(ready, "button[name='chosen']").click()
    assert eventually(lambda: "Sent back to the queue: 2" in text(ready, "#quarantine"))
    assert [state(job)[0] for job in jobs] == ["pending", "pending", "pending", "quarantined"]

    one(ready, "input[name='class'][value='timeout'] + button").click()
    assert eventually(lambda: state(jobs[3])[0] == "pending")
    assert eventually(lambda: ready.find_elements(By.CSS_SELECTOR, "input[value='crash'] + button"))
    one(ready, "input[value='crash'] + button").click()
    # what took a worker down gets one try: two of three are used up
    assert eventually(
        lambda: (
            outbox.connection()
            .execute("SELECT attempts FROM job WHERE error_class='crash' AND state='pending'")
            .fetchall()
            == [(2,)]
        )
    )
    outbox.close()


def test_an_event_has_a_receipt_that_leads_to_its_notes(
    ready: webdriver.Chrome, board: RunningApi
) -> None:
    ready.get(board.base + "/work")
    one(ready, "#quarantine th a").click()
    assert eventually(lambda: "What was done with it" in text(ready))
    ready.find_element(By.PARTIAL_LINK_TEXT, "runbook.md").click()
    assert eventually(lambda: text(ready, "h1") == "Runbook")


def test_a_hit_says_why_it_stands_where_it_stands(
    ready: webdriver.Chrome, board: RunningApi
) -> None:
    ready.get(board.base + "/search?scope=work")
    press(ready, "/", "Valkey", Keys.ENTER)
    summary = one(ready, ".hit summary")
    assert "words 1" in summary.text
    summary.click()
    assert "Words" in text(ready, ".why")
    assert "Score" in text(ready, ".why")
    ready.get(board.base + "/search?scope=personal&q=Valkey")
    assert "shop" not in text(ready, "main")


def test_a_search_without_a_hit_says_so(ready: webdriver.Chrome, board: RunningApi) -> None:
    ready.get(board.base + "/search?q=zzzqqq&scope=public")
    assert "Nothing was found" in text(ready)


def test_a_note_is_edited_in_place_and_nobodys_words_go_under(
    ready: webdriver.Chrome, board: RunningApi
) -> None:
    place = board.home.vault(Scope.WORK) / "desk.md"
    place.write_text("# 机\n\n最初の文。\n", encoding="utf-8")
    ready.get(board.base + "/notes/work/desk.md?view=edit")
    one(ready, "textarea").send_keys(Keys.CONTROL, Keys.END)
    one(ready, "textarea").send_keys("二つ目の文。")
    one(ready, "textarea").send_keys(Keys.CONTROL, Keys.ENTER)
    assert eventually(lambda: "Saved" in text(ready))
    assert place.read_text(encoding="utf-8") == "# 机\n\n最初の文。\n二つ目の文。"

    ready.get(board.base + "/notes/work/desk.md?view=edit")
    place.write_text("# 机\n\nだれかの文。\n", encoding="utf-8")
    one(ready, "textarea").send_keys(Keys.CONTROL, Keys.END)
    one(ready, "textarea").send_keys("私の文。")
    one(ready, ".editor button").click()
    assert eventually(lambda: "Somebody changed this note" in text(ready))
    complaints(ready)  # the browser reports the 409
    assert "だれかの文" in text(ready, ".diff")
    assert place.read_text(encoding="utf-8") == "# 机\n\nだれかの文。\n"
    assert "私の文" in (one(ready, "textarea").get_attribute("value") or "")
    one(ready, ".editor button").click()
    assert eventually(lambda: "Saved" in text(ready))
    assert "私の文" in place.read_text(encoding="utf-8")


def test_no_script_of_a_note_runs(ready: webdriver.Chrome, board: RunningApi) -> None:
    place = board.home.vault(Scope.WORK) / "hostile.md"
    place.write_text(
        f"---\ntitle: {json.dumps(HOSTILE)}\ntags: [{json.dumps(HOSTILE)}]\n---\n# {HOSTILE}\n\n"
        f"{HOSTILE}\n\n[click](javascript:window.stolen=1) [data](data:text/html,x) "
        "![pixel](http://evil.example/p.png) <svg onload='window.stolen=1'>\n\n"
        "[out](http://evil.example/) [over](//evil.example/x.md) [up](../../personal/x.md)\n",
        encoding="utf-8",
    )
    for view in ("read", "raw", "edit"):
        ready.get(f"{board.base}/notes/work/hostile.md?view={view}")
        assert "<script>window.stolen=1</script>" in text(ready, "h1")
        assert ready.execute_script("return window.stolen") is None
    ready.get(f"{board.base}/notes/work/hostile.md")
    links = [
        each.get_attribute("href") for each in ready.find_elements(By.CSS_SELECTOR, ".prose a")
    ]
    assert [link for link in links if link] == ["http://evil.example/"]
    assert ready.find_elements(By.CSS_SELECTOR, ".prose img, .prose svg, main script") == []
    ready.get(board.base + "/work")
    assert ready.execute_script("return window.stolen") is None
    assert "<script>" in text(ready, "#quarantine")


def test_routines_pause_go_on_and_run_now(ready: webdriver.Chrome, board: RunningApi) -> None:
    ready.get(board.base + "/sources")
    assert "nightly-backup" in text(ready, "#routines")
    one(ready, "button[aria-label='Pause: nightly-backup']").click()
    assert eventually(lambda: "Pauses: nightly-backup" in text(ready, "#routines"))
    one(ready, "button[aria-label='Go on: nightly-backup']").click()
    assert eventually(lambda: "Goes on: nightly-backup" in text(ready, "#routines"))
    one(ready, "button[aria-label='Run now: weekly-summary']").click()
    assert eventually(lambda: "Started: weekly-summary" in text(ready, "#routines"))


def test_clients_and_settings_say_what_is(ready: webdriver.Chrome, board: RunningApi) -> None:
    board.call(Scope.WORK, "list_projects")
    ready.get(board.base + "/clients")
    assert "client-work" in text(ready, "table")
    assert "list_projects" in text(ready, "#audit")
    ready.get(board.base + "/settings")
    row = ready.find_element(By.XPATH, "//tr[.//code[text()='llm.mode']]").text
    assert "cues" in row
    assert "environment" in row
    assert "config.toml" in ready.find_element(By.XPATH, "//tr[.//code[text()='routine']]").text


def test_language_and_theme_are_a_choice(ready: webdriver.Chrome, board: RunningApi) -> None:
    ready.get(board.base + "/work?class=timeout")
    one(ready, "select[name='ce_lang'] option[value='ja']").click()
    assert eventually(lambda: text(ready, "h1") == "処理")
    assert ready.current_url.endswith("/work?class=timeout")
    assert one(ready, "html").get_attribute("lang") == "ja"
    one(ready, "select[name='ce_theme'] option[value='dark']").click()
    eventually(lambda: one(ready, "html").get_attribute("data-theme") == "dark")
    one(ready, "select[name='ce_lang'] option[value='en']").click()
    assert eventually(lambda: text(ready, "h1") == "Work")
    one(ready, "select[name='ce_theme'] option[value='auto']").click()
    eventually(lambda: one(ready, "html").get_attribute("data-theme") == "auto")


def test_the_keyboard_finds_the_content_first(ready: webdriver.Chrome, board: RunningApi) -> None:
    ready.get(board.base + "/")
    press(ready, Keys.TAB)
    assert ready.switch_to.active_element.text == "Skip to the content"
    press(ready, Keys.ENTER)
    assert eventually(lambda: ready.switch_to.active_element.get_attribute("id") == "main")


def test_a_home_with_nothing_in_it_is_no_error_and_speaks_japanese(tmp_path: Path) -> None:
    home = Home(tmp_path / "empty")
    home.create()
    with serving(home, CE_LLM__MODE="cues") as api, browsing("ja") as browser:
        log_in(browser, api)
        for path, wanted in {
            "/": "この期間の計測値はまだありません",
            "/work": "断念したジョブはありません",
            "/review": "確認待ちはありません",
            "/search": "まだノートがありません",
            "/sources": "ルーチンはまだありません",
            "/clients": "最近のリクエスト",
            "/settings": "既定値",
        }.items():
            browser.get(api.base + path)
            assert eventually(partial(_says, browser, wanted)), path
        browser.get(api.base + "/notes/work/nothing.md")
        assert "ここには何もありません" in text(browser)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApi]:
    """Four insights that wait, on a home of their own."""
    home = Home(tmp_path_factory.mktemp("desk") / "home")
    home.create()
    write_notes(home)
    source = write_source(home, document(1, "朝の相談")).path
    value = home.vault(Scope.WORK) / "knowledge/value/2026-02-01-why-aabbccddeeff.md"
    value.parent.mkdir(parents=True)
    value.write_text(
        "---\ntype: insight\nid: aabbccddeeff\nkind: value\nconfidence: raw\ntitle: 理由を書く\n"
        f"created: 2026-12-01T00:00:00Z\n---\n# 理由を書く\n\n{HOSTILE}\n\n"
        "> 朝の相談 について話した。\n\n"
        f"[朝の相談](../../{source})\n",
        encoding="utf-8",
    )
    index_home(home, None)
    with serving(home, CE_LLM__MODE="cues") as api:
        yield api


def test_one_key_accepts_rejects_opens_and_takes_back(
    desk: RunningApi, chrome: webdriver.Chrome
) -> None:
    log_in(chrome, desk)
    chrome.get(desk.base + "/review")
    total = len(chrome.find_elements(By.CSS_SELECTOR, ".insight"))
    assert total == 4
    press(chrome, "j")
    assert "理由を書く" in chrome.switch_to.active_element.text
    press(chrome, "o")
    assert eventually(lambda: "Similar" in text(chrome, ".insight .detail"))
    assert chrome.execute_script("return window.stolen") is None
    press(chrome, "j", "a")
    assert eventually(lambda: "Done: accept (1)" in text(chrome, "#inbox"))
    valkey = next(desk.home.vault(Scope.WORK).glob("knowledge/decision/*valkey*.md"))
    assert "confidence: validated" in valkey.read_text(encoding="utf-8")
    # the focus stays where the hands are
    assert eventually(lambda: chrome.switch_to.active_element.get_attribute("data-insight"))
    press(chrome, "u")
    assert eventually(lambda: "Done: undo" in text(chrome, "#inbox"))
    assert "confidence: raw" in valkey.read_text(encoding="utf-8")
    press(chrome, "j", "x")
    assert eventually(lambda: "Done: reject (1)" in text(chrome, "#inbox"))
    assert len(chrome.find_elements(By.CSS_SELECTOR, ".insight")) == total - 1
    press(chrome, "u")
    assert eventually(lambda: len(chrome.find_elements(By.CSS_SELECTOR, ".insight")) == total)


def test_many_are_decided_at_once(desk: RunningApi, chrome: webdriver.Chrome) -> None:
    log_in(chrome, desk)
    chrome.get(desk.base + "/review?scope=public")
    one(chrome, "[data-check-all]").click()
    press(chrome, Keys.ESCAPE, "A")
    assert eventually(lambda: "Done: accept (1)" in text(chrome, "#inbox"))
    assert "Nothing waits" in text(chrome, "#inbox")


def test_a_decision_on_text_that_changed_since_is_refused(
    desk: RunningApi, chrome: webdriver.Chrome
) -> None:
    log_in(chrome, desk)
    chrome.get(desk.base + "/review?scope=personal")
    morning = next(desk.home.vault(Scope.PERSONAL).glob("knowledge/value/*morning*.md"))
    said = morning.read_text(encoding="utf-8")
    morning.write_text(said.replace("直しだけ", "校正だけ"), encoding="utf-8")
    press(chrome, "j", "a")
    assert eventually(lambda: "changed since" in text(chrome, "#inbox"))
    assert "confidence: raw" in morning.read_text(encoding="utf-8")


def test_an_edit_is_saved_and_accepted(desk: RunningApi, chrome: webdriver.Chrome) -> None:
    log_in(chrome, desk)
    chrome.get(desk.base + "/review?scope=work")
    press(chrome, "j", "e")
    title = one(chrome, "input[name='title']")
    title.clear()
    title.send_keys("理由を短く書く")
    one(chrome, "textarea").clear()
    one(chrome, "textarea").send_keys("理由は一行で書く。")
    one(chrome, "button[value='1']").click()
    assert eventually(lambda: chrome.current_url.endswith("/review"))
    kept = desk.home.vault(Scope.WORK) / "knowledge/value/2026-02-01-why-aabbccddeeff.md"
    assert "理由は一行で書く。" in kept.read_text(encoding="utf-8")
    assert "confidence: validated" in kept.read_text(encoding="utf-8")
