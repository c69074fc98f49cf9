"""A measurement in a process of its own, whose peak memory is nobody else's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def environment() -> dict[str, str]:
    """Return the environment of a process that finds the engine's packages."""
    return {"PYTHONPATH": str(Path(__file__).parents[1])}


def run_fresh(script: str, *arguments: str) -> dict[str, float]:
    """Run one of the scripts beside this one and return the figures that it prints as JSON."""
    output = subprocess.run(
        [sys.executable, script, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        env=environment(),
    ).stdout
    figures: dict[str, float] = json.loads(output)
    return figures
