"""How much memory this process used at most, its own only."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> int:
    """Return the highest resident set so far, in bytes.

    On Linux `ru_maxrss` of a child begins with its parent's, so the kernel's own figure is read.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        (high,) = (line for line in lines if line.startswith("VmHWM:"))
        return int(high.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
