"""statistics/language.py: tokens, vocabularies and lengths of texts, whatever the parts."""

import pyarrow as pa
import pytest
from google.protobuf import text_format

import tideflow as tf
from tideflow.cli import main
from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.messages.statistics import NaturalLanguageStatistics
from tideflow.pipeline.statistics import StatsOptions, generate_statistics
from tideflow.pipeline.validation import validate_statistics

ROWS = [[b"the", b"cat"], [b"a", b"cat", b"a", b"[UNK]"], None, [], [b"[PAD]", b"the", b"\xff"], [b"[PAD]"]]
DOMAIN = """
vocabulary: "words"
coverage { min_coverage: 0.9 excluded_string_tokens: "[PAD]" oov_string_tokens: "[UNK]" }
token_constraints { string_value: "cat" min_per_sequence: 1 }
token_constraints { int_value: 0 }
sequence_length_constraints { excluded_string_value: "[PAD]" }
"""


def schema(domain=DOMAIN):
    text = f'feature {{ name: "x" type: BYTES natural_language_domain {{ {domain} }} }}'
    return text_format.Parse(text, Schema())


def block(rows):
    return pa.RecordBatch.from_arrays([pa.array(rows, pa.list_(pa.binary()))], ["x"])


@pytest.fixture
def options(tmp_path):
    (tmp_path / "words.txt").write_text("the\ncat\na\n[UNK]\n[PAD]\n")
    return StatsOptions(schema=schema(), vocab_paths={"words": str(tmp_path / "words.txt")})


def language(statistics):
    (stat,) = statistics.datasets[0].features[0].custom_stats
    return NaturalLanguageStatistics.FromString(stat.any.value)


def test_tokens_are_counted_whatever_the_parts(options):
    whole = language(generate_statistics([Blocks([block(ROWS)])], options))
    parts = [Blocks([block(ROWS[:1]), block(ROWS[1:3])]), Blocks([block(ROWS[3:])])]
    assert language(generate_statistics(parts, options, workers=1)) == whole
    assert whole.feature_coverage == pytest.approx(7 / 8)  # without [PAD]; [UNK] is not known
    assert [(each.label, each.sample_count) for each in whole.rank_histogram.buckets] == [
        ("a", 2), ("cat", 2), ("the", 2), ("\\xff", 1)
    ]  # fmt: skip
    assert (whole.min_sequence_length, whole.max_sequence_length) == (0, 4)
    the, cat = whole.token_statistics
    assert (the.int_token, the.frequency, the.per_sequence_min_frequency) == (0, 2, 0)
    assert (cat.string_token, cat.fraction_of_sequences, cat.per_sequence_avg_frequency) == ("cat", 0.4, 1)
    assert [bucket.low_value for bucket in cat.positions.buckets] == [0.2, 0.5]
    assert whole.reported_sequences[0] == "['a', 'cat', 'a', '[UNK]']"


def test_a_schema_is_checked_by_them(options, tmp_path, capsys):
    found = validate_statistics(generate_statistics([Blocks([block(ROWS)])], options), schema())
    kinds = {reason.short_description for reason in found.anomaly_info["x"].reason}
    assert {"Feature coverage is too low.", "Value has too few per-sequence occurrences."} <= kinds
    with pytest.raises(InvalidArgumentError, match="names the vocabulary 'words'; which file is it"):
        generate_statistics([Blocks([block(ROWS)])], StatsOptions(schema=schema()))
    path = str(tmp_path / "words.tfrecord.gz")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for word in (b"the", b"cat", b"a", b"[UNK]", b"[PAD]"):
            writer.write(word)
    records = StatsOptions(schema=schema(), vocab_paths={"words": path})
    rows = [Blocks([block(ROWS)])]
    assert generate_statistics(rows, records) == generate_statistics(rows, options)
    (tmp_path / "in.csv").write_text("x\nthe\ncat\n")
    (tmp_path / "schema.pbtxt").write_text(text_format.MessageToString(schema()))
    command = ["stats", str(tmp_path / "in.csv"), "--schema", str(tmp_path / "schema.pbtxt")]
    assert main([*command, "--vocabulary", f"words={path}"]) == 0
    assert main([*command, "--vocabulary", "words"]) == 2
    assert "--vocabulary takes NAME=FILE" in capsys.readouterr().err
