"""The forms that providers gave their keys and tokens, so that they can be recognised."""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """A token's kind, the literals one of which it holds, and its whole form as a regex.

    No form may fail after an unbounded repeat, or a hostile text would make the search quadratic:
    such repeats end a form, or are possessive. `before` is how far the token can begin before its
    literal (0: the literal is its beginning).
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    before: int = 0


# A literal shared by several forms belongs to all of them; the first that matches wins.
RUNS: tuple[Form, ...] = (
    Form("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A[A-Z]{3}[A-Z0-9]{16}(?![^\W_])"),
    Form("gcp-api-key", ("AIza",), r"AIza[0-9A-Za-z_-]{35,}"),
    Form("google-oauth", ("ya29.",), r"ya29\.[0-9A-Za-z_.-]{20,}"),
    Form("google-oauth", ("1//0",), r"1//0[0-9A-Za-z_-]{20,}"),
    Form("google-oauth", ("GOCSPX-",), r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    Form("azure-devops-token", ("AZDO",), r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", 76),
    Form("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[opusr]_[A-Za-z0-9]{30,}"),
    Form("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,}"),
    Form(
        "gitlab-token",
        ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glagent-", "gloas-", "glsoat-"),
        r"gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,}",
    ),
    Form("slack-token", ("xox",), r"xox[abcdeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    Form("slack-token", ("xoxd-",), r"xoxd-[A-Za-z0-9%+/=_-]{10,}"),
    Form("slack-token", ("xapp-",), r"xapp-\d-[A-Za-z0-9-]{10,}"),
    Form("mapbox-token", ("sk.",), r"sk\.eyJ[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{10,}"),
    Form("anthropic-key", ("sk-",), r"sk-ant-[A-Za-z0-9_-]{20,}"),
    Form("openrouter-key", ("sk-",), r"sk-or-v1-[0-9a-f]{40,}"),
    Form("openai-key", ("sk-",), r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"),
    Form("openai-key", ("sk-",), r"sk-[A-Za-z0-9]{32,}"),
    Form("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{40,}"),
    Form("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{37,}"),
    Form("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{40,}"),
    Form("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{60,}"),
    Form("langsmith-key", ("lsv2_",), r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10,}"),
    Form("huggingface-token", ("hf_", "api_org_"), r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    Form("stripe-key", ("sk_", "rk_"), r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    Form("stripe-key", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{20,}"),
    Form("twilio-key", ("SK",), r"SK[0-9a-f]{32}(?![0-9a-zA-Z])"),
    Form("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}"),
    Form("mailgun-key", ("key-",), r"(?<![_-])key-[0-9a-f]{32,}"),
    Form("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{30,}"),
    Form("pypi-token", ("pypi-",), r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    Form("rubygems-token", ("rubygems_",), r"rubygems_[0-9a-f]{40,}"),
    Form("docker-token", ("dckr_",), r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    Form("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"do[opr]_v1_[a-f0-9]{40,}"),
    Form("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"shp\w{2}_[a-fA-F0-9]{32,}"),
    Form("square-token", ("EAAA",), r"EAAA[EFl][A-Za-z0-9_-]{55,}"),
    Form("square-token", ("sq0",), r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    Form("facebook-token", ("EAA",), r"EAA[B-Za-z0-9][A-Za-z0-9]{100,}"),
    Form("discord-token", ("mfa.",), r"mfa\.[A-Za-z0-9_-]{60,}"),
    Form("telegram-token", (":AA",), r"(?:bot)?\d{8,10}:AA[A-Za-z0-9_-]{32,}", 13),
    Form("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,}"),
    Form("notion-token", ("secret_",), r"secret_[A-Za-z0-9]{43,}"),
    Form("linear-key", ("lin_",), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    Form("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=-]{20,}"),
    Form("atlassian-token", ("ATBB",), r"ATBB[A-Za-z0-9]{24,}"),
    Form("figma-token", ("figd_", "figo_", "figr_"), r"fig[dor]_[A-Za-z0-9_-]{40,}"),
    Form("airtable-token", ("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Form("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Form("dropbox-token", ("sl.",), r"sl\.[A-Za-z0-9_-]{100,}"),
    Form("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?"),
    Form(
        "newrelic-key",
        ("NRAK-", "NRJS-", "NRII-", "NRRA-", "NRSP-"),
        r"NR[A-Z]{2}-[A-Za-z0-9_-]{19,}",
    ),
    Form("newrelic-key", ("NRAL",), r"[0-9a-f]{36}NRAL", 36),
    Form("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    Form("cloudflare-key", ("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    Form("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,}"),
    Form("grafana-token", ("glc_",), r"glc_[A-Za-z0-9+/=]{32,}"),
    Form("grafana-token", ("glsa_",), r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    Form("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    Form("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", 14),
    Form("doppler-token", ("dp.",), r"dp\.[a-z]{2,5}\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    Form("supabase-key", ("sbp_",), r"sbp_[0-9a-f]{40,}"),
    Form("supabase-key", ("sb_secret_",), r"sb_secret_[A-Za-z0-9_-]{20,}"),
    Form("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}"),
    Form("fly-token", ("fm1", "fm2", "fo1_"), r"f[mo][12][ar]?_[A-Za-z0-9+/=_-]{40,}"),
    Form("tailscale-key", ("tskey-",), r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}"),
    Form("pulumi-token", ("pul-",), r"pul-[0-9a-f]{40,}"),
    Form("sonar-token", ("sqp_", "sqa_", "squ_"), r"sq[pua]_[0-9a-f]{40,}"),
    Form("artifactory-key", ("AKCp",), r"AKCp[A-Za-z0-9]{60,}"),
    Form("alibaba-key", ("LTAI",), r"LTAI[A-Za-z0-9]{12,20}(?![A-Za-z0-9+/=])"),
    Form("tencent-key", ("AKID",), r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9+/=])"),
    Form("plaid-token", ("access-",), r"access-(?:sandbox|development|production)-[0-9a-f-]{36}"),
    Form("onepassword-key", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/=_-]{100,}"),
    Form("onepassword-key", ("A3-",), r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-?[A-Z0-9]{5}){4}"),
    Form("firebase-key", ("AAAA",), r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{100,}"),
    Form("age-key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    Form(
        "private-key",  # PEM, once more in base64: kubeconfig, CI variables
        ("LS0tLS1CRUdJTiB",),
        r"LS0tLS1CRUdJTiB(?:QUk|SU0|FQyB|PUEV|FTkN|QR1|EU0)[A-Za-z0-9+/=]{40,}",
    ),
    Form(
        "jwt",
        ("eyJ",),
        r"eyJ[A-Za-z0-9_-]{8,}+\.(?:eyJ[A-Za-z0-9_-]{8,}+|[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+)"
        r"(?:\.[A-Za-z0-9_-]*+)*+",
    ),
)  # fmt: skip
"""Forms that hold a run of at least 16 letters, digits, `_` and `-`."""

SHAPES: tuple[tuple[str, str, str], ...] = (
    ("discord-token", "[MNO]", r"[\w-]{22,28}\.[\w-]{6}\.[\w-]{27,}"),
    ("mailchimp-key", "[0-9a-f]", r"(?<![_-].)[0-9a-f]{31}-us\d{1,2}(?![0-9A-Za-z])"),
    ("mailgun-key", "[0-9a-f]", r"(?<![_-].)[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
)
"""Forms without a literal: kind, first character, the rest."""

SCATTERED: tuple[Form, ...] = (
    Form("azure-client-secret", ("q~",), r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,}", 4),
    Form("slack-webhook", ("hook",), r"hooks\.slack\.com/[a-z]{8,9}/[A-Za-z0-9+/]{20,}"),
    Form("discord-webhook", ("hook",), r"(?<=web)hooks/\d{15,20}/[A-Za-z0-9_-]{40,}"),
    Form("teams-webhook", ("hook",), r"(?<=web)hook\.office\.com/webhookb2/[A-Za-z0-9@/-]{60,}"),
    Form("totp-secret", ("otpauth:",), r"otpauth://[^\s{\"'<>`\ufffc]{10,400}"),
    Form("signed-url", ("sig=",), r"(?<=[?&])sig=[A-Za-z0-9%+/_-]{30,}=*"),
    Form("signed-url", ("ture=",), r"(?<=-Signa)ture=[0-9a-f]{64,}"),
    Form("password-hash", ("$",), r"\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}"),
    Form("password-hash", ("$",), r"\$apr1\$[./\w]{1,8}\$[./\w]{22}"),
    Form("password-hash", ("$",), r"\$[56y]\$(?:[\w=,]{1,30}\$){0,2}[./\w]{22,}"),
    Form(
        "password-hash",
        ("$",),
        r"\$argon2i?d?\$v=\d+\$[\w=,]{1,40}\$[A-Za-z0-9+/]{8,}+\$[A-Za-z0-9+/]{20,}",
    ),
)
"""Forms whose characters do not run together, each found by a rare literal (in lower case)."""
