"""An invented Google Drive: OAuth's token endpoint, the list of files, and their bytes by range."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from context_engine.source_settings import DriveSettings
from support.web import Answer, Asked, Web, serving_web

CLIENT_SECRET, REFRESH_TOKEN = "GOCSPX-invented-client-secret", "1//0g-invented-refresh-token"
FOLDER = "1FolderOfExports"
_MEDIA = re.compile(r"/drive/v3/files/([\w-]+)")
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


@dataclass
class DriveServer:
    """What lies in the Drive: id -> (name, bytes). `step`: files of one reply."""

    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """Other sizes than the true ones."""
    damaged: set[str] = field(default_factory=set)
    """Files whose next piece comes with a wrong byte."""
    revoked: bool = False
    step: int = 1
    issued: int = 0
    expired: int = 0
    """Access tokens up to this number have expired."""
    sent: list[tuple[str, int, int]] = field(default_factory=list)
    """Pieces that were sent whole or cut: id, first and last byte."""

    def answer(self, asked: Asked) -> Answer:
        if asked.path == "/token":
            return self._token()
        if not self._is_valid(asked.headers.get("authorization", "")):
            return _error(401, "authError", "Invalid Credentials")
        if asked.path == "/drive/v3/files":
            return Answer(200, self._list(asked))
        match = _MEDIA.fullmatch(asked.path)
        if not match or match[1] not in self.files or asked.word("alt") != "media":
            return _error(404, "notFound", "File not found")
        return self._piece(match[1], asked.headers["range"])

    def _token(self) -> Answer:
        if self.revoked:
            said = {"error": "invalid_grant", "error_description": "Token has been revoked."}
            return Answer(400, said)
        self.issued += 1
        token = f"ya29.invented-{self.issued}"
        return Answer(200, {"access_token": token, "expires_in": 3599, "token_type": "Bearer"})

    def _is_valid(self, authorization: str) -> bool:
        number = authorization.removeprefix("Bearer ya29.invented-")
        return number.isdecimal() and self.expired < int(number) <= self.issued

    def _list(self, asked: Asked) -> Any:
        assert "name contains 'takeout-'" in asked.word("q")
        start = int(asked.word("pageToken") or 0)
        records = [self._record(name) for name in sorted(self.files)]
        reply: dict[str, Any] = {"files": records[start : start + self.step]}
        if start + self.step < len(records):
            reply["nextPageToken"] = str(start + self.step)
        return reply

    def _record(self, file_id: str) -> Any:
        name, data = self.files[file_id]
        return {
            "id": file_id,
            "name": name,
            "size": str(self.sizes.get(file_id, len(data))),
            "md5Checksum": hashlib.md5(data, usedforsecurity=False).hexdigest(),
            "parents": [FOLDER],
        }

    def _piece(self, file_id: str, wanted: str) -> Answer:
        match = _RANGE.fullmatch(wanted)
        assert match is not None
        first, last = int(match[1]), int(match[2])
        data = self.files[file_id][1]
        piece = data[first : last + 1]
        self.sent.append((file_id, first, last))
        if file_id in self.damaged:
            self.damaged.discard(file_id)
            piece = bytes([piece[0] ^ 1]) + piece[1:]
        headers = {
            "Content-Type": "application/zip",
            "Content-Range": f"bytes {first}-{first + len(piece) - 1}/{len(data)}",
        }
        return Answer(206, piece, headers)


def _error(status: int, reason: str, message: str) -> Answer:
    return Answer(status, error_body(reason, message))


def error_body(reason: str, message: str) -> Any:
    """An error as Google's APIs tell it."""
    return {"error": {"errors": [{"reason": reason, "message": message}], "message": message}}


def settings_for(web: Web, **more: Any) -> DriveSettings:
    """Settings of a user's credentials at this server."""
    told = {
        "type": "authorized_user",
        "client_id": "invented.apps.example.com",
        "client_secret": CLIENT_SECRET,
        "refresh_token": REFRESH_TOKEN,
    }
    return DriveSettings(
        credentials=SecretStr(json.dumps(told)),
        base_url=f"{web.url}/drive/v3",
        oauth_url=f"{web.url}/token",
        **more,
    )


@contextmanager
def serving_drive(drive: DriveServer) -> Iterator[Web]:
    with serving_web(drive.answer) as web:
        yield web
