"""Porter's stemmer (An algorithm for suffix stripping, 1980) with NLTK's extensions, which ROUGE uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

Condition = Callable[[str], bool]
Rule = tuple[str, str]

_IRREGULAR = {
    "skies": "sky",
    "sky": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "news": "news",
    "innings": "inning",
    "inning": "inning",
    "outings": "outing",
    "outing": "outing",
    "cannings": "canning",
    "canning": "canning",
    "howe": "howe",
    "proceed": "proceed",
    "exceed": "exceed",
    "succeed": "succeed",
}


def _rules(text: str) -> list[Rule]:
    """Pairs of a suffix and what takes its place: "sses>ss s>"."""
    return [
        (suffix, replacement) for suffix, _, replacement in (each.partition(">") for each in text.split())
    ]


_PLURALS = _rules("sses>ss ies>i ss>ss s>")
_SECOND = _rules(
    "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous "
    "ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive "
    "biliti>ble fulli>ful"
)
_THIRD = _rules("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
_FOURTH = _rules(
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> ize>"
)


def _kinds(word: str) -> str:
    """A "c" for each consonant and a "v" for each vowel. After a consonant, "y" is a vowel."""
    kinds = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(word: str) -> int:
    """How often a consonant follows a vowel."""
    return _kinds(word).count("vc")


def _ends_short(word: str) -> bool:
    """Whether a word ends with consonant, vowel, consonant (not w, x, y), or is a vowel and a consonant."""
    kinds = _kinds(word)
    return (kinds.endswith("cvc") and word[-1] not in "wxy") or kinds == "vc"


def _replaced(word: str, rules: Sequence[Rule], condition: Condition) -> str:
    """The word by the first rule whose suffix it has, if what is before the suffix fulfils the condition."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word[: len(word) - len(suffix)]
            return rest + replacement if condition(rest) else word
    return word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    return _replaced(word, _PLURALS, lambda rest: True)


def _without_past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word and "v" in _kinds(rest):
            return _mended(rest)
    return word


def _mended(rest: str) -> str:
    """What a verb ends with when "ed" or "ing" is gone."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if len(rest) > 1 and rest[-1] == rest[-2] and _kinds(rest)[-1] == "c":
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _second(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _second(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _SECOND, lambda rest: _measure(rest) > 0)


def _fourth(word: str) -> str:
    if word.endswith("ion") and not word.endswith(("sion", "tion")):
        return word
    return _replaced(word, _FOURTH, lambda rest: _measure(rest) > 1)


def _without_e(word: str) -> str:
    rest = word.removesuffix("e")
    measure = _measure(rest)
    return rest if rest != word and (measure > 1 or (measure == 1 and not _ends_short(rest))) else word


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a word in small letters."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _without_past(_without_plural(word))
    word = _replaced(word, [("y", "i")], lambda rest: len(rest) > 1 and _kinds(rest)[-1] == "c")
    word = _fourth(_replaced(_second(word), _THIRD, lambda rest: _measure(rest) > 0))
    word = _without_e(word)
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
