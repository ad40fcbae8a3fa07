"""From records of taxi trips to a served model that predicts large tips.

    tideflow pipeline run examples/pipeline/taxi.py       # a second time: nothing is left to do
    python examples/pipeline/serve_taxi.py                # both, then the model is served and asked

The trips are made up (taxi_data.py), a week of them for each span. Every step leaves an artifact in the
pipeline's folder; `tideflow pipeline ui out/pipeline/taxi` shows them.
"""

from pathlib import Path

import taxi_data
from google.protobuf import text_format

import tideflow as tf
import tideflow.pipeline.transform as tft
from tideflow.pipeline import trainer
from tideflow.pipeline.messages.evaluation import EvalConfig
from tideflow.pipeline.orchestration import (
    Evaluator,
    ExampleGen,
    ExampleValidator,
    InfraValidator,
    Pipeline,
    Pusher,
    SchemaGen,
    StatisticsGen,
    Trainer,
    Transform,
    earlier_span,
    latest_blessed,
)

LABEL = "big_tip"
NUMBERS = ["trip_miles", "trip_seconds", "fare"]
PLACES = ["pickup_latitude", "pickup_longitude"]
WORDS = ["payment_type", "company"]
BUCKETS = 10
SIZES = {"pickup_area": 25, "dropoff_area": 25, "trip_start_hour": 24, "trip_start_day": 8}
SIZES |= {name: BUCKETS for name in PLACES}

EVAL_CONFIG = """
  model_specs { label_key: "big_tip" signature_name: "predict" prediction_key: "logistic" }
  slicing_specs {}
  slicing_specs { feature_keys: "payment_type" }
  slicing_specs { feature_keys: "trip_start_day" }
  metrics_specs {
    metrics { class_name: "ExampleCount" }
    metrics { class_name: "BinaryAccuracy" }
    metrics { class_name: "Calibration" }
    metrics { class_name: "AUC" }
    metrics { class_name: "CalibrationPlot" }
    metrics { class_name: "ConfusionMatrixPlot" }
    per_slice_thresholds {
      key: "auc"
      value {
        thresholds {
          slicing_specs {}
          threshold {
            value_threshold { lower_bound { value: 0.75 } }
            change_threshold { absolute { value: -0.02 } direction: HIGHER_IS_BETTER }
          }
        }
        thresholds {
          slicing_specs { feature_values { key: "payment_type" value: "Cash" } }
          threshold { value_threshold { lower_bound { value: 0.55 } } }
        }
      }
    }
  }
  options { compute_confidence_intervals { value: true } confidence_intervals { method: JACKKNIFE } }
"""


# ------------------------------------------------------------------------------------ from raw to transformed


def filled(feature):
    """A column without gaps: 0 or "" where a record has one."""
    if isinstance(feature, tf.SparseTensor):
        default = "" if feature.dtype == tf.string else 0
        shape = [feature.dense_shape[0], 1]
        feature = tf.sparse.to_dense(tf.SparseTensor(feature.indices, feature.values, shape), default)
    return tf.squeeze(feature, axis=1)


def preprocessing_fn(inputs):
    """Raw features to those of the model. The same graph runs when the model is served."""
    columns = {name: filled(inputs[name]) for name in inputs}
    outputs = {name: tft.scale_to_z_score(tf.cast(columns[name], tf.float32)) for name in NUMBERS}
    outputs |= {name: tft.bucketize(columns[name], BUCKETS) for name in PLACES}
    outputs |= {
        name: tft.compute_and_apply_vocabulary(columns[name], vocab_filename=name, num_oov_buckets=1)
        for name in WORDS
    }
    return {name: columns[name] for name in [*SIZES, LABEL]} | outputs


# --------------------------------------------------------------------------------------------------- training


def feature_columns(transformed):
    """What the network sees."""
    columns = [tf.feature_column.numeric_column(name) for name in NUMBERS]
    for name in WORDS:
        size = transformed.vocabulary_size_by_name(name) + 1
        word = tf.feature_column.categorical_column_with_identity(name, size, default_value=size - 1)
        columns.append(tf.feature_column.embedding_column(word, 4))
    for name, size in SIZES.items():
        number = tf.feature_column.categorical_column_with_identity(name, size, default_value=0)
        columns.append(tf.feature_column.indicator_column(number))
    return columns


def run_fn(arguments):
    """Trains the network, and exports it with the transform in front of it."""
    transformed = tft.TFTransformOutput(arguments.transform_output)
    earlier = None
    if arguments.base_model is not None:  # of the week before; its words keep what was learned of them
        words = {name: f".*/{name}_embedding/.*" for name in WORDS}
        earlier = trainer.warm_start_settings(arguments.base_model, transformed, words, num_oov_buckets=1)
    model = tf.estimator.DNNClassifier(
        hidden_units=[32, 16],
        feature_columns=feature_columns(transformed),
        optimizer=tf.train.AdamOptimizer(0.003),
        model_dir=arguments.model_run_dir,
        config=tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=100),
        warm_start_from=earlier,
    )
    inputs = trainer.input_fn(arguments.train_files, transformed, LABEL, batch_size=256, seed=1)
    model.train(inputs, max_steps=arguments.train_steps)
    serving = trainer.serving_input_receiver_fn(transformed, [LABEL])
    model.export_saved_model(arguments.serving_model_dir, serving)


# ----------------------------------------------------------------------------------------------- the pipeline


def create_pipeline(root="out/pipeline/taxi", rows=30000, spans=1, broken=False, steps=400):
    """The pipeline, on data that are made up where they are missing.

    Args:
        root: the folder of its data, artifacts and pushed models.
        rows: trips of each span.
        spans: how many weeks of trips there are.
        broken: whether the newest week comes from a system that has changed.
        steps: how long to train.
    """
    root = Path(root)
    for span in range(1, spans + 1):
        taxi_data.write_span(root / "data", span, rows, broken and span == spans)
    example_gen = ExampleGen(input=str(root / "data" / "span-{SPAN}" / "*.csv"))
    examples = example_gen.outputs["examples"]
    statistics_gen = StatisticsGen(examples=examples)
    statistics = statistics_gen.outputs["statistics"]
    schema_gen = SchemaGen(statistics=statistics, file=str(root / "schema.pbtxt"))
    schema = schema_gen.outputs["schema"]
    validator = ExampleValidator(statistics=statistics, schema=schema, previous=earlier_span(statistics))
    transform = Transform(examples=examples, schema=schema, preprocessing_fn=preprocessing_fn)
    transform.after(validator)
    training = Trainer(
        examples=transform.outputs["transformed_examples"],
        transform_graph=transform.outputs["transform_graph"],
        run_fn=run_fn,
        train_steps=steps,
    )
    model = training.outputs["model"]
    training.take(base_model=earlier_span(model, blessed=True))
    evaluator = Evaluator(
        examples=examples,
        model=model,
        baseline_model=latest_blessed(model),
        eval_config=text_format.Parse(EVAL_CONFIG, EvalConfig()),
    )
    canary = InfraValidator(model=model, examples=examples, signature_name="predict")
    pusher = Pusher(
        model=model,
        model_blessing=evaluator.outputs["blessing"],
        infra_blessing=canary.outputs["blessing"],
        destination=str(root / "serving" / "taxi"),
    )
    nodes = [
        example_gen,
        statistics_gen,
        schema_gen,
        validator,
        transform,
        training,
        evaluator,
        canary,
        pusher,
    ]
    return Pipeline("taxi", root, nodes)
