"""Metrics, plots and validations of tables with predictions, slice by slice."""

from evaluation_cases import CASES
from google.protobuf import text_format
from messages import fields

RTOL, ATOL = 1e-6, 2e-7  # Keras's own metrics are of 32 bits, and their differences small


def _identity(failure):
    return str((failure["metric_key"], failure["metric_threshold"]))


def _answers(metrics, plots, validation):
    """By slice and key, the values."""

    def slice_of(message):
        return str(fields(message).get("slice_key") or fields(message).get("cross_slice_key"))

    def text(key):
        return text_format.MessageToString(key, as_one_line=True)

    return {
        "metrics": {
            slice_of(each): {
                **{text(pair.key): fields(pair.value) for pair in each.metric_keys_and_values},
                **{name: fields(value) for name, value in each.metrics.items()},
            }
            for each in metrics
        },
        "plots": {
            slice_of(each): {text(pair.key): fields(pair.value) for pair in each.plot_keys_and_values}
            for each in plots
            if each.plot_keys_and_values
        },
        "validation": {
            **fields(validation),
            "metric_validations_per_slice": {
                slice_of(each): sorted(map(fields, each.failures), key=_identity)
                for each in validation.metric_validations_per_slice
            },
        },
    }


def original(folder):
    import apache_beam as beam
    import pandas as pd
    import pyarrow as pa
    import tensorflow_model_analysis as tfma
    from tensorflow_model_analysis.api import model_eval_lib
    from tensorflow_model_analysis.evaluators import metrics_plots_and_validations_evaluator as evaluator
    from tensorflow_model_analysis.extractors import (
        example_weights_extractor,
        features_extractor,
        labels_extractor,
        materialized_predictions_extractor,
        slice_key_extractor,
        unbatch_extractor,
    )
    from tensorflow_model_analysis.utils import config_util
    from tfx_bsl.arrow import table_util

    def answer(name, table, text):
        config = text_format.Parse(text, tfma.EvalConfig())
        has_baseline = any(spec.is_baseline for spec in config.model_specs)
        config = config_util.update_eval_config_with_defaults(config, has_baseline=has_baseline)
        path = f"{folder}/{name}"
        block = table_util.CanonicalizeRecordBatch(pa.RecordBatch.from_pandas(pd.DataFrame(table)))
        with beam.Pipeline() as pipeline:
            _ = (
                pipeline
                | beam.Create([block])
                | model_eval_lib.BatchedInputsToExtracts()
                | model_eval_lib.ExtractAndEvaluate(
                    # TFMA's own lists of these drop the baseline where no model predicts.
                    extractors=[
                        features_extractor.FeaturesExtractor(config),
                        labels_extractor.LabelsExtractor(config),
                        example_weights_extractor.ExampleWeightsExtractor(config),
                        materialized_predictions_extractor.MaterializedPredictionsExtractor(config),
                        unbatch_extractor.UnbatchExtractor(),
                        slice_key_extractor.SliceKeyExtractor(eval_config=config, materialize=False),
                    ],
                    evaluators=[evaluator.MetricsPlotsAndValidationsEvaluator(config)],
                )
                | model_eval_lib.WriteResults(model_eval_lib.default_writers(path, eval_config=config))
            )
        return _answers(
            tfma.load_metrics(path),
            tfma.load_plots(path),
            tfma.load_validation_result(f"{path}/validations.tfrecord"),
        )

    return {name: answer(name, *case) for name, case in CASES.items()}


def ours(folder, answers):
    from tideflow.pipeline import evaluation as tfma
    from tideflow.pipeline.messages.evaluation import EvalConfig

    def answer(name, table, text):
        path = f"{folder}/{name}"
        tfma.analyze_raw_data(table, text_format.Parse(text, EvalConfig()), path)
        return _answers(tfma.load_metrics(path), tfma.load_plots(path), tfma.load_validation_result(path))

    return {name: answer(name, *case) for name, case in CASES.items()}
