"""A coverage-guided fuzzer finds nothing that makes a connector crash, hang or swell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

SECONDS = int(os.environ.get("CE_TEST_FUZZ_SECONDS", "60"))
"""For each connector."""

DAY = [
    {"type": "message", "user": "U1", "ts": "1793610000.000100", "text": "<@U1> *hi* <https://x>"}
]
CHAT = {"conversation_id": "c", "title": "x", "current_node": "1", "mapping": {"1": {
    "id": "1", "parent": None, "message": {"author": {"role": "user"}, "create_time": 1.0,
    "content": {"content_type": "text", "parts": ["hello"]}, "recipient": "all"}}}}  # fmt: skip
CLAUDE_AI = {"uuid": "c", "name": "x", "created_at": "2026-11-02T09:00:00Z", "chat_messages": [
    {"uuid": "1", "sender": "human", "text": "hi", "created_at": "2026-11-02T09:00:00Z",
     "content": [{"type": "text", "text": "hi"}], "attachments": [], "files": []}]}  # fmt: skip
GEMINI = {"header": "Gemini Apps", "title": "Prompted why", "time": "2026-11-02T09:00:00.120Z",
          "products": ["Gemini Apps"], "safeHtmlItem": [{"html": "<p>because</p>"}]}  # fmt: skip
SESSION = {"type": "user", "sessionId": "s", "uuid": "1", "timestamp": "2026-11-02T09:00:00Z",
           "message": {"role": "user", "content": "hi"}}  # fmt: skip
PULL = "https://api.github.com/repos/a/b/pulls/1"
COMMENT = {"node_id": "P1", "user": {"login": "kim"}, "body": "x", "pull_request_url": PULL,
           "html_url": "https://github.com/a/b/pull/1#discussion_r1", "path": "x",
           "created_at": "2026-11-02T09:05:00Z", "updated_at": "2026-11-02T09:05:00Z"}  # fmt: skip
SPACE = """<hibernate-generic><object class="Page"><id name="id">1</id>
<property name="title"><![CDATA[x]]></property><property name="version">1</property>
<property name="contentStatus"><![CDATA[current]]></property></object>
<object class="BodyContent"><id name="id">2</id><property name="body"><![CDATA[<p>a</p>
<ac:structured-macro ac:name="code"><ac:plain-text-body>x</ac:plain-text-body>
</ac:structured-macro>]]></property><property name="content" class="Page"><id name="id">1</id>
</property><property name="bodyType">2</property></object></hibernate-generic>"""

SEEDS: Mapping[tuple[str, str], str] = {
    ("slack", "2026-11-02.json"): json.dumps(DAY),
    ("chatgpt", "conversations.json"): json.dumps([CHAT]),
    ("claude-ai", "conversations.json"): json.dumps([CLAUDE_AI]),
    ("claude", "s.jsonl"): json.dumps(SESSION) + "\n",
    ("takeout", "MyActivity.json"): json.dumps([GEMINI]),
    ("takeout", "MyActivity.html"): '<div class="outer-cell"><p>Gemini Apps<br></p>Prompted x<br>'
    "Nov 2, 2026, 9:00:00 AM UTC<br><p>because</p></div>",
    ("github", "1.jsonl"): json.dumps(COMMENT),
    ("confluence", "entities.xml"): SPACE,
    ("confluence", "Home_1.html"): '<div id="main-content"><h1>a</h1><p>b</p></div>',
    ("meeting", "a.vtt"): "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Kim>hello</v>\n",
    ("meeting", "a.txt"): "Kim  0:00\nhello\n\nAki: yes\n",
    ("markdown", "2026-11-02.md"): "---\ntitle: x\ntags: [a]\n---\n# A\n\n## B\n\ntext\n",
}


@pytest.mark.long
@pytest.mark.timeout(SECONDS + 240)
@pytest.mark.skipif(find_spec("atheris") is None, reason="pip install -r requirements/fuzz.txt")
@pytest.mark.parametrize(("source", "name"), SEEDS)
def test_nothing_that_a_fuzzer_makes_up_breaks_a_connector(
    tmp_path: Path, source: str, name: str
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "seed").write_text(SEEDS[source, name])
    options = [f"-max_total_time={SECONDS}", "-timeout=10", "-rss_limit_mb=1000", "-max_len=8192"]
    done = subprocess.run(
        [sys.executable, "-m", "support.fuzz_connector", source, name, str(corpus), *options,
         f"-artifact_prefix={tmp_path}/"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        check=False,
    )  # fmt: skip
    found = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    assert done.returncode == 0, f"{found}\n{done.stderr[-3_000:]}"
    assert "Done" in done.stderr
