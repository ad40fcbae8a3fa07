"""One measurement, in the environment of who is measured: `python measured.py NAME FILE [MORE]`.

It prints the CPU and wall seconds of the work without imports, and the most memory in MB, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

EVAL_CONFIG = """
model_specs { label_key: "label" prediction_key: "prediction" }
slicing_specs {} slicing_specs { feature_keys: "slice" }
metrics_specs {
  metrics { class_name: "ExampleCount" } metrics { class_name: "AUC" }
  metrics { class_name: "BinaryAccuracy" } metrics { class_name: "MeanLabel" }
}
"""
NUMBERS = ["fare", "trip_miles", "trip_seconds", "latitude", "longitude"]
WORDS = ["payment_type", "company"]


def tideflow_statistics(path: str, workers: str) -> Callable[[], Any]:
    from tideflow.pipeline.statistics import generate_statistics

    return lambda: generate_statistics(path, workers=int(workers))


def tideflow_statistics_twice(path: str) -> Callable[[], Any]:
    """The same by two processes at once, which share nothing but the machine: its limit for two threads."""
    from tideflow.pipeline.statistics import generate_statistics

    def work() -> None:
        children = []
        for _ in range(2):
            child = os.fork()
            if not child:
                generate_statistics(path, workers=1)
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)

    return work


def tideflow_statistics_by_ray(path: str, cpus: str) -> Callable[[], Any]:
    import ray

    from tideflow.pipeline.statistics import generate_statistics

    ray.init(num_cpus=int(cpus), include_dashboard=False, log_to_driver=False)
    generate_statistics(path, ray="auto")  # the workers have started and imported
    return lambda: generate_statistics(path, ray="auto")


def tfdv_from_csv(path: str) -> Callable[[], Any]:
    import tensorflow_data_validation as tfdv

    return lambda: tfdv.generate_statistics_from_csv(path)


def tfdv_from_dataframe(path: str) -> Callable[[], Any]:
    import pandas
    import tensorflow_data_validation as tfdv

    return lambda: tfdv.generate_statistics_from_dataframe(pandas.read_csv(path))


# Of each column the same, as far as they offer it: missing, moments, zeros, extremes, quantiles; of strings
# the number of different values and the thousand most frequent. No message is made of it.
QUANTILES = [number / 10 for number in range(11)]
TOP = 1000


def polars_statistics(path: str, threads: str) -> Callable[[], Any]:
    os.environ["POLARS_MAX_THREADS"] = threads
    import polars

    def run() -> None:
        table = polars.read_csv(path)
        for name in table.columns:
            column = table[name]
            column.null_count()
            if column.dtype == polars.String:
                column.n_unique()
                column.value_counts(sort=True).head(TOP)
            else:
                column.mean(), column.std(), column.min(), column.max(), (column == 0).sum()
                ranked = column.sort()
                [ranked.quantile(share) for share in QUANTILES]
                column.hist(bin_count=10)

    return run


def duckdb_statistics(path: str, threads: str) -> Callable[[], Any]:
    import duckdb

    def run() -> None:
        database = duckdb.connect()
        database.execute(f"SET threads = {threads}")
        database.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{path}')")
        for name, kind, *_ in database.execute("DESCRIBE t").fetchall():
            if kind == "VARCHAR":
                database.execute(f"SELECT count({name}), count(DISTINCT {name}) FROM t").fetchall()
                database.execute(
                    f"SELECT {name}, count(*) AS n FROM t GROUP BY 1 ORDER BY n DESC LIMIT {TOP}"
                ).fetchall()
            else:
                database.execute(
                    f"SELECT count({name}), avg({name}), stddev_pop({name}), min({name}), max({name}), "
                    f"count(*) FILTER ({name} = 0), quantile_cont({name}, {QUANTILES}) FROM t"
                ).fetchall()

    return run


def pyarrow_statistics(path: str, threads: str) -> Callable[[], Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    pa.set_cpu_count(int(threads))

    def run() -> None:
        table = pa.csv.read_csv(path)
        for column in table.columns:
            if pa.types.is_string(column.type):
                counts = pc.value_counts(column)
                pc.select_k_unstable(pa.table({"n": counts.field(1)}), TOP, [("n", "descending")])
            else:
                pc.mean(column), pc.stddev(column), pc.min_max(column)
                pc.sum(pc.equal(column, 0)), pc.tdigest(column, q=QUANTILES)

    return run


def tideflow_transform(path: str, workers: str) -> Callable[[], Any]:
    import tideflow.pipeline.transform as tft
    from tideflow.pipeline.data.sources import find_sources
    from tideflow.pipeline.schema import infer_schema
    from tideflow.pipeline.statistics import generate_statistics
    from tideflow.pipeline.transform.run import analyze_and_transform

    schema = infer_schema(generate_statistics(path, workers=1))

    def preprocessing_fn(inputs: Any) -> Any:
        return _preprocessed(tft, inputs)

    folder = tempfile.mkdtemp()
    return lambda: analyze_and_transform(
        {"train": find_sources(path, part_bytes=1 << 20)},  # enough parts for two workers
        schema,
        preprocessing_fn,
        f"{folder}/graph",
        f"{folder}/examples",
        workers=int(workers),
    )


def _preprocessed(tft: Any, inputs: Any) -> Any:
    made = {name: tft.scale_to_z_score(inputs[name]) for name in NUMBERS}
    made |= {name: tft.compute_and_apply_vocabulary(inputs[name], num_oov_buckets=1) for name in WORDS}
    return made | {"fare_bucket": tft.bucketize(inputs["fare"], 10)}


def tft_transform(path: str) -> Callable[[], Any]:
    import apache_beam as beam
    import tensorflow as tf
    import tensorflow_transform as tft
    import tensorflow_transform.beam as tft_beam
    from tensorflow_transform.tf_metadata import schema_utils
    from tfx_bsl.public import tfxio

    kinds = {"fare": tf.float32, "tips": tf.float32, "trip_miles": tf.float32, "trip_seconds": tf.int64}
    kinds |= {
        "latitude": tf.float32,
        "longitude": tf.float32,
        "payment_type": tf.string,
        "company": tf.string,
    }
    spec = {name: tf.io.VarLenFeature(kind) for name, kind in kinds.items()}
    schema = schema_utils.schema_from_feature_spec(spec)
    with open(path) as file:
        names = file.readline().strip().split(",")
    source = tfxio.BeamRecordCsvTFXIO(
        physical_format="text", column_names=names, schema=schema, telemetry_descriptors=["b"]
    )

    def run() -> None:
        folder = tempfile.mkdtemp()
        with beam.Pipeline() as pipeline, tft_beam.Context(temp_dir=folder):
            lines = pipeline | beam.io.ReadFromText(path, coder=beam.coders.BytesCoder(), skip_header_lines=1)
            raw = lines | source.BeamSource()
            data = (raw, source.TensorAdapterConfig())
            (rows, _), made = data | tft_beam.AnalyzeAndTransformDataset(
                lambda inputs: _preprocessed(tft, inputs), output_record_batches=True
            )
            _ = made | tft_beam.WriteTransformFn(f"{folder}/out")
            _ = rows | beam.Map(lambda pair: pair[0].num_rows) | beam.CombineGlobally(sum)

    return run


def _predictions(path: str) -> dict[str, list[Any]]:
    """Labels, predictions and slices of as many rows as a file has."""
    import numpy as np

    with open(path, "rb") as file:
        rows = sum(1 for _ in file) - 1
    draw = np.random.default_rng(1)
    label = draw.integers(0, 2, rows).astype(float)
    prediction = np.clip(0.3 * label + 0.7 * draw.random(rows), 0, 1)
    return {
        "label": label.tolist(),
        "prediction": prediction.tolist(),
        "slice": [f"s{number}" for number in draw.integers(0, 10, rows).tolist()],
    }


def tideflow_evaluation(path: str) -> Callable[[], Any]:
    from google.protobuf import text_format

    from tideflow.pipeline import evaluation
    from tideflow.pipeline.messages.evaluation import EvalConfig

    config = text_format.Parse(EVAL_CONFIG, EvalConfig())
    columns = _predictions(path)
    return lambda: evaluation.analyze_raw_data(columns, config)


def tfma_evaluation(path: str) -> Callable[[], Any]:
    import pandas
    import tensorflow_model_analysis as tfma
    from google.protobuf import text_format

    config = text_format.Parse(EVAL_CONFIG, tfma.EvalConfig())
    frame = pandas.DataFrame(_predictions(path))
    return lambda: tfma.analyze_raw_data(frame, config)


def main(name: str, *arguments: str) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    work = globals()[name](*arguments)
    cpu, wall = _cpu_seconds(), time.perf_counter()
    work()
    seconds = {"cpu": _cpu_seconds() - cpu, "wall": time.perf_counter() - wall}
    print(json.dumps({**seconds, "memory": _most_memory()}))


def _most_memory() -> float:
    """The most memory of this process in MB. getrusage would count that of the process before exec too."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def _cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


if __name__ == "__main__":
    main(*sys.argv[1:])
