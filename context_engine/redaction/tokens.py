"""Keys and tokens that providers made recognisable by their form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject

# A token begins where no letter or digit stands before it, except that of an escape: \n, %3D, ESC[32m
_LEFT = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\[\dm)|(?<=\[\d\dm)|(?<=\[\d;\d\dm))"

# kind, and the token's form from its first character
FORMS: tuple[tuple[str, str], ...] = (
    ("aws-access-key", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    ("gcp-api-key", r"AIza[0-9A-Za-z_-]{35}"),
    ("google-oauth", r"ya29\.[0-9A-Za-z_.-]{20,}|1//0[0-9A-Za-z_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}"),
    ("azure-client-secret", r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,}"),
    ("azure-devops-token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("github-token", r"gh[opusr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab-token", r"gl(?:pat|ptt|dt|rt|cbt|ft|agent|oas|soat|imt)-[A-Za-z0-9_.-]{20,}"),
    ("slack-token", r"xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    ("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}"),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("openrouter-key", r"sk-or-v1-[0-9a-f]{40,}"),
    ("openai-key", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9]{32,}"),
    ("huggingface-token", r"hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,}"),
    ("stripe-key", r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{20,}"),
    ("twilio-key", r"SK[0-9a-f]{32}"),
    ("sendgrid-key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}"),
    ("mailgun-key", r"key-[0-9a-f]{32}|[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])"),
    ("mailchimp-key", r"[0-9a-f]{32}-us\d{1,2}"),
    ("npm-token", r"npm_[A-Za-z0-9]{30,}"),
    ("pypi-token", r"pypi-[A-Za-z0-9_-]{40,}"),
    ("docker-token", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{40,}"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}"),
    ("square-token", r"EAAA[EFl][A-Za-z0-9_-]{55,}|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    ("telegram-token", r"\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    (
        "discord-webhook",
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,20}/[A-Za-z0-9_-]{40,}",
    ),
    ("discord-token", r"[MNO][A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}"),
    ("notion-token", r"ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43,}"),
    ("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("atlassian-token", r"AT[AC]TT3[A-Za-z0-9_=-]{20,}|ATBB[A-Za-z0-9]{24,}"),
    ("databricks-token", r"dapi[0-9a-f]{32}(?:-\d)?"),
    ("newrelic-key", r"NR(?:AK|JS|II|RA|SP)-[A-Za-z0-9_-]{19,}|[0-9a-f]{36}NRAL"),
    ("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("cloudflare-key", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    ("heroku-key", r"HRKU-[A-Za-z0-9_-]{36,}"),
    ("grafana-token", r"glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    ("vault-token", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    ("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?"),
)

_KINDS = tuple(kind for kind, _ in FORMS)
_ANY = re.compile(_LEFT + "(?:" + "|".join(f"({form})" for _, form in FORMS) + ")")

_RUN = b"a" * 16
_CLASSES = bytes(
    97 if chr(byte).isalnum() and byte < 128 or byte in b"_-" else 32 for byte in range(256)
)
_REACH = 90
"""How far before a run of token characters a token can begin (a webhook's host and path)."""


def tokens(subject: Subject) -> Iterator[Span]:
    """Yield tokens known by their form."""
    for start, end in _regions(subject.ascii.translate(_CLASSES)):
        for match in _ANY.finditer(subject.text, start, end):
            yield Span(match.start(), match.end(), _KINDS[(match.lastindex or 1) - 1])


def _regions(classes: bytes) -> Iterator[tuple[int, int]]:
    """Yield the surroundings of runs of 16 or more token characters, joined where they touch."""
    start = end = 0
    run = classes.find(_RUN)
    while run >= 0:
        stop = classes.find(b" ", run)
        stop = len(classes) if stop < 0 else stop
        if run - _REACH > end:
            if end:
                yield start, end
            start = max(0, run - _REACH)
        end = stop + _REACH
        run = classes.find(_RUN, stop)
    if end:
        yield start, end
