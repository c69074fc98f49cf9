"""The process that an assistant starts at the turns of a session; it must not be felt.

It imports the standard library only, and little of that. Whatever goes wrong it exits 0 and prints
nothing: a session never suffers from its memory. A transcript is handed over as a file in
`state/spool`, which the engine picks up, now or when it runs again.
"""

from __future__ import annotations

import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket

EVENTS = {
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
    "stop": "Stop",
    "session-end": "SessionEnd",
    "pre-compact": "PreCompact",
}
ANSWER_SECONDS = {"session-start": 1.5, "user-prompt": 0.5}
"""The events that the engine answers, and how long it may take."""
MAX_INPUT = 4 * 1024 * 1024
MAX_PROMPT = 10_000
MAX_ANSWER = 256 * 1024
_KEPT = ("session_id", "transcript_path", "cwd", "source", "reason")
_MAX_FIELD = 4_096


def main(arguments: list[str]) -> None:
    """Serve `EVENT [--home DIR]`, its particulars as JSON on stdin, and exit."""
    event = arguments[0] if arguments else ""
    if event not in EVENTS or sys.stdin.isatty():
        sys.stderr.write(
            f"usage: context-engine hook {'|'.join(EVENTS)} [--home DIR] < JSON\n"
            "An assistant calls it; set it up with: context-engine install\n"
        )
        raise SystemExit(2)
    try:
        said = serve(event, _home(arguments[1:]), sys.stdin.buffer.read(MAX_INPUT))
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()
    except Exception:  # noqa: BLE001, S110 - fails open, in silence: see above
        pass
    # without the clean-up of an interpreter that has nothing to clean up
    os._exit(0)


def serve(event: str, home: str, given: bytes) -> bytes:
    """Return what the assistant is to read on stdout; b"" when there is nothing to say.

    May raise anything: `main` is silent about it.
    """
    data = json.loads(given)
    if event not in ANSWER_SECONDS:
        hand_over(event, home, data)
        return b""
    text = ask(event, home, data)
    if not text:
        return b""
    name = data.get("hook_event_name") or EVENTS[event]
    output = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    return json.dumps(output).encode("ascii") + b"\n"


def hand_over(event: str, home: str, data: dict[str, object]) -> None:
    """Spool the place of a transcript: one file a session, whole or not there.

    It is not fsynced: the transcript itself stays where it is, and is found without it too.
    """
    path = data.get("transcript_path")
    if not isinstance(path, str) or not os.path.isdir(home):  # noqa: PTH112 - pathlib costs 5 ms
        return
    folder = os.path.join(home, "state", "spool")  # noqa: PTH118 - as above
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - as above
    name = _file_name(str(data.get("session_id") or path))
    unfinished = f"{folder}/.{name}.{os.getpid()}"
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.write(handle, json.dumps({"event": event, **_kept(data)}).encode("ascii"))
    os.close(handle)
    os.replace(unfinished, f"{folder}/{name}.json")  # noqa: PTH105 - as above


def ask(event: str, home: str, data: dict[str, object]) -> str:
    """Return what the running engine says to this event; raises OSError when none runs."""
    with open(f"{home}/state/hook.json", encoding="utf-8") as file:  # noqa: PTH123 - as above
        address = json.load(file)["socket"]
    # after the file: where no engine runs, its import would be for nothing
    from socket import AF_UNIX, SHUT_WR, socket

    question = {"event": event, "prompt": str(data.get("prompt", ""))[:MAX_PROMPT], **_kept(data)}
    with socket(AF_UNIX) as connection:
        connection.settimeout(ANSWER_SECONDS[event])
        connection.connect(address)
        connection.sendall(json.dumps(question).encode("ascii"))
        connection.shutdown(SHUT_WR)
        return _read(connection).decode("utf-8")


def _read(connection: socket) -> bytes:
    parts, size = [], 0
    while part := connection.recv(65_536):
        parts.append(part)
        size += len(part)
        if size > MAX_ANSWER:
            return b""
    return b"".join(parts)


def _kept(data: dict[str, object]) -> dict[str, str]:
    given = {key: data.get(key) for key in _KEPT}
    return {
        key: value
        for key, value in given.items()
        if isinstance(value, str) and len(value) <= _MAX_FIELD
    }


def _file_name(session: str) -> str:
    kept = "".join(sign for sign in session if sign.isascii() and (sign.isalnum() or sign == "-"))
    return kept[-100:] or "unnamed"


def _home(arguments: list[str]) -> str:
    """Return the home as settings.home_from_environment does, or the one named."""
    named = arguments[1] if arguments[:1] == ["--home"] and len(arguments) > 1 else ""
    place = named or os.environ.get("CE_HOME") or "~/context-engine"
    return os.path.abspath(os.path.expanduser(place))  # noqa: PTH100, PTH111 - as above
