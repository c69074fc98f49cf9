"""Text that holds no secret stays as it is, however much it talks about secrets."""

from __future__ import annotations

import base64
import hashlib
import random
import re
import string

import pytest

from context_engine.redaction import redact

TALK_ABOUT_SECRETS = """
The password reset flow was broken: the token expired before the mail arrived.
Passwords must be at least 12 characters and contain a digit.
password: required, at least 8 characters
Password: must contain one symbol
A token is a word or part of a word; the model reads 4096 tokens at once.
max_tokens=1024, temperature=0.2, top_p=0.95
tokens: 12345678 in total, cached tokens: 8000
We rotate the API key every 90 days. The key idea is that nobody types it.
The secret to good tests is that each of them can fail.
The primary key is (tenant_id, order_id); the foreign key points at orders.
He forgot his password again and asked for a new one.
The password is stored as a bcrypt hash, never in clear.
The password is base64-encoded, which is no encryption.
The password was changed on 2026-11-02 by the administrator.
Your password is incorrect. Please try again.
The password is too short (min 8 chars).
Set the password to something long and store it in the keyring.
Token is invalid or expired (401).
The token is 64 characters long.
A bearer token goes into the Authorization header.
Authorization: required
Send `Authorization: Bearer <token>` with every request.
Send `Authorization: Bearer $TOKEN` with every request.
curl -H "Authorization: Bearer ${API_TOKEN}" https://api.example.com/v1/me
curl -u "$USER:$PASS" https://api.example.com/v1/me
curl -u user:password https://api.example.com/v1/me
Cookies: we set one, theme=dark, and nothing else.
Set-Cookie: theme=dark; Path=/
Cookie: how it works and why browsers send it
The cookie is HttpOnly and SameSite=Lax.
JWTs start with eyJ because that is how an opening brace reads in base64.
Keys that begin with AKIA are long-term, those that begin with ASIA are temporary.
GitHub tokens start with ghp_, gho_ or github_pat_; GitLab's with glpat-.
OpenAI keys look like sk-..., Anthropic's like sk-ant-....
export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
export ANTHROPIC_API_KEY=sk-ant-your-key-here
export GITHUB_TOKEN=<your token>
export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
DB_PASSWORD=changeme
DB_PASSWORD=
DB_PASSWORD=${DB_PASSWORD:-}
DB_PASSWORD=$(pass show db)
DB_PASSWORD_FILE=/run/secrets/db_password
PWD=/home/aki/work/shop OLDPWD=/home/aki
password = "********"
password = "<password>"
password = "${DB_PASSWORD}"
password = "{{ vault_db_password }}"
password = os.environ["DB_PASSWORD"]
password = os.environ.get("DB_PASSWORD", "")
password = getpass.getpass("Password: ")
password = config.database.password
password = input_password.strip()
password: str
password: Optional[str] = None
password?: string;
token: SecretStr = Field(repr=False)
api_key: str | None = None
apiKey: process.env.API_KEY,
const token = await getToken(user);
let secret = response.data.secret;
const { password, ...rest } = user;
if (password !== confirmation) throw new Error("passwords differ");
def get_password(service: str, user: str) -> str | None: ...
public String getPassword() { return password; }
return render(request, "password_reset.html", {"token": token})
<input type="password" name="password" autocomplete="current-password">
<label for="password">Password</label>
{"password": {"type": "string", "minLength": 8}}
{"token_type": "bearer", "expires_in": 3600}
{"type": "object", "required": ["username", "password"]}
{"eos_token": "<|endoftext|>", "pad_token": "<pad>"}
{"nextPageToken": "CAUQAA9fQ2l4", "items": []}
{"key": "user:42:profile", "value": "cached"}
{"password": "Please enter your password"}
{"error": "invalid_token", "error_description": "The access token expired"}
'password' => 'required|string|min:8|confirmed',
validates :password, length: { minimum: 8 }
secretKeyRef: {name: db-credentials, key: password}
secretName: shop-tls
imagePullSecrets: [{name: registry-credentials}]
key: value
sort_key = lambda row: row["created_at"]
cache_key = f"user:{user_id}:v2"
partition_key="tenant-42"
Press the shift key: it toggles the list.
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJk2l6yq1uVbXo0u6w9XwQmR2n5o7Yd1pS3tC8vZ4hKx aki@laptop
-----BEGIN PUBLIC KEY-----
The file starts with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.
-----BEGIN CERTIFICATE-----
PASS tests/test_login.py::test_wrong_password (12 ms)
PASS: 128, FAIL: 0
The first pass: 12 ms, the second pass: 8 ms.
Pass `allow_none=True` to accept a missing value.
low_pass=300Hz, high_pass=80Hz
bypass=1 in the kernel line turns it off
compass: N42
Merge pull request #1234 from shop/fix-password-reset
fix(auth): refresh the token before it expires (#877)
Author: Aki <aki@example.com>
See https://example.com/docs/api-keys#rotate and https://example.com/@aki/notes:2026@home
git@github.com:shop/app.git
ssh://git@github.com:22/shop/app.git
postgres://localhost:5432/shop
postgres://user:password@localhost:5432/shop
redis://localhost:6379/0
http://[::1]:8080/a@b
npm install --save-exact left-pad@1.3.0
The author of the authentication module wrote auth: basic first.
auth = ("user", "pass")
credentials: include
fetch(url, {credentials: "same-origin"})
GPIO pin 13 = output, PIN 7 = ground
The PIN code of the region is asked for at checkout.
Order 4111-2233 shipped; invoice 5500000000000005123 is open.
utm_id=5505547062170914&user_id=4111111111111111
Order number 4111 1111 1111 1112 was cancelled.
ISBN 978-4-87311-778-2, JAN 4901234567894
Call 03-1234-5678 or +81 90-1234-5678.
Timestamp 1762074311123456789, trace 4bf92f3577b34da6a3ce929d0e0e4736
The number 3.141592653589793238462643383279 has no end.
DOI 10.1145/3292500.3330701, arXiv 2401.04088
| name | type | default |
| password | string | none |
| token | string | required |
Recall the passphrase: it protects the key file.
The seed phrase is shown once; write it on paper.
"""

TALK_ABOUT_SECRETS_JA = """
パスワードを忘れた場合は、再設定のメールを送ります。
パスワードは8文字以上、英数字と記号を含めてください。
パスワードは2025年に変更した。
パスワードは定期的に変更しないほうがよい、というのが最近の考え方だ。
パスワードはbcryptでハッシュ化して保存する。
パスワードはSHA256ではなくargon2idで保存する。
パスワードは.envに書いて、リポジトリには入れない。
パスワードは1Passwordに入れてある。
パスワードはDB_PASSWORDという環境変数から読む。
パスワードはconfig/database.ymlではなく環境変数に置く。
パスワード：8文字以上
パスワード: 必須
パスワード：********
パスワードは「忘れた場合」のリンクから再設定できます。
パスワードのリセット処理が壊れていた。トークンの期限が5分だった。
初期パスワードは別途メールで送ります。
パスワードが違います。もう一度入力してください。
パスワードをPOSTで送る処理をv2に変更した。
トークンは4096個まで。1回の応答は1024トークン以内にする。
トークンはJWTではなく、ランダムな256ビットの値にした。
トークンの有効期限は3600秒、リフレッシュトークンは30日。
トークン数：12345
アクセストークンを取得してからAPIを呼び出す。
APIキーは環境変数OPENAI_API_KEYから読む。
APIキーはGitHub Secretsに登録する。
APIキー：<ここに貼り付け>
APIキーは90日ごとにローテーションする。
秘密鍵は~/.ssh/id_ed25519に置く。
秘密鍵は端末の外に出さない。公開鍵だけを登録する。
シークレットはVaultで管理し、アプリには起動時に渡す。
暗証番号は4桁の数字です。
暗証番号を3回間違えるとロックされます。
主キーはuser_id、外部キーはorder_idにした。
このキーを押すと保存される。ショートカットはCtrl+Sだ。
キーはValkey、値はJSONで保存する。
認証情報は設定ファイルに書かない。
ログイン画面でIDとパスワードを入力する。
会員番号 1234-5678-9012、受付番号 20261102123456
電話は03-1234-5678、携帯は090-1234-5678です。
注文番号：4111222233334445（キャンセル済み）
注文番号：4111111111111111、追跡番号は5505547062170914です。
郵便番号 〒100-0001 東京都千代田区千代田1-1
会議は2026年11月2日（月）10:00〜11:30、会議室B。
キューはValkeyにする。ライセンスが理由で、性能はほぼ同じだった。
コミット 3f9a2c01b7de で直した。原因は時刻の丸めだった。
クッキーはHttpOnlyにして、SameSite=Laxを付ける。
「パスワード」という文字列をログに出さないようにした。
パスワードは「password」のような単純なものにしないこと。
"""

PARAGRAPHS = [
    line for line in (TALK_ABOUT_SECRETS + TALK_ABOUT_SECRETS_JA).splitlines() if line.strip()
]

# <name> stands for something random that is no secret.
NOISE = (
    "commit <sha>\nAuthor: Aki <aki@example.com>\n\n    Fix the token refresh",
    "Merged as <sha12>, reverted in <sha7> because passwords were logged.",
    "request_id=<uuid> trace=<md5> status=200 token_count=<n5>",
    '{"id": "<uuid>", "etag": "W/\\"<sha>\\"", "size": <n9>}',
    "![図](data:image/png;base64,<blob900>)",
    '"integrity": "sha512-<blob64>",',
    "numpy-2.4.6.tar.gz sha256:<sha64>",
    "image: registry.internal.test/shop/app@sha256:<sha64>",
    "https://example.com/p/<uuid>?page=<n3>&sort=created_at&utm_id=<n16>",
    "注文 <n12> は <n4> 円、追跡番号 <n12> です。",
    "timestamp <n13> offset <n17> lag <n4>",
    "ts=<n10>.<n6> user=U0<n9> channel=C0<n9>",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ<blob380> aki@laptop",
    "-----BEGIN CERTIFICATE-----\n<blob48>\n<blob48>\n-----END CERTIFICATE-----",
    "SHA256:<blob32> is the host key's fingerprint.",
    "def test_password_<sha7>() -> None:\n    assert check(hash_<n3>) is True",
    "0x<sha12> <+<n3>>: callq 0x<sha12> <get_token_<n2>>",
    "[<n2>:<n2>:<n2>.<n3>] 認証に失敗 (code=<n4>)",
    "tel: 0<n1>-<n4>-<n4>, FAX 0<n1>-<n4>-<n4>",
    "ISBN 978-4-<n5>-<n3>-<n1> の <n3> ページ",
    "const key<n2> = useMemo(() => hash('<sha7>'), [token]);",
    'cache-key: "<md5>"\nrun: <uuid>\nshard: <n2>',
    "git diff <sha12>..<sha12> -- src/password_reset_<n2>.py",
    "lat=35.<n12> lon=139.<n12>",
)
FIELD = re.compile(r"<(sha|n|blob)(\d*)>|<(uuid|md5)>")


def randomly(field: re.Match[str], rng: random.Random) -> str:
    if field[1] == "n":
        digits = (rng.choice(string.digits) for _ in range(int(field[2]) - 1))
        return rng.choice("123456789") + "".join(digits)
    if field[1] == "blob":
        return base64.b64encode(rng.randbytes(int(field[2]))).decode()
    digest = hashlib.sha512(rng.randbytes(8)).hexdigest()
    if field[3] == "uuid":
        return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))
    return digest[: 32 if field[3] else int(field[2] or 40)]


def noise(count: int) -> list[str]:
    rng = random.Random(11)  # noqa: S311  repeatable, not secret
    made = (NOISE[i % len(NOISE)] for i in range(count))
    return [FIELD.sub(lambda field: randomly(field, rng), text) for text in made]


def hits(paragraphs: list[str]) -> list[tuple[str, str]]:
    """Return what was changed, and into what."""
    return [(text, after) for text in paragraphs if (after := redact(text).text) != text]


def test_at_most_half_a_percent_of_clean_paragraphs_is_touched() -> None:
    paragraphs = PARAGRAPHS + noise(2000)
    touched = hits(paragraphs)
    assert len(touched) <= 0.005 * len(paragraphs), touched


@pytest.mark.parametrize("text", PARAGRAPHS)
def test_talk_about_secrets_is_no_secret(text: str) -> None:
    assert redact(text).text == text


def test_clean_paragraphs_stay_clean_when_joined_into_one_document() -> None:
    rng = random.Random(5)  # noqa: S311  repeatable, not secret
    for _ in range(20):
        chosen = rng.sample(PARAGRAPHS, 40)
        document = "\n\n".join(chosen)
        assert redact(document).text == document
