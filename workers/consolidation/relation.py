"""What one statement is to an older one: the same, its replacement, or something else.

Precision comes first. Two statements are the same only when their content words, numbers,
polarity, conditions and the order of their parties agree; what one of them adds as a reason does
not count. One replaces another only when both are about the same and exactly one thing differs: its
polarity, its state, a value, or what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from context_engine.insights import Kind
from workers.consolidation.facts import Facts, Sentence, bigrams
from workers.consolidation.words import (
    ADJUSTING,
    AFFIRMING,
    DONE,
    NAMING,
    OPPOSITES,
    PENDING,
    QUALIFIERS,
    TELLING_ROLES,
)

_FEW_TERMS = 2
_NEARLY_EQUAL = 0.8
_MOST_OF_IT = 0.6
_RESTRICTS = (
    *("but ", "except", "however", "only ", "unless", "although"),
    *("ただ", "しかし", "でも", "例外", "一方", "なお", "もっとも"),
)
_STATES = DONE | PENDING


class Relation(StrEnum):
    """What a new statement is to a known one."""

    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    SEPARATE = "separate"


@dataclass(frozen=True)
class Difference:
    """Two sentences held against each other; what only one of them has."""

    new: Sentence
    old: Sentence

    @property
    def only_new(self) -> frozenset[str]:
        """Content words that the older lacks."""
        return self.new.core - self.old.core

    @property
    def only_old(self) -> frozenset[str]:
        """Content words that the newer lacks."""
        return self.old.core - self.new.core

    @property
    def shared(self) -> frozenset[str]:
        """Content words of both."""
        return self.new.core & self.old.core

    @property
    def agree(self) -> bool:
        """Whether numbers, conditions and modality are alike."""
        new, old = self.new, self.old
        modal = {new.modality, old.modality}
        return (
            new.bounds == old.bounds
            and new.numbers == old.numbers
            and modal
            != {
                "required",
                "optional",
            }
        )


def relate(new: Facts, old: Facts, kind: Kind) -> Relation:
    """Return what `new` is to `old`, given that it was said later. Symmetric but for that."""
    if new.plain == old.plain:
        return Relation.DUPLICATE
    if not (new.understood and old.understood):
        return Relation.SEPARATE
    if _is_same(new, old):
        return Relation.DUPLICATE
    if any(_replaces(Difference(mine, old.said[0]), kind) for mine in new.said):
        return Relation.SUPERSEDES
    return Relation.SEPARATE


def guarded(new: Facts, old: Facts) -> bool:
    """Tell whether numbers, names and negations allow two statements to be the same."""
    opposed = any(
        _opposed(Difference(mine, theirs)) for mine in new.sentences for theirs in old.sentences
    )
    named = new.names <= old.terms and old.names <= new.terms
    return named and new.numbers == old.numbers and new.negations == old.negations and not opposed


def same_subject(new: Facts, old: Facts) -> bool:
    """Tell whether two statements share enough to be about one thing."""
    shared = len(new.terms & old.terms)
    return shared >= _FEW_TERMS or (
        shared > 0 and shared * 2 >= min(len(new.terms), len(old.terms))
    )


def _is_same(new: Facts, old: Facts) -> bool:
    short, long = sorted((new.said, old.said), key=len)
    left = list(long)
    for sentence in short:
        match = next((other for other in left if _same_sentence(sentence, other)), None)
        if match is None:
            return False
        left.remove(match)
    # whoever says more than what is known says something new; a restriction is never left out
    if left and (long is new.said or any(_restricts(sentence) for sentence in left)):
        return False
    reasons = [_reason_numbers(facts) for facts in (new, old)]
    return not (all(reasons) and reasons[0] != reasons[1])


def _reason_numbers(facts: Facts) -> frozenset[str]:
    return frozenset(number for s in facts.sentences if s.is_reason for number in s.numbers)


def _restricts(sentence: Sentence) -> bool:
    return sentence.text.lower().startswith(_RESTRICTS) or bool(sentence.bounds)


def _same_sentence(one: Sentence, two: Sentence) -> bool:
    difference = Difference(one, two)
    if not difference.agree or one.negations != two.negations or one.core != two.core:
        return False
    if one.status != two.status or one.dropped != two.dropped or _opposed(difference):
        return False
    if len(one.core) < _FEW_TERMS and _dice(one.text, two.text) < _NEARLY_EQUAL:
        return False
    return _same_order(one, two)


def _same_order(one: Sentence, two: Sentence) -> bool:
    """Tell whether the parties have their places: `A waits for B` is not `B waits for A`."""
    if [term.text for term in one.terms] != [term.text for term in two.terms]:
        return one.ordered() == two.ordered()
    return all(map(_compatible, one.roles, two.roles))


def _compatible(one: str, two: str) -> bool:
    """Tell whether two words stand alike; some languages leave a preposition out."""
    return one == two or (not (one and two) and not {one, two} & TELLING_ROLES)


def _opposed(difference: Difference) -> bool:
    mine, theirs = difference.only_new, difference.only_old
    return any(
        (mine & left and theirs & right) or (mine & right and theirs & left)
        for left, right in OPPOSITES
    )


def _dice(one: str, two: str) -> float:
    first, second = bigrams(one), bigrams(two)
    whole = len(first) + len(second)
    return 2 * len(first & second) / whole if whole else 1.0


# --- replacing ---

_LOOK_BACK = 24


def _replaces(difference: Difference, kind: Kind) -> bool:
    return any(rule(difference, kind) for rule in _RULES)


def _turned_round(difference: Difference, _kind: Kind) -> bool:
    """Tell whether it was said before and is denied now, or the other way round."""
    flipped = (difference.new.negations - difference.old.negations) % 2 == 1
    rest = (difference.only_new | difference.only_old) - AFFIRMING
    enough = len(difference.shared) >= _FEW_TERMS
    return flipped and enough and not rest and difference.agree


def _opposite(difference: Difference, kind: Kind) -> bool:
    """Tell whether the one word that differs is the opposite of the other's."""
    new, old = difference.new, difference.old
    alike = (new.negations, new.numbers, new.bounds) == (old.negations, old.numbers, old.bounds)
    one_each = len(difference.only_new) == len(difference.only_old) == 1
    # two facts may be opposite and both true: the cache is cleared before, and after
    if kind is Kind.LEARNING or difference.only_new & QUALIFIERS:
        return False
    if alike and one_each and difference.shared:
        return _opposed(difference)
    turned = {term.role for term in new.terms} ^ {term.role for term in old.terms}
    return alike and new.core == old.core and turned == {"before", "after"}


def _new_state(difference: Difference, kind: Kind) -> bool:
    """Tell whether it is the same piece of work, in another state."""
    new, old = difference.new, difference.old
    mine, theirs = new.core - _STATES, old.core - _STATES
    if kind is not Kind.PROJECT or {new.status, old.status} != {"done", "pending"}:
        return False
    if not mine or not theirs or new.numbers != old.numbers or new.terms[0] != old.terms[0]:
        return False
    # what something waited for need not be said again when it is done
    return mine == theirs or (new.status == "done" and mine < theirs)


def _new_value(difference: Difference, _kind: Kind) -> bool:
    """Tell whether one number differs and nothing else, a value and no name."""
    new, old = difference.new, difference.old
    mine, theirs = set(new.numbers) - set(old.numbers), set(old.numbers) - set(new.numbers)
    rest = difference.only_new | difference.only_old
    return (
        len(mine) == len(theirs) == 1
        and len(difference.shared) >= _FEW_TERMS
        and not rest - ADJUSTING
        and new.negations == old.negations
        and new.bounds == old.bounds
        and not _numbers_name(new.text, mine | theirs)
        and not _numbers_name(old.text, mine | theirs)
    )


def _numbers_name(text: str, numbers: set[str]) -> bool:
    """Tell whether one of the numbers belongs to a name: build 12, 第3回, SHOP-4711."""
    for number in numbers:
        for match in re.finditer(rf"(?<![\d.]){re.escape(number)}", text):
            before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
            if NAMING.search(before):
                return True
    return False


def _given_up(difference: Difference, _kind: Kind) -> bool:
    """Tell whether the newer leaves what the older chose, in the same matter."""
    new, old = difference.new, difference.old
    left = new.dropped & old.core
    about = difference.shared - left
    covered = len(difference.shared | left) / max(1, len(old.core))
    return new.changes and bool(left) and bool(about) and covered >= _MOST_OF_IT


def _other_choice(difference: Difference, kind: Kind) -> bool:
    """Tell whether what was chosen differs, and nothing else."""
    mine, theirs = difference.only_new, difference.only_old
    chosen = mine <= difference.new.chosen and theirs <= difference.old.chosen
    return (
        kind in (Kind.DECISION, Kind.VALUE, Kind.PROJECT)
        and len(mine) == len(theirs) == 1
        and chosen
        and bool(difference.shared)
        and difference.agree
        and difference.new.negations == difference.old.negations
    )


_RULES: tuple[Callable[[Difference, Kind], bool], ...] = (
    _turned_round,
    _opposite,
    _new_state,
    _new_value,
    _given_up,
    _other_choice,
)


def likeness(one: Facts, two: Facts) -> float:
    """Return how many pairs of neighbouring characters two statements share, 0 to 1."""
    first, second = one.bigrams, two.bigrams
    whole = len(first) + len(second)
    return 2 * len(first & second) / whole if whole else 1.0
