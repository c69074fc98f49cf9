"""The service: what is written is what the service manager reads, and again is the same as once."""

from __future__ import annotations

import os
import plistlib
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from api.service import MARK, Service, install, render, target, uninstall
from context_engine.errors import ContextEngineError, UsageError
from context_engine.home import Home
from support.engine import run

HARD = '/home/あき/my "memory" 100% $HOME back\\slash'


def service(kind: str, tmp_path: Path, home: str = HARD) -> Service:
    return Service(kind, Path("/opt/ce/bin/context-engine"), Path(home), tmp_path)


class Machine:
    """Stands for systemctl, launchctl and crontab: records, and keeps one crontab."""

    def __init__(self, crontab: str | None = None) -> None:
        self.crontab = crontab
        self.commands: list[str] = []

    def run(self, command: Sequence[str], stdin: str | None) -> str:
        self.commands.append(shlex.join(command))
        if command == ("crontab", "-l"):
            if self.crontab is None:
                raise ContextEngineError("crontab -l failed: no crontab for aki")
            return self.crontab
        if command == ("crontab", "-"):
            self.crontab = stdin
        return ""


def test_a_unit_quotes_whatever_the_home_is_called(tmp_path: Path) -> None:
    unit = render(service("systemd", tmp_path))
    assert 'ExecStart="/opt/ce/bin/context-engine" up\n' in unit
    assert 'Environment="CE_HOME=/home/あき/my \\"memory\\" 100%% $HOME back\\\\slash"\n' in unit


def test_an_agent_carries_the_home_as_it_is(tmp_path: Path) -> None:
    agent = plistlib.loads(render(service("launchd", tmp_path)).encode())
    assert agent["EnvironmentVariables"] == {"CE_HOME": HARD}
    assert agent["ProgramArguments"] == ["/opt/ce/bin/context-engine", "up"]


def test_a_crontab_line_runs_with_the_home_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "show"
    program.write_text('#!/bin/sh\nprintf %s "$CE_HOME" > "$(dirname "$0")/seen"\n')
    program.chmod(0o700)
    line = render(Service("crontab", program, Path(HARD), tmp_path))
    assert line.endswith(MARK + "\n")
    # what cron(8) makes of it: the command after the time, \% for %
    command = line.removeprefix("@reboot ").replace("\\%", "%")
    subprocess.run(["/bin/sh", "-c", command], check=True, env={"PATH": os.environ["PATH"]})
    assert (tmp_path / "seen").read_text() == HARD


@pytest.mark.parametrize("kind", ["systemd", "launchd", "crontab"])
def test_a_home_with_a_line_break_is_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line break"):
        render(service(kind, tmp_path, "/home/a\nExecStart=/bin/evil"))


@pytest.mark.parametrize("kind", ["systemd", "launchd"])
def test_a_file_is_written_started_and_taken_away(kind: str, tmp_path: Path) -> None:
    machine, wanted = Machine(), service(kind, tmp_path)
    place = target(wanted)
    assert place is not None
    assert install(wanted, machine.run) == str(place)
    first = place.read_text()
    install(wanted, machine.run)
    assert place.read_text() == first == render(wanted)
    assert uninstall(wanted, machine.run) == str(place)
    assert not place.exists()
    assert uninstall(wanted, machine.run) is None
    assert any("enable --now" in c or "load -w" in c for c in machine.commands)


def test_a_crontab_keeps_the_lines_of_others(tmp_path: Path) -> None:
    others = "MAILTO=aki\n0 4 * * * /usr/bin/backup\n"
    machine, wanted = Machine(others), service("crontab", tmp_path)
    install(wanted, machine.run)
    install(wanted, machine.run)
    assert machine.crontab == others + render(wanted)
    assert uninstall(wanted, machine.run) == "crontab"
    assert machine.crontab == others


def test_a_person_without_a_crontab_gets_one(tmp_path: Path) -> None:
    machine, wanted = Machine(None), service("crontab", tmp_path)
    assert uninstall(wanted, machine.run) is None
    install(wanted, machine.run)
    assert machine.crontab == render(wanted)


def test_printing_writes_nothing(home: Home) -> None:
    done = run(
        home, "install", "service", "--print", "--with", "systemd", extra={"HOME": str(home.root)}
    )
    assert done.returncode == 0
    assert "ExecStart=" in done.stdout
    assert not (home.root / ".config").exists()
