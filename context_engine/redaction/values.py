"""Tell a secret from what stands in for one: a variable, a mask, a type, a term, a sentence."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

# Passwords hold every sign: only what is well-formed as a reference counts as one.
_REFERENCE = re.compile(
    r"""
    # $entry->x, $DB_PASSWORD, $HOME/x, $password
      \$\w+(?:->|::) | \$[A-Z_][A-Z0-9_]*(?:$|/) | \$[a-z_][a-zA-Z_]*$
    | \$\w{0,20}?(?:pass|pwd|token|secret|key)\w*$
    | [$#]\{[A-Za-z_][\w.:?-]* | \$\([a-z]+(?:[\ )]|$) | \{\{ | <%  # ${X:-, $(pass, {{ x }}, <%= x
    | %\w+%$ | @\w+@$ | (?:%[-+0-9.]*[a-z]\W*)+$           # %PASSWORD%, @PASSWORD@, %s:%s
    | \{[\w.:!\ \[\]]*\}?$ | <[\w .-]+> | \[[\w .-]*\]?$        # {token}, <your key>, [your key]
    | (?:process\.env|os\.environ|import\.meta|env|secrets?|vars?|config|settings|self|this)[.\[:]
    | (?:op|vault|arn|sm|ref\+\w+|keyring|https?|file|s3|gs|urn|data|env):
    | (?:/run/secrets/|projects/|\^[\[(\\]|/\^|!(?:vault|secret|env|ref|sub|getatt|import\w*)\b|~/)
    | &(?:\#x?\w+|[a-z]+);                                 # an HTML entity
    | ["'`\\/|&,;:)}\]>-]+$                                # nothing but punctuation
    """,
    re.VERBOSE,
)
_TEMPLATE = re.compile(
    r"\$\{[A-Za-z_][\w.]*\}|\{\{ ?[\w.| ()-]{1,60}\}\}|"
    r"\{[A-Za-z_][A-Za-z_.]{2,}(?:\(\))?\}|\(\?[:=!<P]|"
    r"\[[^\]]{1,40}\][+*{]|\\[wdsWDS]|(?:required|nullable|string|confirmed)\|"
)
_EXPRESSION = re.compile(
    r"[(\[{]+[\w.,:=#/\[\]()|-]*$|[&*][\w.-]+$|@[a-z_.]+(?:\(.*)?$"  # (x, [x, {x, &x, *x, @x
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[(\[]"  # base64.b64encode(
    r"|[A-Za-z_](?:[A-Za-z_.:]|->)*\d?[(\[][\w.,=:\[\]()/*-]*$"  # getpass(), tokens[0]
    r"|[A-Za-z_]{2,}=[\w.,()\[\]]*$"  # strict=True
    r"|\[[^\]]*\]\("  # a Markdown link
)
# Matched against lower case: ignoring case would cost the search its speed.
_MASK = re.compile(
    r"\*{3}|x{5}|(?<![a-z0-9])x{3,4}(?![a-z0-9])|•{2}|●{2}|\.{3}|…|_{4}|\#{4}|\?{3}|"
    r"your[-_ ]|^your|(?<![a-z])my[-_ ](?:\w+[-_ ])?(?:pass|secret|token|key|api)|"
    r"(?:goes|put|insert|paste)[-_ ]?(?:it[-_ ])?here|[-_]here$|"
    r"change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|with)|place[-_ ]?holder|^todo|^tbd|^fixme"
)
_WORDS = frozenset(
    """
    password passwd passphrase passcode pass pw pwd secret secrets token tokens key keys apikey
    api_key api-key credential credentials none null nil undefined empty blank unset missing
    true false yes no on off default auto random generated optional required mandatory invalid
    valid expired incorrect correct wrong weak strong short long text string str bytes byte int
    integer number bool boolean object array list dict any unknown void char varchar secretstr
    hidden masked redacted removed encrypted hashed plain plaintext example sample dummy fake mock
    test testing tests tested demo foo bar baz foobar admin root user username guest name value
    email login input output enabled disabled stored saved unchanged same different changed
    updated reset forgotten forgot lost confirm confirmation repeat new old current basic bearer
    passwort kennwort contrasena senha wachtwoord parola mot localhost changeit nopasswd
    prompt stdin file from with that this then when which what here there your anonymous
    """.split()  # noqa: SIM905  a list of words reads best as words
)
_TECHNICAL = re.compile(
    r"(?:base|sha|md|utf|bcrypt|argon|pbkdf|oauth|hmac|rsa|aes|ed|x|rs|hs|es|ps|http|ipv|php|"
    r"python|java|vue|web|sec|ecdsa|ecdh|p|s|c|k|v|win|int|uint|i|u|f|float|mysql|postgres|"
    r"redis|top|step|part|day|week|month|q|h|chapter|version|ver|rfc|iso|jis|crc|2fa|mfa|fido|"
    r"totp|otp|1password|lastpass|auth|log4j|n8n|k8s|i18n|l10n|a11y)"
    r"[-_]?\d{1,5}(?:id|[a-z]|url|[-_]?(?:encoded|hashed?|bit|bits|byte|bytes))?"
    r"|1password|[a-z0-9]*[a-z](?:-encoded|-hashed|-based)|k8s|n8n|i18n|log4j|2fa|\d{1,6}-?"
    r"(?:[kmgt]i?b?|ms|s|sec|min|h|d|px|em|rem|chars?|characters?|bits?|bytes?|tokens?|words?|st|nd|"
    r"rd|th|x|days?|hours?|minutes?|seconds?|digits?|letters?)",
    re.IGNORECASE,
)
_DATED = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}.*|\d{1,2}:\d{2}.*|v?\d+(?:\.\d+)+[\w.+-]*")
_PATH = re.compile(
    r"(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*|[A-Za-z]:\\.*|\.?[\w-]+(?:\.[\w-]+)*\."
    r"(?:env|ya?ml|json|toml|ini|conf|cfg|txt|md|py|js|ts|tsx|go|rs|rb|java|sh|sql|log|pem|crt|key|"
    r"html?|css|xml|csv|lock|local|example)",
    re.ASCII,
)
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[a-z-]+)*\.[a-z]{2,}|(?:[a-z][a-z0-9-]*\.)+[a-z]{2,}(?::\d+)?", re.ASCII
)
_SENTENCE = re.compile(
    r"\b(?:the|your|you|must|please|enter|is|are|was|be|at|least|do|does|not|match|invalid|required|"
    r"forgot|characters?|contain|cannot|can't|don't|for|with|of|and|or|to|in|it|a|an|has|have|if|"
    r"this|that|password|token|secret|key)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"pass|pwd|token|secret|key|cred|auth", re.IGNORECASE)
_TYPE = re.compile(
    r"Secret(?:Str|Bytes)|[\w.:]*(?:[a-z0-9.](?:Key|Token|Password|Secret|Credential)|_(?:key|token|password|secret|"
    r"credential)|_(?:KEY|TOKEN|PASSWORD|SECRET|CREDENTIAL))(?:s|S|Types?|Bytes|Error|Str)?",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"[A-Za-z_][A-Za-z]*\d{0,2}(?:(?:\.|->|::|\?\.|\||_+)[A-Za-z]*\d{0,2})*[!?]?", re.ASCII
)
_WORDY = re.compile(r"(?:[A-Z]?[a-z]{1,14}|[A-Z]{1,14}|\d{1,4})\d{0,2}")
_LETTER = re.compile(r"[^\W\d_]")
_UPPER, _LOWER, _DIGIT = re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]")
_DIGIT_OR_SIGN = re.compile(r"[0-9!@#$%^&*+=~?]")
_FEW_KINDS = 2
_LOOKED_AT = 80
_JUMBLED = 0.4
"""Changes of case per letter: camelCase has a quarter, random letters a half."""


def is_placeholder(value: str) -> bool:
    """Tell whether `value` stands in for a secret: a variable, a mask, an instruction."""
    start = value[:_LOOKED_AT]
    return (
        start.lower() in _WORDS
        or is_masked(start)
        or bool(_REFERENCE.match(start))
        or bool(_TEMPLATE.search(start))
    )


def is_expression(value: str) -> bool:
    """Tell whether an unquoted `value` is code that yields a secret rather than one."""
    return bool(_EXPRESSION.match(value))


def is_masked(value: str) -> bool:
    """Tell whether `value` only shows what a secret would look like: xxxxxxxx, sk-your-key."""
    return len(set(value)) <= _FEW_KINDS or bool(_MASK.search(value.lower()))


def is_mixed(value: str) -> bool:
    """Tell whether letters and digits, or letters and unusual signs, come together."""
    return bool(_LETTER.search(value)) and bool(_DIGIT_OR_SIGN.search(value))


def is_varied(value: str) -> bool:
    """Tell whether upper case, lower case and digits all occur."""
    return bool(_UPPER.search(value) and _LOWER.search(value) and _DIGIT.search(value))


def is_jumbled(value: str) -> bool:
    """Tell whether letters change case as often as random ones do."""
    changes = sum(a.islower() != b.islower() for a, b in pairwise(value))
    return changes > _JUMBLED * len(value)


def is_sentence(value: str) -> bool:
    """Tell whether a value with spaces is a sentence or a label rather than a passphrase."""
    return not value.isascii() or bool(_SENTENCE.search(value))


def is_wordy(value: str) -> bool:
    """Tell whether `value` is made of words and small numbers: user-42, my_secret, db.config.v2."""
    return all(_WORDY.fullmatch(piece) for piece in re.split(r"[-_./:# ]+", value) if piece)


def is_identifier(value: str) -> bool:
    """Tell whether `value` reads as a name in code: user.password, API_KEY_2, PasswordInput."""
    if not _IDENTIFIER.fullmatch(value):
        return False
    return "." in value or not _DIGIT.search(value) or bool(_NAMED.search(value))


def is_dotted(value: str) -> bool:
    """Tell whether `value` is an attribute of something: user.password."""
    return "." in value and is_identifier(value)


def is_type(value: str) -> bool:
    """Tell whether `value` names a kind of secret: Ed25519PrivateKey, AWS_SECRET_ACCESS_KEY."""
    return bool(_TYPE.fullmatch(value))


def is_technical(value: str) -> bool:
    """Tell whether `value` is a term, a date, an address or a file, though it holds digits."""
    return is_path(value) or any(
        form.fullmatch(value) for form in (_TECHNICAL, _DATED, _UUID, _ADDRESS)
    )


def is_path(value: str) -> bool:
    """Tell whether `value` is a file name or path of ordinary words."""
    return bool(_PATH.fullmatch(value)) and all(is_wordy(p) for p in value.split("/"))


def is_uuid(value: str) -> bool:
    """Tell whether `value` is a UUID."""
    return bool(_UUID.fullmatch(value))


def narrow(value: str) -> str:
    """Return full-width letters and digits in their ASCII form."""
    return value if value.isascii() else unicodedata.normalize("NFKC", value)
