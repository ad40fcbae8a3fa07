"""serving/messages.py: TensorFlow Serving's text and wire formats."""

from google.protobuf import text_format

from tideflow.graph.example_proto import Example
from tideflow.serving import messages


def test_configuration_files_are_tensorflow_servings():
    config = text_format.Parse(
        """
        model_config_list {
          config {
            name: "half" base_path: "/models/half" model_platform: "tensorflow" model_type: TENSORFLOW
            model_version_policy { specific { versions: 4 versions: 5 } }
            version_labels { key: "stable" value: 4 }
            logging_config { sampling_config { sampling_rate: 0.5 } }
          }
        }
        """,
        messages.ModelServerConfig(),
    )
    (model,) = config.model_config_list.config
    assert (list(model.model_version_policy.specific.versions), model.version_labels["stable"]) == ([4, 5], 4)
    batching = text_format.Parse(
        "max_batch_size { value: 8 } allowed_batch_sizes: 4 allowed_batch_sizes: 8",
        messages.BatchingParameters(),
    )
    assert (batching.max_batch_size.value, batching.HasField("batch_timeout_micros")) == (8, False)
    assert messages.ModelServerConfig.FromString(config.SerializeToString()) == config


def test_a_version_or_a_label_is_chosen_not_both():
    spec = messages.ModelSpec(version_label="stable")
    spec.version.value = 2
    assert (spec.version_label, spec.WhichOneof("version_choice")) == ("", "version")


def test_examples_on_the_wire_are_bytes():
    example = Example()
    example.features.feature["a"].int64_list.value.append(1)
    request = messages.ClassificationRequest()
    request.input.example_list.examples.append(example.SerializeToString())
    again = messages.ClassificationRequest.FromString(request.SerializeToString())
    assert Example.FromString(again.input.example_list.examples[0]) == example


def test_statuses_have_names():
    status = messages.ModelVersionStatus(version=1, state="AVAILABLE")
    assert (status.state, status.status.error_code) == (30, 0)
    assert messages.StatusProto(error_code=5) == messages.StatusProto(error_code="NOT_FOUND")
