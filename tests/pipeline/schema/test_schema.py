"""Schemas as people use them: paths, text, features, domains, inference."""

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from tideflow.graph import errors
from tideflow.pipeline import schema as schemas
from tideflow.pipeline.messages import schema as messages
from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
from tideflow.pipeline.schema.feature_paths import path_steps, path_text

TEXT = r"""
feature { name: "s" type: STRUCT struct_domain { feature { name: "x" type: INT int_domain { min: 1 } } } }
feature { name: "city" type: BYTES domain: "cities" presence { min_fraction: 1 min_count: 0 } }
feature { name: "z\303\274" type: BYTES annotation { comment: "two\nlines" } }
string_domain { name: "cities" value: "Roma" value: "Z\303\274rich" }
default_environment: "TRAINING"
represent_variable_length_as_ragged: true
tensor_representation_group {
  key: "" value { tensor_representation { key: "q" value { varlen_sparse_tensor { column_name: "q" } } } }
}
dataset_constraints { min_examples_count: 7 }
"""


def _schema():
    return text_format.Parse(TEXT, messages.Schema())


@given(st.lists(st.text(), min_size=1).map(tuple))
def test_paths_are_read_back(steps):
    assert path_steps(path_text(steps)) == steps


@pytest.mark.parametrize("text", ["a..b", "'a", "a'b", "(a", "'a'b"])
def test_text_that_is_no_path_is_refused(text):
    with pytest.raises(ValueError, match="not the path of a feature"):
        path_steps(text)


def test_text_is_that_of_the_whole_message_and_is_read_back(tmp_path):
    schema, file = _schema(), tmp_path / "schema.pbtxt"
    schemas.write_schema_text(schema, file)
    assert file.read_text() == text_format.MessageToString(schema, as_utf8=False)
    assert schemas.load_schema_text(file) == schema
    assert [path.name for path in tmp_path.iterdir()] == ["schema.pbtxt"]


def test_a_file_that_is_no_schema_is_refused_with_its_line(tmp_path):
    file = tmp_path / "schema.pbtxt"
    file.write_text('feature {\n  name: "x"\n  kind: INT\n}\n')
    with pytest.raises(ValueError, match=r"schema\.pbtxt is not the text of a schema: 3:3"):
        schemas.load_schema_text(file)
    file.write_bytes(b"feature { name: '\xff' }")
    with pytest.raises(ValueError, match="is not the text of a schema: 'utf-8' codec"):
        schemas.load_schema_text(file)
    with pytest.raises(errors.NotFoundError, match=r"no\.pbtxt"):
        schemas.load_schema_text(tmp_path / "no.pbtxt")
    with pytest.raises(errors.NotFoundError, match="nowhere"):
        schemas.write_schema_text(_schema(), tmp_path / "nowhere" / "schema.pbtxt")


def test_features_and_domains_are_found_and_set():
    schema = _schema()
    assert schemas.get_feature(schema, ("s", "x")).int_domain.min == 1
    assert schemas.get_domain(schema, "city").value[0] == "Roma"
    schemas.set_domain(schema, "city", messages.BoolDomain(true_value="yes"))
    assert schemas.get_domain(schema, ["city"]).true_value == "yes"
    schemas.set_domain(schema, "city", "cities")
    assert schemas.get_feature(schema, "city").domain == "cities"
    for call, said in (
        (lambda: schemas.get_feature(schema, "no"), "Feature no not found in the schema"),
        (lambda: schemas.get_feature(schema, ("city", "x")), "does not refer to a valid STRUCT feature"),
        (lambda: schemas.get_domain(schema, "zü"), "has no domain associated with it"),
        (lambda: schemas.set_domain(schema, "city", "no"), 'Invalid global string domain "no"'),
    ):
        with pytest.raises(ValueError, match=said):
            call()
    with pytest.raises(TypeError, match="STRUCT"):
        schemas.set_domain(schema, "s", messages.IntDomain())
    with pytest.raises(TypeError, match="should be one of the supported types"):
        schemas.set_domain(schema, "city", 3)


def _statistics(**features):
    statistics = DatasetFeatureStatisticsList()
    dataset = statistics.datasets.add(num_examples=4)
    for name, counts in features.items():
        feature = dataset.features.add(type="STRING")
        feature.path.step.append(name)
        stats = feature.string_stats
        stats.unique = len(counts)
        stats.common_stats.MergeFrom(
            type(stats.common_stats)(num_non_missing=4, min_num_values=1, max_num_values=1, tot_num_values=4)
        )
        for value, count in counts.items():
            stats.rank_histogram.buckets.add(label=value, sample_count=count)
    return statistics


def test_inferred_schema_has_domains_up_to_a_size_and_is_handed_through():
    def renamed(schema, dataset):
        schema.feature[0].name = f"{schema.feature[0].name}-{dataset.num_examples}"
        return schema

    statistics = _statistics(x={"a": 2, "b": 2}, y={"a": 1, "b": 1, "c": 1, "d": 1})
    schema = schemas.infer_schema(statistics, max_string_domain_size=3, schema_transformations=[renamed])
    assert [feature.name for feature in schema.feature] == ["x-4", "y"]
    assert [feature.domain for feature in schema.feature] == ["x", ""]
    assert schema.feature[0].shape.dim[0].size == 1


def test_slices_are_passed_over_for_all_examples():
    statistics = _statistics(x={"a": 4})
    statistics.datasets[0].name = "All Examples"
    statistics.datasets.add(name="slice", num_examples=1)
    assert len(schemas.infer_schema(statistics).feature) == 1
    statistics.datasets[0].name = "another slice"
    with pytest.raises(ValueError, match="All Examples"):
        schemas.infer_schema(statistics)


def test_messages_of_proto2_know_what_is_set():
    presence = messages.FeaturePresence(min_count=0)
    assert presence.HasField("min_count")
    assert not presence.HasField("min_fraction")
    assert messages.DistributionConstraints().min_domain_mass == 1.0
    tokens = messages.FeatureCoverageConstraints(excluded_int_tokens=[1, 2])
    assert tokens.SerializeToString() == b"\x22\x02\x01\x02"  # packed, as its file says
    lengths = messages.SequenceLengthConstraints(excluded_int_value=[1, 2])
    assert lengths.SerializeToString() == b"\x08\x01\x08\x02"
