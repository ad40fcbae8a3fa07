"""Metrics of texts: BLEU of translations (Papineni et al.), ROUGE of summaries (Lin)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tideflow.pipeline.evaluation.computations import Sums
from tideflow.pipeline.evaluation.inputs import Batch, View
from tideflow.pipeline.evaluation.metrics import Metric, key, metric
from tideflow.pipeline.evaluation.stemming import stem

_ORDERS = 4  # n-grams of up to so many words
Words = Sequence[str]


def _texts(view: View, batch: Batch) -> Iterator[tuple[list[str], str]]:
    """Of each example, what it may say and what was predicted."""

    def text(value: str | bytes) -> str:
        return value.decode() if isinstance(value, bytes) else str(value)

    both = (view.examples(batch, of) for of in ("labels", "predictions"))
    for references, found in zip(*both, strict=True):
        if len(found.reshape(-1)) != 1:
            raise ValueError(f"an example has one predicted text, and one has {found.size}")
        yield [text(each) for each in references.reshape(-1)], text(found.reshape(-1)[0])


def _refuse_weights(view: View, name: str) -> None:
    if view.example_weighted:
        raise ValueError(
            f"{name} does not support example weights and is being used with "
            "MetricsSpec.example_weights.weighted set to true: set example_weights { unweighted: true }"
        )


def _n_grams(words: Words, order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


# ------------------------------------------------------------------------------------------------------- BLEU

_WESTERN = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_IDEOGRAPHS = re.compile(
    "([\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
    "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef])"
)


def _western(text: str) -> str:
    for pattern, replacement in _WESTERN:
        text = pattern.sub(replacement, text)
    return text


def _mteval(text: str) -> str:
    """The tokens of NIST's mteval-v13a."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES if "&" in text else ():
        text = text.replace(entity, character)
    return _western(f" {text} ")


def _international(text: str) -> str:
    """The tokens of mteval-v14: punctuation but within numbers, and symbols, are words of their own."""
    text = _separated(text, lambda kinds: kinds[0] != "N" and kinds[1] == "P", r"\1 \2 ")
    text = _separated(text, lambda kinds: kinds[0] == "P" and kinds[1] != "N", r" \1 \2")
    return "".join(f" {each} " if unicodedata.category(each)[0] == "S" else each for each in text)


def _separated(text: str, applies: Callable[[str], bool], replacement: str) -> str:
    """Replaces pairs of characters by what their kinds say, from left to right and without overlaps."""
    made, place = [], 0
    while place < len(text):
        pair = text[place : place + 2]
        if len(pair) == 2 and applies("".join(unicodedata.category(each)[0] for each in pair)):
            made.append(replacement.replace(r"\1", pair[0]).replace(r"\2", pair[1]))
            place += 2
        else:
            made.append(pair[0])
            place += 1
    return "".join(made)


_TOKENIZERS: dict[str, Callable[[str], str]] = {
    "13a": _mteval,
    "none": lambda text: text,
    "char": " ".join,
    "intl": _international,
    "zh": lambda text: _western(_IDEOGRAPHS.sub(r" \1 ", text.strip())),
}


def _matched_n_grams(view: View, batch: Batch, lowercase: bool, tokenize: str) -> np.ndarray:
    """Of each example, by order the n-grams that match and all; its words, and those of the reference."""

    def words(text: str) -> list[str]:
        return _TOKENIZERS[tokenize]((text.lower() if lowercase else text).rstrip()).split()

    rows = []
    for references, text in _texts(view, batch):
        matching, total = [0] * _ORDERS, [0] * _ORDERS
        if not any(references):
            rows.append([*matching, *total, len(text.split()), 0])
            continue
        found, expected = words(text), [words(each) for each in references]
        for order in range(1, _ORDERS + 1):
            most: Counter[tuple[str, ...]] = Counter()
            for reference in expected:
                most |= _n_grams(reference, order)
            own = _n_grams(found, order)
            matching[order - 1], total[order - 1] = (own & most).total(), own.total()
        closest = min((len(each) for each in expected), key=lambda length: abs(length - len(found)))
        rows.append([*matching, *total, len(found), closest])
    return np.asarray(rows, float).reshape(-1, 2 * _ORDERS + 2)


_SMOOTHING = {"none": 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0}


def _bleu(counts: np.ndarray, smooth_method: str, smooth_value: float, effective_order: bool) -> float:
    matching, total = counts[:_ORDERS].copy(), counts[_ORDERS : 2 * _ORDERS].copy()
    words, expected = counts[-2:]
    if not matching.any():
        return 0.0
    if smooth_method == "add-k":
        matching[1:] += smooth_value
        total[1:] += smooth_value
    precisions, orders, halved = np.zeros(_ORDERS), _ORDERS, 1.0
    for order in range(_ORDERS):
        if total[order] == 0:
            break
        if effective_order:
            orders = order + 1
        hits = matching[order]
        if hits == 0 and smooth_method == "exp":
            halved *= 2
            hits = 1 / halved
        elif hits == 0 and smooth_method == "floor":
            hits = smooth_value
        precisions[order] = hits / total[order]
    if not precisions[:orders].all():
        return 0.0
    brevity = np.exp(min(0.0, 1 - expected / words)) if words else 0.0
    return float(100 * brevity * np.exp(np.log(precisions[:orders]).mean()))


@metric("Bleu", "BLEU")
def _bleu_metric(
    view: View,
    name: str,
    lowercase: bool = False,
    force: bool = False,
    tokenize: str = "13a",
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    use_effective_order: bool = False,
) -> list[Metric]:
    _refuse_weights(view, "Bleu")
    for what, given, known in (
        ("tokenize", tokenize, _TOKENIZERS),
        ("smooth_method", smooth_method, _SMOOTHING),
    ):
        if given not in known:
            raise ValueError(f"{what} of Bleu is {given!r}; it can be {', '.join(known)}")
    value = _SMOOTHING[smooth_method] if smooth_value is None else smooth_value
    needs = (Sums(view.without_classes(), _matched_n_grams, (lowercase, tokenize)),)
    return [
        Metric(
            key(view, name), needs, lambda counts: _bleu(counts, smooth_method, value, use_effective_order)
        )
    ]


# ------------------------------------------------------------------------------------------------------ ROUGE

Score = tuple[float, float, float]  # precision, recall and their harmonic mean


def _score(hits: float, found: int, expected: int) -> Score:
    precision, recall = hits / max(found, 1), hits / max(expected, 1)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def _words(text: str, use_stemmer: bool) -> list[str]:
    words = re.findall("[a-z0-9]+", text.lower())
    return [stem(word) if use_stemmer and len(word) > 3 else word for word in words]


def _n_gram_score(expected: str, found: str, order: int, use_stemmer: bool) -> Score:
    one, other = (_n_grams(_words(text, use_stemmer), order) for text in (found, expected))
    return _score((one & other).total(), one.total(), other.total())


def _common_subsequence(expected: Words, found: Words) -> list[int]:
    """The places of the expected words in one of the longest subsequences that both have."""
    lengths = [[0] * (len(found) + 1)]
    for word in expected:
        above, row = lengths[-1], [0]
        for (before, over), other in zip(pairwise(above), found, strict=True):
            row.append(before + 1 if word == other else max(over, row[-1]))
        lengths.append(row)
    places, i, j = [], len(expected), len(found)
    while i and j:
        if expected[i - 1] == found[j - 1]:
            places.append(i - 1)
            i, j = i - 1, j - 1
        elif lengths[i][j - 1] > lengths[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return places[::-1]


def _subsequence_score(expected: str, found: str, use_stemmer: bool) -> Score:
    one, other = (_words(text, use_stemmer) for text in (found, expected))
    return _score(len(_common_subsequence(other, one)), len(one), len(other))


def _summary_score(expected: str, found: str, use_stemmer: bool) -> Score:
    """Sentences stand on lines of their own; a word is found once for each time that it occurs."""

    def sentences(text: str) -> list[list[str]]:
        return [_words(line, use_stemmer) for line in text.split("\n") if line]

    ours, theirs = sentences(found), sentences(expected)
    left_ours, left_theirs = (Counter(word for each in side for word in each) for side in (ours, theirs))
    hits = 0
    for sentence in theirs:
        for place in sorted({place for each in ours for place in _common_subsequence(sentence, each)}):
            word = sentence[place]
            if left_ours[word] > 0 and left_theirs[word] > 0:
                hits += 1
                left_ours[word] -= 1
                left_theirs[word] -= 1
    return _score(hits, sum(map(len, ours)), sum(map(len, theirs)))


def _rouge_scores(view: View, batch: Batch, rouge_type: str, use_stemmer: bool) -> np.ndarray:
    rows = []
    for references, found in _texts(view, batch):
        if rouge_type == "rougeL":
            scores = [_subsequence_score(each, found, use_stemmer) for each in references]
        elif rouge_type == "rougeLsum":
            scores = [_summary_score(each, found, use_stemmer) for each in references]
        else:
            scores = [_n_gram_score(each, found, int(rouge_type[-1]), use_stemmer) for each in references]
        rows.append(max(scores, key=lambda score: score[2]))
    weight = view.weight(batch)[:, None]
    return np.concatenate([np.asarray(rows, float).reshape(-1, 3) * weight, weight], axis=1)


@metric("Rouge", lambda arguments: str(arguments.get("rouge_type", "rouge")))
def _rouge(
    view: View, name: str, rouge_type: str, use_stemmer: bool = False, split_summaries: bool = False
) -> list[Metric]:
    _refuse_weights(view, "Rouge")
    if not re.fullmatch("rouge([1-9]|L|Lsum)", rouge_type):
        raise ValueError(f"Invalid rouge type: {rouge_type}")
    if split_summaries and rouge_type == "rougeLsum":
        raise ValueError(
            "split_summaries asks for sentences to be found by a model of NLTK's, which is not here: put a "
            "line break after each sentence"
        )
    # TFMA weights ROUGE wherever examples have weights.
    weighted = replace(view.without_classes(), example_weighted=True)
    needs = (Sums(weighted, _rouge_scores, (rouge_type, use_stemmer)),)

    def value(sums: np.ndarray) -> np.ndarray:
        return sums[:3] / sums[3] if sums[3] else np.full(3, np.nan)

    return [Metric(key(view, name), needs, value)]
