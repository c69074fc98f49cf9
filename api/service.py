"""The engine as a service of this machine: a systemd user unit, a launchd agent, a crontab line.

Rendering is pure; `install` and `uninstall` write the file and tell the service manager.
"""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from context_engine.errors import ContextEngineError, UsageError

UNIT = "context-engine.service"
LABEL = "local.context-engine"
MARK = "# context-engine service"
"""Ends our line of a crontab: by it the line is found again."""

_SYSTEMD = """\
[Unit]
Description=Context Engine: one local memory for every assistant
After=default.target

[Service]
ExecStart={command} up
Environment={home}
Restart=on-failure
RestartSec=10
TimeoutStopSec=60
Nice=5

[Install]
WantedBy=default.target
"""

Run = Callable[[Sequence[str], str | None], str]
"""Runs a command with text on its stdin and returns its stdout; raises ContextEngineError."""


@dataclass(frozen=True)
class Service:
    """What to run, for whom, and which program starts it."""

    kind: str
    """systemd, launchd or crontab."""
    command: Path
    """Absolute path of `context-engine`."""
    home: Path
    """CE_HOME."""
    user_home: Path


def default_kind() -> str:
    """Return what this machine starts services with."""
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if Path("/run/systemd/system").is_dir() else "crontab"


def own_command() -> Path:
    """Return the absolute path of the `context-engine` beside this interpreter."""
    beside = Path(sys.executable).parent / "context-engine"
    found = beside if beside.exists() else Path(shutil.which("context-engine") or beside)
    return found.absolute()


def render(service: Service) -> str:
    """Return the unit, the agent or the line.

    Raises UsageError when a path cannot be written into it.
    """
    for path in (service.command, service.home):
        if any(sign in str(path) for sign in "\n\r\0"):
            raise UsageError(f"{str(path)!r} holds a line break, no service can be told of it")
    return _RENDER[service.kind](service)


def target(service: Service) -> Path | None:
    """Return the file that holds it; None for the crontab, which crontab(1) keeps."""
    match service.kind:
        case "systemd":
            return service.user_home / ".config/systemd/user" / UNIT
        case "launchd":
            return service.user_home / "Library/LaunchAgents" / f"{LABEL}.plist"
        case _:
            return None


def install(service: Service, run: Run) -> str:
    """Write it and have it started now and at each login; again is the same as once.

    Returns where it lies.
    """
    text = render(service)
    path = target(service)
    if path is None:
        run(("crontab", "-"), _crontab_without(run) + text)
        return "crontab"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if service.kind == "systemd":
        run(("systemctl", "--user", "daemon-reload"), None)
        run(("systemctl", "--user", "enable", "--now", UNIT), None)
    else:
        run(("launchctl", "load", "-w", str(path)), None)
    return str(path)


def uninstall(service: Service, run: Run) -> str | None:
    """Stop it and remove it; returns where it lay, None when there was none."""
    path = target(service)
    if path is None:
        before = _crontab(run)
        if MARK not in before:
            return None
        run(("crontab", "-"), _crontab_without(run))
        return "crontab"
    if not path.exists():
        return None
    if service.kind == "systemd":
        run(("systemctl", "--user", "disable", "--now", UNIT), None)
    else:
        run(("launchctl", "unload", "-w", str(path)), None)
    path.unlink()
    return str(path)


def run_command(command: Sequence[str], stdin: str | None) -> str:
    """Run a program of the machine.

    Raises ContextEngineError with what it said.
    """
    program = shutil.which(command[0])
    if program is None:
        raise ContextEngineError(f"{command[0]} is not installed; --print shows what to install")
    done = subprocess.run(  # noqa: S603 - fixed command lines
        [program, *command[1:]], input=stdin, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ContextEngineError(f"{shlex.join(command)} failed: {done.stderr.strip()}")
    return done.stdout


def _crontab(run: Run) -> str:
    try:
        return run(("crontab", "-l"), None)
    except ContextEngineError as error:
        # the words of every crontab(1) for a person without one
        if "no crontab" in str(error):
            return ""
        raise


def _crontab_without(run: Run) -> str:
    lines = [line for line in _crontab(run).splitlines() if not line.endswith(MARK)]
    return "".join(line + "\n" for line in lines)


def _systemd(service: Service) -> str:
    return _SYSTEMD.format(
        command=_systemd_word(str(service.command).replace("$", "$$")),
        home=_systemd_word(f"CE_HOME={service.home}"),
    )


def _systemd_word(text: str) -> str:
    # systemd.syntax(7): C-style escapes inside double quotes; % begins a specifier
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _launchd(service: Service) -> str:
    log = str(service.home / "state" / "logs" / "service.out")
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": [str(service.command), "up"],
            "EnvironmentVariables": {"CE_HOME": str(service.home)},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "StandardErrorPath": log,
            "ProcessType": "Background",
        }
    ).decode("utf-8")


def _cron_line(service: Service) -> str:
    command = f"CE_HOME={shlex.quote(str(service.home))} {shlex.quote(str(service.command))} up"
    # in a crontab % ends the command
    return f"@reboot {command.replace('%', chr(92) + '%')} >/dev/null 2>&1 {MARK}\n"


_RENDER: dict[str, Callable[[Service], str]] = {
    "systemd": _systemd,
    "launchd": _launchd,
    "crontab": _cron_line,
}
