"""Passes by tasks of a Ray cluster: the same results as here, also after a worker was killed."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest
from google.protobuf import text_format

import tideflow as tf
import tideflow.pipeline.transform as tft
from tideflow.graph.errors import InvalidArgumentError
from tideflow.pipeline.data.sources import find_sources
from tideflow.pipeline.engine.accumulators import Mapped, Rows
from tideflow.pipeline.engine.run import accumulate
from tideflow.pipeline.evaluation import load_eval_result, run_model_analysis
from tideflow.pipeline.messages.evaluation import EvalConfig
from tideflow.pipeline.statistics import generate_statistics
from tideflow.pipeline.transform.run import analyze_and_transform

pytest.importorskip("ray")


def die_once(marker, block):
    """Kills the process that it is called in, the first time."""
    if not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def refuse(block):
    raise InvalidArgumentError(None, None, "not this one")


@pytest.fixture(scope="module")
def cluster():
    """A Ray cluster of two cores, whose workers import this tree."""
    import ray

    before = os.environ.get("RAY_USAGE_STATS_ENABLED")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
        runtime_env={"env_vars": {"PYTHONPATH": os.getcwd()}},
    )
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
    try:
        yield
    finally:
        ray.shutdown()
        os.environ.pop("RAY_USAGE_STATS_ENABLED")
        if before is not None:
            os.environ["RAY_USAGE_STATS_ENABLED"] = before


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    path = tmp_path_factory.mktemp("ray") / "in.csv"
    lines = [f"{number},{'abc'[number % 3]},{number / 7},{number % 2}\n" for number in range(3000)]
    path.write_text("n,s,f,label\n" + "".join(lines) + "x,late,1,0\n")
    found = find_sources(path, part_bytes=1 << 13)
    assert len(found) > 3
    return found


@pytest.mark.slow(reason="starts a Ray cluster")
def test_ray_computes_the_same_and_a_killed_worker_changes_no_number(cluster, sources, tmp_path):
    assert generate_statistics(sources, ray="auto") == generate_statistics(sources)
    marker = str(tmp_path / "killed")
    deadly = {"rows": Mapped(partial(die_once, marker), Rows())}
    assert accumulate(sources, deadly, ray="auto") == {"rows": 3001}
    assert os.path.exists(marker)
    with pytest.raises(InvalidArgumentError, match="not this one"):
        accumulate(sources, {"rows": Mapped(refuse, Rows())}, ray="auto")


def preprocessing_fn(inputs):
    z = tft.scale_to_z_score(inputs["f"])
    return {
        "scaled": tft.scale_to_0_1(z * z),  # two passes
        "s": tft.compute_and_apply_vocabulary(inputs["s"], vocab_filename="s", num_oov_buckets=1),
        "label": inputs["label"],
    }


SPEC = {
    "f": tf.io.FixedLenFeature([], tf.float32),
    "s": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}
CONFIG = """
model_specs { label_key: "label" }
slicing_specs {} slicing_specs { feature_keys: "s" }
metrics_specs { metrics { class_name: "ExampleCount" } metrics { class_name: "AUC" } }
options { compute_confidence_intervals { value: true } }
"""


def save(path):
    with tf.Graph().as_default(), tf.Session() as session:
        f = tf.placeholder(tf.float32, [None], name="f")
        tf.saved_model.simple_save(session, path, {"f": f}, {"logistic": tf.sigmoid(tf.sin(f))})
    return path


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file() and path.suffix in (".gz", "") and "saved_model" not in path.name
    }


@pytest.mark.slow(reason="starts a Ray cluster")
def test_transforms_and_evaluations_are_the_same_by_ray(cluster, sources, tmp_path):
    for name, by in (("here", {"workers": 1}), ("ray", {"ray": "auto"})):
        folder = tmp_path / name
        analyze_and_transform(
            {"train": sources}, SPEC, preprocessing_fn, folder / "graph", folder / "examples", **by
        )
        run_model_analysis(
            save(str(tmp_path / f"model-{name}")),
            text_format.Parse(CONFIG, EvalConfig()),
            sources,
            folder / "metrics",
            **by,
        )
    here, ray = (contents(tmp_path / name / "examples") for name in ("here", "ray"))
    assert here == ray and len(here) == len(sources)
    vocabulary = "graph/transform_fn/assets/s"
    assert (tmp_path / "here" / vocabulary).read_bytes() == (tmp_path / "ray" / vocabulary).read_bytes()
    metrics = [
        load_eval_result(tmp_path / name / "metrics").get_metrics_for_all_slices() for name in ("here", "ray")
    ]
    assert metrics[0] == metrics[1]
    assert metrics[0][()]["example_count"] == {"doubleValue": 3001.0}
