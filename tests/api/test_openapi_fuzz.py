"""Everything that the OpenAPI document allows, and much that it does not, gets a proper answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from context_engine.scopes import Scope
from support.api import RunningApi

EXAMPLES = 15
SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"


@pytest.mark.timeout(180)
def test_no_request_makes_the_server_fail_or_answer_what_it_does_not_promise(
    api: RunningApi, tmp_path: Path
) -> None:
    bearer = api.headers(Scope.PUBLIC)
    run = subprocess.run(
        [
            *(SCHEMATHESIS, "run", f"{api.base}/openapi.json"),
            *("--header", f"Authorization: {bearer['authorization']}"),
            *(
                "--checks",
                "not_a_server_error,content_type_conformance,response_schema_conformance",
            ),
            *("--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES)),
            *("--seed", "7", "--no-shrink", "--no-color"),
            *("--report", "ndjson", "--report-dir", tmp_path),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-6_000:] + run.stderr[-2_000:]
    # it asked every operation, and not only what is refused
    kept = "\n".join(path.read_text(encoding="utf-8") for path in tmp_path.glob("*.ndjson"))
    paths = api.http.get("/openapi.json", headers=bearer).json()["paths"]
    assert [path for path in paths if path not in kept] == []
    assert '"status_code":200' in kept.replace(" ", "")
