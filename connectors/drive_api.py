"""Google Drive through Google's client library, as far as Takeout's parts are found and fetched."""

from __future__ import annotations

import http.client
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.credentials import secret
from connectors.jsonl import parse_object
from connectors.live import TIMEOUT, Pause, TryAgainError, persistent, retry_after
from connectors.text import clean_text, shorten
from context_engine.errors import AccessDeniedError, BadInputError
from context_engine.events import UnknownRecord
from context_engine.source_settings import DriveSettings

SERVICE = "Google Drive"
SCOPE = "https://www.googleapis.com/auth/drive.readonly"
CHUNK = 8 << 20
"""Bytes of one request: what a broken connection costs at most, held in memory."""

_NEEDED = f"the JSON of a user's or a service account's credentials with the scope {SCOPE}"
_REFUSED = f"make new credentials with the scope {SCOPE} (a consent screen in testing ends them)"
_FILE_LIMIT = 64 << 10
_FIELDS = "nextPageToken, files(id, name, size, md5Checksum, parents)"
_ID = re.compile(r"[\w-]{1,200}")
_MD5 = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"(takeout-(\d{8}T\d{6}Z)(?:-\d{1,4})?)-(\d{3,5})\.(?:zip|tgz)")
_LIMITS = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "sharingRateLimitExceeded"})
_UNAUTHORIZED, _FORBIDDEN, _TOO_MANY, _SERVER = 401, 403, 429, 500


@dataclass(frozen=True, slots=True)
class Part:
    """One file of an export.

    export: what its parts have in common; taken: when it was made; number: which part it is.
    """

    id: str
    name: str
    export: str
    taken: str
    number: int
    size: int
    md5: str


class Drive:
    """The files that one set of credentials may read. Raises AccessDeniedError without any."""

    def __init__(self, settings: DriveSettings, pause: Pause) -> None:
        import google_auth_httplib2
        import httplib2
        from googleapiclient.discovery import build

        self._settings, self._pause = settings, pause
        transport = google_auth_httplib2.AuthorizedHttp(
            _credentials(settings), http=httplib2.Http(timeout=TIMEOUT)
        )
        # the library carries the description of the API: nothing is asked but the API itself
        self._files = build(
            "drive",
            "v3",
            http=transport,
            static_discovery=True,
            cache_discovery=False,
            client_options={"api_endpoint": f"{settings.base_url}/"},
        ).files()

    def close(self) -> None:
        """Close the connections."""
        self._files.close()

    def parts(self) -> Iterator[Part | UnknownRecord]:
        """Yield the parts of Takeout's exports that lie in the folder, or anywhere without one.

        Files that might be parts by their name but cannot be read as such are told too.
        """
        query = "name contains 'takeout-' and trashed = false"
        if folder := self._settings.folder:
            if not _ID.fullmatch(folder):
                raise BadInputError(SERVICE, "drive.folder is no id of a folder")
            query += f" and '{folder}' in parents"
        token = None
        while True:
            request = self._files.list(q=query, fields=_FIELDS, pageSize=1000, pageToken=token)
            reply = self._execute(request)
            records = reply.get("files") if isinstance(reply, dict) else None
            yield from (part for record in records or () if (part := part_of(record)))
            token = reply.get("nextPageToken") if isinstance(reply, dict) else None
            if not token:
                return

    def piece(self, part: Part, start: int) -> bytes:
        """Return the bytes of `part` from `start` on, as many as one request gives.

        Raises BadInputError when the file is not to be had any more.
        """
        end = min(part.size, start + CHUNK) - 1
        request = self._files.get_media(fileId=part.id)
        request.headers["range"] = f"bytes={start}-{end}"
        request.headers["accept-encoding"] = "identity"
        data = self._execute(request)
        if not isinstance(data, bytes) or len(data) != end + 1 - start:
            raise BadInputError(part.name, "Google Drive sent another piece than the one asked for")
        return data

    def _execute(self, request: Any) -> Any:
        return persistent(SERVICE, lambda: _once(request.execute), self._pause)


def _once(execute: Callable[[], Any]) -> Any:
    import httplib2
    from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
    from googleapiclient.errors import HttpError

    try:
        return execute()
    except HttpError as error:
        raise _meaning(error.resp, error.content) from error
    except RefreshError as error:
        if error.retryable:
            raise TryAgainError("the access token could not be renewed") from error
        said = _in_words(error.args[0] if error.args else "refused")
        raise AccessDeniedError(SERVICE, f"{said}; {_REFUSED}") from error
    except (TransportError, httplib2.HttpLib2Error, http.client.HTTPException, OSError) as error:
        raise TryAgainError(f"{type(error).__name__}: {error}") from error
    except GoogleAuthError as error:
        raise AccessDeniedError(SERVICE, f"{error}; {_REFUSED}") from error
    except ValueError as error:
        raise TryAgainError("a reply that is cut short or no JSON") from error


def _meaning(response: Mapping[str, Any], content: bytes) -> Exception:
    """Return what a reply that is no success means."""
    status = int(response["status"])
    why, said = _told(content)
    reason = f"HTTP {status}" + (f" ({said})" if said else "")
    after = retry_after(response.get("retry-after"))
    if status == _TOO_MANY or (status == _FORBIDDEN and why in _LIMITS):
        return TryAgainError(f"asks for fewer requests: {reason}", after)
    if status >= _SERVER:
        return TryAgainError(reason, after)
    one_file = why == "downloadQuotaExceeded" or why.startswith("cannotDownload")
    if status == _UNAUTHORIZED or (status == _FORBIDDEN and not one_file):
        return AccessDeniedError(SERVICE, f"{reason}; {_REFUSED}")
    return BadInputError(SERVICE, reason)


def _told(content: bytes) -> tuple[str, str]:
    """Return the reason's name and the message of an error's body."""
    body = parse_object(content) if content else None
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return "", ""
    errors = error.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else None
    reason = first.get("reason") if isinstance(first, dict) else None
    return str(reason or ""), _in_words(error.get("message"))


def _in_words(said: Any) -> str:
    return shorten(clean_text(str(said or "")), 200)


def part_of(record: Any) -> Part | UnknownRecord | None:
    """Return the part that a record of the list tells of, None when it is another file."""
    if not isinstance(record, dict):
        return None
    told = {name: str(record.get(name) or "") for name in ("id", "name", "size", "md5Checksum")}
    match = _PART.fullmatch(told["name"])
    whole = _ID.fullmatch(told["id"]) and _MD5.fullmatch(told["md5Checksum"])
    if not match or not whole or not told["size"].isdecimal():
        return _another(told["name"])
    parents = record.get("parents")
    folder = str(parents[0]) if isinstance(parents, list) and parents else ""
    return Part(
        id=told["id"],
        name=told["name"],
        export=f"{folder}/{match[1]}",
        taken=match[2],
        number=int(match[3]),
        size=int(told["size"][:18]),
        md5=told["md5Checksum"],
    )


def _another(name: str) -> UnknownRecord | None:
    if name.startswith("takeout-") and name.endswith((".zip", ".tgz")):
        return UnknownRecord(shorten(clean_text(name)), "file: not named as Takeout names parts")
    return None


# -- credentials ----------------------------------------------------------------------------------


def _credentials(settings: DriveSettings) -> Any:
    """Return the credentials, which renew themselves."""
    file = settings.credentials_file
    text = _read(file.expanduser()) if file else secret(settings, "drive", "credentials", _NEEDED)
    told = parse_object(text.encode())
    if not isinstance(told, dict):
        raise AccessDeniedError(SERVICE, f"the credentials are no JSON object; needed: {_NEEDED}")
    told = {**told, "token_uri": settings.oauth_url}
    try:
        return _of_account(told) if told.get("type") == "service_account" else _of_user(told)
    except (ValueError, KeyError, TypeError) as error:
        # not what it says: it may show a piece of the key
        kind = type(error).__name__
        raise AccessDeniedError(
            SERVICE, f"the credentials cannot be used ({kind}); needed: {_NEEDED}"
        ) from None


def _of_account(told: Mapping[str, Any]) -> Any:
    from google.oauth2 import service_account

    account: Any = service_account.Credentials
    return account.from_service_account_info(told, scopes=[SCOPE])


def _of_user(told: Mapping[str, Any]) -> Any:
    from google.oauth2 import credentials

    user: Any = credentials.Credentials
    return user(
        None,
        refresh_token=told["refresh_token"],
        client_id=told["client_id"],
        client_secret=told["client_secret"],
        token_uri=told["token_uri"],
    )


def _read(path: Path) -> str:
    """Return a file of credentials; raise AccessDeniedError when it may be read by others."""
    try:
        mode = path.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise AccessDeniedError(SERVICE, f"others may read {path}: chmod 600 {path}")
        with path.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(_FILE_LIMIT)
    except OSError as error:
        raise AccessDeniedError(SERVICE, f"{path}: {error.strerror}") from error
