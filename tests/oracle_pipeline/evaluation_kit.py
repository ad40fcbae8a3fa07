"""Evaluations of tables by TFMA and by Tideflow, and their answers in one form."""

from google.protobuf import text_format
from messages import fields


def _identity(failure):
    return str((failure["metric_key"], failure["metric_threshold"]))


def _answers(metrics, plots, attributions, validation):
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
        "attributions": {
            slice_of(each): {
                text(pair.key): {name: fields(value) for name, value in pair.values.items()}
                for pair in each.attributions_keys_and_values
            }
            for each in attributions
            if each.attributions_keys_and_values
        },
        "validation": {
            **fields(validation),
            "validation_details": sorted(  # TFMA's come in the order in which Beam had the slices
                map(fields, validation.validation_details.slicing_details), key=str
            ),
            "metric_validations_per_slice": {
                slice_of(each): sorted(map(fields, each.failures), key=_identity)
                for each in validation.metric_validations_per_slice
            },
        },
    }


def original_answers(folder, cases):
    """TFMA's answers, by case."""
    import apache_beam as beam
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import tensorflow_model_analysis as tfma
    from tensorflow_model_analysis.api import model_eval_lib
    from tensorflow_model_analysis.contrib.aggregates.binary_confusion_matrices import Matrix
    from tensorflow_model_analysis.evaluators import metrics_plots_and_validations_evaluator as evaluator
    from tensorflow_model_analysis.extractors import (
        example_weights_extractor,
        extractor,
        features_extractor,
        labels_extractor,
        materialized_predictions_extractor,
        slice_key_extractor,
        unbatch_extractor,
    )
    from tensorflow_model_analysis.metrics.binary_confusion_matrices import Matrices
    from tensorflow_model_analysis.utils import config_util
    from tensorflow_model_analysis.writers import metrics_plots_and_validations_writer as writer
    from tfx_bsl.arrow import table_util

    def prepared(extracts):
        """What TFMA has no extractor of its own for: attributions, and texts that are no bytes."""
        begin, features = "attributions/", extracts["features"]
        found = {name[len(begin) :]: value for name, value in features.items() if name.startswith(begin)}
        if found:
            extracts = {**extracts, "attributions": found}
        if "text" in features:
            decode = np.vectorize(bytes.decode, otypes=[object])
            both = {name: decode(extracts[name]) for name in ("labels", "predictions")}
            if features["text"][0] == b"translation":
                both["labels"] = both["labels"][:, None]  # a column for each sentence, of which there is one
            extracts = {**extracts, **both}
        return extracts

    def written(value, convert=writer.convert_metric_value_to_proto):
        """TFMA writes these as text for people, rounded."""
        if isinstance(value, Matrix):
            value = Matrices([0.0], *([float(count)] for count in value))
        elif hasattr(value, "fmeasure"):
            value = np.array([value.precision, value.recall, value.fmeasure])
        return convert(getattr(value, "score", value))

    writer.convert_metric_value_to_proto = written

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
                        extractor.Extractor("prepared", beam.Map(prepared)),
                        slice_key_extractor.SliceKeyExtractor(eval_config=config, materialize=False),
                    ],
                    evaluators=[evaluator.MetricsPlotsAndValidationsEvaluator(config)],
                )
                | model_eval_lib.WriteResults(model_eval_lib.default_writers(path, eval_config=config))
            )
        return _answers(
            tfma.load_metrics(path),
            tfma.load_plots(path),
            tfma.load_attributions(path),
            tfma.load_validation_result(f"{path}/validations.tfrecord"),
        )

    return {name: answer(name, *case) for name, case in cases.items()}


def our_answers(folder, cases):
    """Tideflow's answers, by case."""
    from tideflow.pipeline import evaluation as tfma
    from tideflow.pipeline.messages.evaluation import EvalConfig

    def answer(name, table, text):
        path = f"{folder}/{name}"
        tfma.analyze_raw_data(table, text_format.Parse(text, EvalConfig()), path)
        return _answers(
            tfma.load_metrics(path),
            tfma.load_plots(path),
            tfma.load_attributions(path),
            tfma.load_validation_result(path),
        )

    return {name: answer(name, *case) for name, case in cases.items()}
