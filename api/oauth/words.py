"""What the consent page says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Let an assistant use your memory?",
        "asks": "asks to search your memory and to save insights into it.",
        "returns": "It is then sent back to",
        "which": "What it may see",
        "personal": "personal (and public)",
        "work": "work (and public)",
        "public": "public alone",
        "code": "The code that this command prints on your own machine:",
        "allow": "Allow",
        "deny": "Refuse",
        "no_vault": "Choose what it may see.",
        "wrong_code": "That code is not right, or no longer good. Make a new one and try again.",
        "gone": "This request is over. Connect again from the assistant.",
    },
    "ja": {
        "title": "アシスタントにメモリーの利用を許可しますか",
        "asks": "が、メモリーの検索と、知見の保存を求めています。",
        "returns": "許可すると、次のアドレスに戻ります:",
        "which": "見せる範囲",
        "personal": "personal(と public)",
        "work": "work(と public)",
        "public": "public のみ",
        "code": "ご自分のマシンで次のコマンドが表示するコード:",
        "allow": "許可する",
        "deny": "拒否する",
        "no_vault": "見せる範囲を選んでください。",
        "wrong_code": (
            "コードが違うか、期限が切れています。新しいコードを発行してやり直してください。"
        ),
        "gone": "この要求は終了しました。アシスタントからもう一度接続してください。",
    },
}
