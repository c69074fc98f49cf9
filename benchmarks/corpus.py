"""A made-up vault of any size: conversations in Japanese and English, the same every time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

MESSAGES_A_NOTE = 30
_TOPICS = 600
COMMON_WORDS = """
これ それ について から まで ので という して した です ます ください 確認 対応 予定 必要
the of and to in is for that with this on we it as are be have from
"""
_COMMON = COMMON_WORDS.split()
_KANJI = (
    "山川田中本日月火水木金土人口手足目耳心力男女子学校先生年時分前後左右上下東西南北内外大小高低"
    "長短新古明暗開閉出入行来見聞読書話言思考作用意味"
)
_KANA = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモラリルレロン"
_SYLLABLE_LIST = "ka ri to mo sen del vor tan pi lu gar net sol mi ra que fen dor"
_SYLLABLES = tuple(_SYLLABLE_LIST.split(" "))


class Corpus:
    """Topics with words of their own, drawn by Zipf's law; notes and questions about them."""

    def __init__(self, seed: int = 7) -> None:
        source = random.Random(seed)
        self._topics = [[_word(source) for _ in range(60)] for _ in range(_TOPICS)]
        self._weights = list(accumulate(1 / (place + 1) for place in range(60)))

    def note(self, number: int) -> str:
        """Return the text of note `number`: a conversation about one or two topics."""
        source = random.Random(f"note {number}")
        topics = source.sample(self._topics, 2)
        return "\n".join(self._messages(source, topics))

    def questions(self, count: int) -> list[str]:
        """Return questions, each about one topic."""
        source = random.Random("questions")
        return [self._sentence(source, source.choice(self._topics), 6) for _ in range(count)]

    def _messages(self, source: random.Random, topics: list[list[str]]) -> Iterator[str]:
        for place in range(MESSAGES_A_NOTE):
            at = f"2026-{source.randint(1, 12):02}-{source.randint(1, 28):02}"
            text = " ".join(
                self._sentence(source, source.choice(topics), source.randint(5, 16))
                for _ in range(source.randint(1, 5))
            )
            yield (
                f"## aki · {at} 09:00 UTC <!-- ce:u={place:016x} owner at={at}T09:00:00Z -->\n\n"
                f"{text}\n"
            )

    def _sentence(self, source: random.Random, topic: list[str], words: int) -> str:
        said = source.choices(topic, cum_weights=self._weights, k=words)
        mixed = [word for term in said for word in (term, source.choice(_COMMON))]
        return "".join(_spaced(mixed)) + source.choice(("。", ". ", "。"))


def _spaced(words: list[str]) -> Iterator[str]:
    for word in words:
        yield f" {word} " if word.isascii() else word


def _word(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.5:
        return "".join(source.choices(_KANJI, k=source.choice((2, 2, 3, 4))))
    if kind < 0.65:
        return "".join(source.choices(_KANA, k=source.randint(3, 6)))
    if kind < 0.95:
        return "".join(source.choices(_SYLLABLES, k=source.randint(2, 3)))
    return f"{source.choice('ABCDE')}{source.choice('XYZ')}-{source.randint(1, 999)}"
