"""Results of evaluations are read by both: each reads its own and the other's."""

import tempfile
from pathlib import Path

from evaluation_cases import BINARY, metrics
from google.protobuf import text_format

RTOL, ATOL = 1e-9, 1e-12
CONFIG = f"""
model_specs {{ label_key: "label" prediction_key: "prediction" }}
slicing_specs {{}} slicing_specs {{ feature_keys: ["color", "size"] }}
cross_slicing_specs {{ baseline_spec {{}} slicing_specs {{ feature_keys: ["color", "size"] }} }}
metrics_specs {{
  {
    metrics(
        "ExampleCount",
        ConfusionMatrixAtThresholds='"thresholds": [0.3]',
        Precision='"thresholds": [0.2, 0.8]',
        ConfusionMatrixPlot='"num_thresholds": 5',
    )
}
  metrics {{ class_name: "AUC" threshold {{ value_threshold {{ lower_bound {{ value: 0.99 }} }} }} }}
}}
options {{ compute_confidence_intervals {{ value: true }} }}
"""


def _files(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def _written(folder, files):
    Path(folder).mkdir()
    for name, content in files.items():
        (Path(folder) / name).write_bytes(content)
    return str(folder)


def _view(result, validation):
    return {
        "metrics": {str(key): value for key, value in result.slicing_metrics},
        "plots": {str(key): value for key, value in result.plots if value},
        "names": sorted(result.get_metric_names()),
        "auc": str(
            sorted((str(key), value["auc"]) for key, value in result.get_metrics_for_all_slices().items())
        ),
        "validation": text_format.MessageToString(validation),
        "model": result.model_location,
    }


def given():
    from tideflow.pipeline import evaluation as tfma
    from tideflow.pipeline.messages.evaluation import EvalConfig

    with tempfile.TemporaryDirectory() as folder:
        tfma.analyze_raw_data(BINARY, text_format.Parse(CONFIG, EvalConfig()), folder)
        return _files(folder)


def original(folder, given):
    import pandas as pd
    import tensorflow_model_analysis as tfma

    def view(path):
        return _view(tfma.load_eval_result(path), tfma.load_validation_result(f"{path}/validations.tfrecord"))

    theirs = f"{folder}/theirs"
    tfma.analyze_raw_data(pd.DataFrame(BINARY), text_format.Parse(CONFIG, tfma.EvalConfig()), theirs)
    ours = _written(Path(folder) / "ours", given)
    return {"theirs": view(theirs), "ours": view(ours), "files": _files(theirs), "given": given}


def ours(folder, answers):
    from tideflow.pipeline import evaluation as tfma

    def view(path):
        return _view(tfma.load_eval_result(path), tfma.load_validation_result(path))

    found = {
        name: view(_written(Path(folder) / f"read-{name}", answers[files]))
        for name, files in (("theirs", "files"), ("ours", "given"))
    }
    return {**found, "files": answers["files"], "given": answers["given"]}
