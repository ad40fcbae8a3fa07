"""Statistics of texts: of features that the schema says are tokens, by a `natural_language_domain`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tideflow.graph import errors
from tideflow.io.records import open_for_reading, tf_record_iterator
from tideflow.pipeline.data.lists import is_list
from tideflow.pipeline.engine.quantiles import Quantiles
from tideflow.pipeline.messages.statistics import NaturalLanguageStatistics
from tideflow.pipeline.statistics.histograms import number_of_values_histogram
from tideflow.pipeline.statistics.options import Path, StatsOptions

Token = str | int
_REPORTED = 5  # sequences of each kind


@dataclass(frozen=True)
class Rules:
    """What a domain says of tokens: which are looked at, and which do not count."""

    looked_at: frozenset[Token]
    excluded: frozenset[Token]
    unknown: frozenset[str]  # tokens that stand for words that the vocabulary does not have
    not_in_lengths: frozenset[Token]
    numbers: Mapping[str, int] | None  # the vocabulary
    words: Mapping[int, str] | None  # likewise, by number


def rules_of(domain: Any, vocabularies: Mapping[str, str]) -> Rules | None:
    """The rules of a NaturalLanguageDomain; None if it says nothing of tokens.

    Args:
      domain: The message.
      vocabularies: By name, the file of a vocabulary.
    """
    coverage, lengths = domain.coverage, domain.sequence_length_constraints
    looked_at = [
        getattr(each, each.WhichOneof("value") or "string_value") for each in domain.token_constraints
    ]
    excluded = [*coverage.excluded_string_tokens, *coverage.excluded_int_tokens]
    if not (domain.vocabulary or excluded or coverage.oov_string_tokens or looked_at):
        return None
    numbers = words = None
    if domain.vocabulary:
        if domain.vocabulary not in vocabularies:
            raise errors.invalid_argument(
                f"the schema names the vocabulary {domain.vocabulary!r}; which file is it? (vocab_paths has "
                f"{', '.join(sorted(vocabularies)) or 'none'})"
            )
        words = dict(enumerate(_lines(vocabularies[domain.vocabulary])))
        numbers = {word: number for number, word in words.items()}
    return Rules(
        frozenset(looked_at),
        frozenset(excluded),
        frozenset(coverage.oov_string_tokens),
        frozenset([*lengths.excluded_int_value, *lengths.excluded_string_value]),
        numbers,
        words,
    )


def _lines(path: str) -> Iterator[str]:
    """The words of a vocabulary: records of a file that ends so, or else lines."""
    if path.endswith("tfrecord.gz"):
        for record in tf_record_iterator(path, "GZIP"):
            yield record.decode().strip()
        return
    with open_for_reading(path) as file:
        for line in file:
            yield line.decode().strip()


def language_rules(leaves: Iterable[tuple[Path, Any]], options: StatsOptions) -> dict[Path, Rules]:
    """By path, the rules of the features of a schema that are language.

    Args:
      leaves: The features of the schema.
      options: Of the statistics.
    """
    found = {
        path: rules_of(feature.natural_language_domain, options.vocab_paths)
        for path, feature in leaves
        if feature.WhichOneof("domain_info") == "natural_language_domain"
    }
    return {path: rules for path, rules in found.items() if rules is not None}


@dataclass
class TokenCounts:
    """How often one token occurs, in how many sequences, and where in them."""

    frequency: int = 0
    sequences: int = 0
    least: int | None = None
    most: int = 0
    places: Counter[int] = field(default_factory=Counter)  # by bucket of a sequence's length

    def add(self, places: Sequence[int]) -> None:
        """Adds a sequence: the buckets that the token is in."""
        count = len(places)
        self.frequency += count
        self.sequences += bool(count)
        self.least = count if self.least is None else min(self.least, count)
        self.most = max(self.most, count)
        self.places.update(places)

    def merge(self, other: TokenCounts) -> None:
        """Adds another."""
        self.frequency += other.frequency
        self.sequences += other.sequences
        counts = [each for each in (self.least, other.least) if each is not None]
        self.least, self.most = min(counts, default=None), max(self.most, other.most)
        self.places.update(other.places)


@dataclass
class Language:
    """What was accumulated of a feature's sequences of tokens."""

    sequences: int = 0
    tokens: int = 0
    known: Counter[str] = field(default_factory=Counter)  # tokens of the vocabulary
    lengths: Quantiles = field(default_factory=Quantiles)
    least: int | None = None
    most: int = 0
    looked_at: dict[Token, TokenCounts] = field(default_factory=dict)
    least_covered: list[tuple[float, str]] = field(default_factory=list)
    shortest: list[tuple[float, str]] = field(default_factory=list)

    def add(self, array: pa.Array, rules: Rules, buckets: int) -> None:
        """Adds rows: lists of numbers or byte strings. Others are no language.

        Args:
          array: The lists.
          rules: Which tokens count.
          buckets: How many parts of a sequence positions are counted in.
        """
        kind = array.type.value_type if is_list(array.type) else None
        if kind is None or not (pa.types.is_integer(kind) or pa.types.is_binary(kind)):
            return
        is_text = pa.types.is_binary(kind)
        lengths = []
        for row in array.to_pylist():
            if row is None:
                continue
            self.sequences += 1
            if not row:
                continue
            row = [token.decode(errors="backslashreplace") for token in row] if is_text else row
            other = _translated(row, rules.numbers if is_text else rules.words)
            self._count(row, rules, buckets, int if not is_text else str)
            if other is not None:
                self._count(other, rules, buckets, str if not is_text else int)
            words = row if is_text else other or row
            self._report(words, rules)
            self._add_tokens(row, other, words, rules)
            left_out = sum(token in rules.not_in_lengths for token in (*row, *(other or ())))
            lengths.append(len(row) - left_out)
        if lengths:
            self.lengths.add(np.array(lengths, np.float64))
            self.least = min(lengths) if self.least is None else min(self.least, *lengths)
            self.most = max(self.most, *lengths)

    def _count(self, row: Sequence[Token], rules: Rules, buckets: int, kind: type) -> None:
        for token in rules.looked_at:
            if isinstance(token, kind):
                places = [int(at / len(row) * buckets) for at, each in enumerate(row) if each == token]
                self.looked_at.setdefault(token, TokenCounts()).add(places)

    def _report(self, words: Sequence[Token], rules: Rules) -> None:
        known = [len(word) for word in words if isinstance(word, str) and word not in rules.unknown]
        text = str(list(words))
        self.least_covered = _fewest([*self.least_covered, (len(known) / len(words), text)])
        self.shortest = _fewest([*self.shortest, (sum(known) / len(known) if known else 0.0, text)])

    def _add_tokens(
        self, row: Sequence[Token], other: Sequence[Token] | None, words: Sequence[Token], rules: Rules
    ) -> None:
        for at, token in enumerate(row):
            if token in rules.excluded or (other is not None and other[at] in rules.excluded):
                continue
            self.tokens += 1
            word = words[at]
            if isinstance(word, str) and word not in rules.unknown:
                self.known[word] += 1

    def merge(self, others: Iterable[Language]) -> Language:
        """Adds others, in their order; returns self."""
        for other in others:
            self.sequences += other.sequences
            self.tokens += other.tokens
            self.known.update(other.known)
            self.lengths.merge([other.lengths])
            counts = [each for each in (self.least, other.least) if each is not None]
            self.least, self.most = min(counts, default=None), max(self.most, other.most)
            for token, counted in other.looked_at.items():
                self.looked_at.setdefault(token, TokenCounts()).merge(counted)
            self.least_covered = _fewest(self.least_covered + other.least_covered)
            self.shortest = _fewest(self.shortest + other.shortest)
        return self


def _translated(row: Sequence[Token], by: Mapping[Any, Token] | None) -> list[Token] | None:
    """The tokens as the vocabulary has them otherwise: numbers for words, words for numbers."""
    return [by.get(token, token) for token in row] if by else None


def _fewest(sequences: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """The first few of those with the smallest numbers, each once."""
    seen: dict[Hashable, tuple[float, str]] = {}
    for number, text in sorted(sequences, key=lambda each: each[0]):
        seen.setdefault(text, (number, text))
    return list(seen.values())[:_REPORTED]


def fill_language(message: Any, found: Language, options: StatsOptions) -> None:
    """Adds the statistics to the message of a feature, as its custom statistic `nl_statistics`.

    Args:
      message: A FeatureNameStatistics.
      found: What was accumulated.
      options: How many buckets there are.
    """
    stats = NaturalLanguageStatistics(min_sequence_length=found.least or 0, max_sequence_length=found.most)
    known = sum(found.known.values())
    if found.tokens:
        stats.feature_coverage = known / found.tokens
    if known:
        lengths = Counter[int]()
        for word, count in found.known.items():
            lengths[len(word)] += count
        stats.avg_token_length = sum(length * count for length, count in lengths.items()) / known
        quantiles = Quantiles()
        quantiles.add(np.array(list(lengths), np.float64), np.array(list(lengths.values())))
        stats.token_length_histogram.CopyFrom(
            number_of_values_histogram(quantiles, options.num_quantiles_histogram_buckets)
        )
    if found.least is not None:
        stats.sequence_length_histogram.CopyFrom(
            number_of_values_histogram(found.lengths, options.num_quantiles_histogram_buckets)
        )
    ranked = sorted(found.known.items(), key=lambda pair: (-pair[1], pair[0]))
    for rank, (word, count) in enumerate(ranked[: options.num_rank_histogram_buckets]):
        stats.rank_histogram.buckets.add(low_rank=rank, high_rank=rank, label=word, sample_count=count)
    for token, counts in sorted(
        found.looked_at.items(), key=lambda pair: (isinstance(pair[0], str), pair[0])
    ):
        _fill_token(
            stats.token_statistics.add(), token, counts, found.sequences, options.num_histogram_buckets
        )
    stats.reported_sequences.extend(text for _, text in (*found.least_covered, *found.shortest))
    message.custom_stats.add(name="nl_statistics").any.Pack(stats)


def _fill_token(message: Any, token: Token, counts: TokenCounts, sequences: int, buckets: int) -> None:
    if isinstance(token, str):
        message.string_token = token
    else:
        message.int_token = token
    if not counts.sequences:
        return
    message.frequency = counts.frequency
    message.fraction_of_sequences = counts.sequences / sequences
    message.per_sequence_min_frequency, message.per_sequence_max_frequency = counts.least or 0, counts.most
    message.per_sequence_avg_frequency = counts.frequency / counts.sequences
    for place, count in sorted(counts.places.items()):
        low, high = place / buckets, (place + 1) / buckets
        message.positions.buckets.add(low_value=low, high_value=high, sample_count=count)
