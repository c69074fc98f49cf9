"""What all questions have in common, taken out of each.

Some passages lie near every question (hubs): short, general, in the question's language. A
question's vector loses a part of the mean vector of everyday questions in its language, so that
a passage counts for what it shares with this question rather than with any. Costs nothing at
search time, and helps most across languages (docs/adr holds the figures).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from index.embedding.base import Embedder

FloatVector = NDArray[np.float32]

STRENGTH = 0.4
"""Share of the mean question that is taken out."""

_LATIN_PER_CJK = 2.5
"""Letters that say as much as one Japanese character."""

_JAPANESE = """
今日の会議で決まったことは何ですか
この問題の原因は何か
誰がそれを担当していますか
いつまでに終わらせる予定か
設定ファイルはどこにあるのか
エラーの対処方法を教えて
どうしてその方法を選んだのか
名前の由来は何か
手順をまとめたメモ
前に話した計画はどうなったか
使い方
おすすめの本はどれですか
費用はいくらかかるのか
何年に始まったか
世界で一番高いものは何か
違いは何か
家族について
最近の進捗
好きな食べ物は何ですか
仕組みの概要
"""
_ENGLISH = """
What did we decide in the meeting today?
What is the cause of this problem?
Who is responsible for it?
When is it supposed to be finished?
Where is the configuration file?
How do I fix the error?
Why did we choose that approach?
What does the name come from?
Notes on the procedure
What happened to the plan we talked about?
Usage
Which book do you recommend?
How much does it cost?
In which year did it begin?
What is the largest one in the world?
What is the difference between the two?
About the family
Recent progress
What food does he like?
Overview of how it works
"""

_LETTER = re.compile(r"[A-Za-z]")
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")


def latin_share(text: str) -> float:
    """Return how much of what `text` says is in Latin script, 0 to 1; 0.5 for neither."""
    letters = len(_LETTER.findall(text))
    characters = len(_CJK.findall(text)) * _LATIN_PER_CJK
    return letters / (letters + characters) if letters + characters else 0.5


def mean_questions(embedder: Embedder) -> bytes:
    """Return the mean vectors of everyday questions, Japanese then English, as float32 bytes."""
    means = [
        np.mean([embedder.embed_query(line) for line in text.strip().split("\n")], axis=0)
        for text in (_JAPANESE, _ENGLISH)
    ]
    return bytes(np.array(means, dtype="<f4").tobytes())


def distinguished(query: FloatVector, text: str, means: bytes) -> FloatVector:
    """Return the unit vector of a question without the common part; `means` as stored."""
    japanese, english = np.frombuffer(means, dtype="<f4").reshape(2, -1)
    latin = latin_share(text)
    own = query - STRENGTH * (latin * english + (1 - latin) * japanese)
    length = float(np.linalg.norm(own))
    return (own / length).astype(np.float32) if length else query
