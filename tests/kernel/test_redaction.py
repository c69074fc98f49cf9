"""What redaction leaves behind: readable, countable, stable, and the same document."""

from __future__ import annotations

import time
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from context_engine.errors import ConfigError
from context_engine.redaction import RedactionOptions, custom_pattern, redact

GITHUB = "ghp_" + "a1B2c3D4e" * 4
AWS = "AKIAQ3EGRZ5WXY7ABCDE"
KEY = (
    "-----BEGIN PRIVATE KEY-----\n"
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n"
    "Zx3c=\n"
    "-----END PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"key {AWS}.", "key [redacted:aws-access-key]."),
        (f"トークンは{GITHUB}です", "トークンは[redacted:github-token]です"),
        ('password = "hunter2"', 'password = "[redacted:password]"'),
        ("DB_PASSWORD=hunter2\nDB=x", "DB_PASSWORD=[redacted:password]\nDB=x"),
        ("パスワードは hunter2 です。", "パスワードは [redacted:password] です。"),
        ("パスワード：hunter2", "パスワード：[redacted:password]"),
        ("暗証番号は 4821 です", "暗証番号は [redacted:pin] です"),
        ("postgres://app:hunter2@db/shop", "postgres://app:[redacted:url-password]@db/shop"),
        ("Cookie: sid=0123456789abcdef; a=b", "Cookie: [redacted:cookie]"),
        ("Authorization: Basic YWtpOmh1bnRlcjI=", "Authorization: Basic [redacted:authorization]"),
        ("card 4242 4242 4242 4242, ok", "card [redacted:card-number], ok"),
        ("カード番号は4111111111111111です", "カード番号は[redacted:card-number]です"),
        ('{"card_number": "4111111111111111"}', '{"card_number": "[redacted:card-number]"}'),
        ("a <private>b\nc</private> d", "a [redacted:private] d"),
        ("(token=a1b2c3d4e5f6)", "(token=[redacted:token])"),
        ("?api_key=a1b2c3d4e5f6&page=2", "?api_key=[redacted:api-key]&page=2"),
    ],
)
def test_a_secret_is_replaced_by_its_kind_and_nothing_else_changes(
    text: str, expected: str
) -> None:
    assert redact(text).text == expected


def test_kinds_are_counted_and_values_are_not_told() -> None:
    result = redact(f"{AWS} and {AWS}, {GITHUB}, password = 'hunter22'")
    assert result.counts == {"aws-access-key": 2, "github-token": 1, "password": 1}
    assert "hunter22" not in repr(result)


def test_text_without_a_secret_comes_back_as_it_is() -> None:
    text = "Nothing here.\r\n\tReally nothing: あ\u3000い \ud83d"
    result = redact(text)
    assert result.text == text
    assert result.counts == {}


def test_the_result_cannot_be_changed() -> None:
    result = redact(AWS)
    with pytest.raises(FrozenInstanceError):
        result.text = ""  # type: ignore[misc]  # that is what must fail
    with pytest.raises(TypeError):
        result.counts["x"] = 1  # type: ignore[index]  # that is what must fail


def test_a_secret_found_in_two_ways_counts_once_under_its_closer_name() -> None:
    result = redact(f"Authorization: Bearer {GITHUB}")
    assert result.text == "Authorization: Bearer [redacted:github-token]"
    assert result.counts == {"github-token": 1}


def test_a_rotation_hides_both_passwords() -> None:
    for text in (
        "I changed the password from Tr0ub4dor to N3wPassw yesterday",
        "パスワードを Tr0ub4dor から N3wPassw に変更しました",
    ):
        cleaned = redact(text)
        assert cleaned.counts == {"password": 2}


def test_an_aws_pair_loses_its_secret_half_too() -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXtoOL3Y1"
    assert redact(f"{AWS},{secret}").text == ("[redacted:aws-access-key],[redacted:aws-secret-key]")


# --- private blocks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <PRIVATE>b</Private> c", "a [redacted:private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [redacted:private] e"),
        ("a <private>b\n\nc", "a [redacted:private]"),
        ("a</private> b", "a</private> b"),
        ("wrap it in `<private>` tags", "wrap it in `<private>` tags"),
        ("a<private></private>b", "a[redacted:private]b"),
    ],
)
def test_a_private_block_goes_whole_and_an_open_one_reaches_the_end(
    text: str, expected: str
) -> None:
    assert redact(text).text == expected


# --- keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KEY, "[redacted:private-key]"),
        (f"```pem\n{KEY}\n```\n", "```pem\n[redacted:private-key]\n```\n"),
        (KEY.replace("\n", "\\n"), "[redacted:private-key]"),
        ("> " + KEY.replace("\n", "\n> ") + "\n\nok", "> [redacted:private-key]\n\nok"),
        (KEY.replace("\n", "\r\n") + "\r\nok", "[redacted:private-key]\r\nok"),
        (
            KEY.split("\n-----END", maxsplit=1)[0][:-6] + "\n---\nok",
            "[redacted:private-key]\n---\nok",
        ),
        (KEY[: KEY.index("MzEf")] + "```\nok", "[redacted:private-key]\n```\nok"),
        (f"{KEY}\n{KEY}", "[redacted:private-key]\n[redacted:private-key]"),
    ],
)
def test_a_private_key_is_one_marker_however_it_is_wrapped(text: str, expected: str) -> None:
    assert redact(text).text == expected


def test_a_public_key_and_a_certificate_stay() -> None:
    text = KEY.replace("PRIVATE KEY", "CERTIFICATE")
    assert redact(text).text == text


# --- Markdown --------------------------------------------------------------------------------


def blocks(text: str) -> list[str]:
    return [token.type for token in MarkdownIt().parse(text) if token.nesting >= 0]


@pytest.mark.parametrize(
    "text",
    [
        f"# Title\n\n```\n{KEY}\n```\n\nAfter.",
        "Before.\n\n```sh\nDB_PASSWORD=hunter2\n```\n\nAfter.",
        f"- one\n- {GITHUB}\n- three",
        f"{GITHUB}: the token of the bot",
        f"> {GITHUB}: the token of the bot",
        f"{GITHUB}(the bot's)",
        f"see {GITHUB}[1]",
        "[docs](https://x.test/?token=a1b2c3d4e5f6) and more",
        "| name | value |\n|---|---|\n| password | Tr0ub4dor |",
    ],
)
def test_the_markdown_around_a_secret_keeps_its_structure(text: str) -> None:
    cleaned = redact(text)
    assert cleaned.counts
    assert blocks(cleaned.text) == blocks(text)
    inline = [
        child.type for token in MarkdownIt().parse(cleaned.text) for child in token.children or ()
    ]
    assert ("link_open" in inline) == ("](" in text)


def test_a_private_block_that_opens_a_fence_leaves_the_fence_open() -> None:
    text = "<private>\n```\nsecret</private>\ncode\n```\nprose"
    assert blocks(redact(text).text) == [
        "paragraph_open",
        "inline",
        "fence",
        "paragraph_open",
        "inline",
    ]


# --- stability -------------------------------------------------------------------------------

PIECES = (
    AWS, GITHUB, KEY, "password", "パスワード", "は", ": ", "=", '"', "'", "`", "```", "\n", "\\n",
    " ", "hunter2", "Tr0ub4dor", "<private>", "</private>", "[redacted:password]", "[redacted:",
    "]", "(", ")", "Cookie: ", "a=b; ", "Authorization: Bearer ", "https://u:", "@h/", "api_key",
    "token", "4242 4242 4242 4242", "4242424242424242", "eyJhbGciOiJIUzI1NiJ9.", "-----BEGIN",
    "-----END PRIVATE KEY-----", "あ", "１２３４", "--password ", "is", "to", "|", ",", ";", "{",
    "}",
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=14).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.counts == {}


@settings(deadline=None)
@given(st.text(), st.text())
def test_a_token_is_found_in_any_surroundings(before: str, after: str) -> None:
    text = f"{before} {GITHUB} {after}"
    assert GITHUB not in redact(text).text


# --- the owner's choices ---------------------------------------------------------------------


def test_addresses_and_numbers_stay_unless_the_owner_wants_them_out() -> None:
    text = "aki@example.com, 03-1234-5678, +81 90-1234-5678, (415) 555-0132, 09012345678"
    assert redact(text).text == text
    cleaned = redact(text, RedactionOptions(emails=True, phones=True))
    assert cleaned.text == (
        "[redacted:email], [redacted:phone], [redacted:phone], [redacted:phone], [redacted:phone]"
    )


def test_dates_versions_and_ids_are_no_phone_numbers() -> None:
    text = "2026-11-02 10:00-11:30, 1.2.3-4567, id 4bf92f35-77b3-4da6-a3ce-929d0e0e4736, 12345678"
    assert redact(text, RedactionOptions(emails=True, phones=True)).text == text


def test_the_owners_pattern_is_a_kind_of_its_own() -> None:
    options = RedactionOptions(patterns=(custom_pattern("employee-id", r"社員番号[:：]?\d{4,8}"),))
    result = redact("彼は社員番号：12345です", options)
    assert result.text == "彼は[redacted:employee-id]です"
    assert result.counts == {"employee-id": 1}
    assert redact(result.text, options).counts == {}


@pytest.mark.parametrize(
    ("regex", "reason"),
    [
        (r"(a+)+b", "not allowed"),
        (r"\d+x", "not allowed"),
        (r".*secret.*", "not allowed"),
        (r"(?:ab){2,9}", "a group cannot repeat"),
        (r"x{1,9}", "single character"),
        (r"ab{1,9999}", "more than 256"),
        (r"x\d{1,64}\d{1,64}\d{1,64}y", "too many"),
        (r"(abc)\1", "not allowed"),
        (r"x?", "single character"),
        (r"[", "unterminated"),
        ("x" * 501, "longer than"),
    ],
)
def test_a_pattern_that_could_be_slow_or_greedy_is_refused_with_the_reason(
    regex: str, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        custom_pattern("mine", regex)
    assert "'mine'" in str(refused.value)


@pytest.mark.parametrize("name", ["", "x", "Has Space", "über", "a1", "-a", "x" * 33])
def test_a_pattern_has_a_name_that_fits_the_marker(name: str) -> None:
    with pytest.raises(ConfigError, match="a name is"):
        custom_pattern(name, "abcd")


@settings(deadline=None)
@given(st.text(alphabet="ab1{},?()[]|\\d.", min_size=2, max_size=16))
def test_every_accepted_pattern_is_quick_on_a_hostile_text(regex: str) -> None:
    try:
        options = RedactionOptions(patterns=(custom_pattern("mine", regex),))
    except ConfigError:
        return
    began = time.process_time()
    redact("a" * 2_000 + "1" * 2_000, options)
    assert time.process_time() - began < 1


# --- time ------------------------------------------------------------------------------------


def seconds(text: str) -> float:
    began = time.process_time()
    redact(text)
    return time.process_time() - began


HOSTILE = (
    "password:", "password=(", 'password = "', "token:[", "パスワードは", "authorization:bearer=",
    "cookie: a=b", "curl -u ", "://:a", "sk-ant-", "eyJ", "eyJaaaaaaaaa.", "8Q~aaa",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n", "<private>",
    "<private></private>", "4111 1111 ", "0", "@a.", "a-", "\\", '"', "$6$", "?sig=a",
    "[redacted:ab]", "```\n", "auth('a',", f"{AWS} ", "password='\\'", "password (",
    "M" * 24 + ".", "f" * 32 + "-", "password: <a", "password: a|", "token=a,",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    short, long = piece * (25_000 // len(piece)), piece * (200_000 // len(piece))
    seconds(short)
    # eight times the text: quadratic work would take sixty-four times as long, each time;
    # a busy machine makes single measurements longer, never shorter
    limit = 24 * max(min(seconds(short), seconds(short)), 0.004)
    assert any(seconds(long) < limit for _ in range(3))


def test_ten_megabytes_of_a_transcript_take_a_few_seconds() -> None:
    turn = (
        "The token service is slow again; the key idea is to pass fewer headers.\n"
        "キューはValkeyにする。ライセンスが理由で、パスワードの扱いは変えない。\n"
        "```python\nfor item in items:\n    process(item, timeout=30)\n```\n\n"
    )
    text = turn * (10_000_000 // len(turn.encode()))
    assert seconds(text + f"\n{AWS}\n") < 8
