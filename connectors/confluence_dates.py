"""Dates as Confluence writes them into HTML exports, in the language of its site."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_MONTHS = """
january jan januar jänner janvier janv enero ene gennaio gen janeiro januari jan. styczeń
stycznia sty январь января янв leden ledna tammikuu tammi január ocak oca 一月

february feb februar février févr fév febrero febbraio fevereiro fev februari luty lutego lut
февраль февраля февр фев únor února helmikuu helmi február şubat şub 二月

march mar märz mär mars marzo março maart mrt marzec marca март марта мар březen března
maaliskuu maalis március márc mart 三月

april apr avril avr abril abr aprile kwiecień kwietnia kwi апрель апреля апр duben dubna
huhtikuu huhti április ápr nisan nis 四月

may mai mayo maggio mag maio mei maj maja май мая květen května toukokuu touko május máj mayıs
五月

june jun juni juin junio giugno giu junho czerwiec czerwca cze июнь июня июн červen června
kesäkuu kesä június jún haziran haz 六月

july jul juli juillet juil julio luglio lug julho lipiec lipca lip июль июля июл červenec
července heinäkuu heinä július júl temmuz tem 七月

august aug août aoû agosto ago augustus augusti sierpień sierpnia sie август августа авг srpen
srpna elokuu elo augusztus ağustos ağu 八月

september sep sept septembre septiembre settembre set setembro wrzesień września wrz сентябрь
сентября сент сен září syyskuu syys szeptember szept eylül eyl 九月

october oct oktober okt octobre octubre ottobre ott outubro out październik października paź
октябрь октября окт říjen října lokakuu loka október ekim eki 十月

november nov novembre noviembre novembro listopad listopada lis ноябрь ноября нояб ноя listopadu
marraskuu marras kasım kas 十一月

december dec dezember dez décembre déc diciembre dic dicembre dezembro desember des grudzień
grudnia gru декабрь декабря дек prosinec prosince joulukuu joulu aralık ara 十二月
"""
"""January to December in the languages that Confluence speaks, a paragraph each."""
_YEAR = r"(?:19|20)\d\d"
_NUMBERED = re.compile(rf"({_YEAR})\s?[年년./-]\s?(\d{{1,2}})\s?[月월./-]\s?(\d{{1,2}})")
_DOTTED = re.compile(rf"(?<!\d)(\d{{1,2}})\.\s?(\d{{1,2}})\.\s?({_YEAR})(?!\d)")
_WORD = r"((?:1?\d\s?[月월])|[一二三四五六七八九十]{1,2}月|[^\W\d_]{2,14})"
_WORD_FIRST = re.compile(rf"{_WORD}\.?\s?(\d{{1,2}})[.,]?\s+({_YEAR})(?!\d)")
_DAY_FIRST = re.compile(
    rf"(?<!\d)(\d{{1,2}})\.?[\s-]+(?:de\s+)?{_WORD}\.?,?[\s-]+(?:de\s+)?({_YEAR})(?!\d)"
)
_LENGTH = 2_000


def _plain(word: str) -> str:
    """Return a month's name without case and accents."""
    parts = unicodedata.normalize("NFD", word.lower())
    return "".join(part for part in parts if not unicodedata.combining(part)).rstrip(".")


_NUMBERS = {
    _plain(name): number
    for number, names in enumerate(_MONTHS.split("\n\n"), 1)
    for name in names.split()
}


def parse_date(text: str) -> datetime | None:
    """Return the last date in `text` as midnight UTC; None when there is none that is certain.

    A date of numbers alone is taken where its order is: year first, or with dots, day first.
    """
    text = " ".join(text[-_LENGTH:].split())
    found: list[tuple[int, datetime]] = []
    for pattern, order in _PATTERNS:
        for match in pattern.finditer(text):
            year, month, day = (match[group] for group in order)
            if moment := _moment(year, month, day):
                found.append((match.end(), moment))
    return max(found)[1] if found else None


_PATTERNS = (
    (_NUMBERED, (1, 2, 3)),
    (_DOTTED, (3, 2, 1)),
    (_WORD_FIRST, (3, 1, 2)),
    (_DAY_FIRST, (3, 2, 1)),
)


def _moment(year: str, month: str, day: str) -> datetime | None:
    digits = re.match(r"\d{1,2}", month)
    number = int(digits[0]) if digits else _NUMBERS.get(_plain(month))
    try:
        return datetime(int(year), number or 0, int(day), tzinfo=UTC)
    except ValueError:
        return None
