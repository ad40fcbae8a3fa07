"""A small run with everything that a page can show, made by the real components where they are quick."""

import shutil

import numpy as np
import pyarrow as pa
import pytest
from google.protobuf import text_format

from tideflow.pipeline import evaluation as analysis
from tideflow.pipeline.data.sources import Blocks
from tideflow.pipeline.messages.evaluation import EvalConfig
from tideflow.pipeline.orchestration import (
    Context,
    ExampleValidator,
    Input,
    Output,
    Pipeline,
    Pusher,
    SchemaGen,
    component,
    earlier_span,
    run,
)
from tideflow.pipeline.orchestration.artifacts import (
    ExampleStatistics,
    Model,
    ModelBlessing,
    ModelEvaluation,
    Schema,
)
from tideflow.pipeline.orchestration.data_components import STATISTICS
from tideflow.pipeline.orchestration.metadata import Metadata
from tideflow.pipeline.statistics import generate_statistics

CONFIG = """
  model_specs { name: "candidate" label_key: "label" prediction_key: "candidate" }
  model_specs { name: "baseline" label_key: "label" prediction_key: "baseline" is_baseline: true }
  slicing_specs {}
  slicing_specs { feature_keys: "city" }
  metrics_specs {
    metrics { class_name: "AUC" }
    metrics { class_name: "ConfusionMatrixPlot" }
    metrics { class_name: "CalibrationPlot" }
    thresholds { key: "auc" value { value_threshold { lower_bound { value: 0.99 } } } }
  }
  options { compute_confidence_intervals { value: true } confidence_intervals { method: JACKKNIFE } }
"""


def rows(span, count=200):
    """Trips; from the second span on with a payment that nobody expected, and in one city more."""
    random = np.random.default_rng(span)
    payments = random.choice([b"Cash", b"Card"] + [b"<b>Crypto</b>"] * (span > 1), count)
    columns = {
        "fare": pa.array([[value] for value in random.gamma(3, 4 + span, count)], pa.list_(pa.float32())),
        "payment": pa.array([[value] for value in payments], pa.list_(pa.binary())),
    }
    return pa.RecordBatch.from_pydict(columns)


@component
def Statistics(context: Context, statistics: Output[ExampleStatistics], span: int) -> None:
    for number, split in enumerate(("train", "eval")):
        found = generate_statistics([Blocks([rows(span, 200 - 100 * number)])], workers=1)
        statistics.split(split).mkdir()
        (statistics.split(split) / STATISTICS).write_bytes(found.SerializeToString())
    statistics.properties |= {"splits": ["train", "eval"], "span": span}


@component
def Train(context: Context, schema: Input[Schema], model: Output[Model]) -> None:
    (model.uri / "model").write_text("weights")


@component
def Evaluate(
    context: Context,
    model: Input[Model],
    evaluation: Output[ModelEvaluation],
    blessing: Output[ModelBlessing],
) -> None:
    random = np.random.default_rng(0)
    label = random.integers(0, 2, 400)
    noise = random.normal(size=(2, 400))
    table = {
        "label": label,
        "candidate": 1 / (1 + np.exp(-(label * 2 - 1 + noise[0]))),
        "baseline": 1 / (1 + np.exp(-(label * 2 - 1 + 2 * noise[1]))),
        "city": random.choice(["Rome", "Oslo", "Bern"], 400),
    }
    analysis.analyze_raw_data(table, text_format.Parse(CONFIG, EvalConfig()), evaluation.uri)
    reasons = analysis.reasons(analysis.load_validation_result(evaluation.uri))
    blessing.properties |= {"blessed": not reasons, "reasons": reasons}


def make(root, span, stop=True):
    statistics_gen = Statistics(span=span)
    statistics = statistics_gen.outputs["statistics"]
    schema_gen = SchemaGen(statistics=statistics, file=str(root / "schema.pbtxt"))
    schema = schema_gen.outputs["schema"]
    validator = ExampleValidator(statistics=statistics, schema=schema, previous=earlier_span(statistics))
    train = Train(schema=schema)
    if stop:
        train.after(validator)
    evaluate = Evaluate(model=train.outputs["model"])
    pusher = Pusher(
        model=train.outputs["model"],
        model_blessing=evaluate.outputs["blessing"],
        destination=str(root / "serving"),
    )
    return Pipeline("trips", root, [statistics_gen, schema_gen, validator, train, evaluate, pusher])


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of a pipeline with three runs: not good enough; stopped by anomalies; both."""
    root = tmp_path_factory.mktemp("trips")
    results = [run(make(root, 1)), run(make(root, 2)), run(make(root, 2, stop=False))]
    assert [result.state for result in results] == ["refused"] * 3
    return root


@pytest.fixture
def store(made, tmp_path):
    """The metadata of a copy that a test may change."""
    text = (made / "schema.pbtxt").read_text()
    opened = Metadata(f"sqlite:///{made / 'metadata.db'}")
    yield opened
    opened.close()
    (made / "schema.pbtxt").write_text(text)
    shutil.rmtree(tmp_path, ignore_errors=True)
