"""Feed one connector with what a coverage-guided fuzzer makes up, until the time is over.

    python -m support.fuzz_connector SOURCE NAME CORPUS [libFuzzer's options]

NAME is what the file is called. Anything that a connector raises ends the process with a failure;
so do a hang and too much memory, by libFuzzer's own options.
"""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any


def main() -> None:
    """Fuzz."""
    source, name, corpus, *options = sys.argv[1:]
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["connectors"]):
        from connectors.registry import load

        connector = load(source)
    from support.sources import AKI
    from support.transcripts import MemoryLedger

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)

        def read(data: bytes) -> None:
            path.write_bytes(data)
            for _ in connector.read([path], MemoryLedger(), AKI):
                pass

        atheris.Setup([sys.argv[0], corpus, *options], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
