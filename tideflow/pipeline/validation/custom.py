"""Custom validations: conditions that people write for the statistics of features."""

from __future__ import annotations

from typing import Any

from tideflow.pipeline.messages.anomalies import Anomalies, AnomalyInfo
from tideflow.pipeline.schema.feature_paths import path_text
from tideflow.pipeline.schema.reasons import MULTIPLE, Reason, summary
from tideflow.pipeline.schema.statistics_views import DEFAULT_SLICE
from tideflow.pipeline.validation.conditions import holds


def custom_validate_statistics(
    statistics: Any, validations: Any, baseline_statistics: Any | None = None, environment: str | None = None
) -> Any:
    """Finds the features whose statistics break a condition.

    Args:
      statistics: A `DatasetFeatureStatisticsList`. In a condition, a feature of it is `feature`; in one of a
        pair of features it is `feature_test`.
      validations: A `CustomValidationConfig`.
      baseline_statistics: Statistics of the features that pairs name `feature_base`.
      environment: Conditions that name environments are checked in these only.

    Returns:
      An `Anomalies`.

    Raises:
      ValueError: A condition is not one, or statistics that it names are not there.
    """
    result = Anomalies()
    for each in validations.feature_validations:
        found = {"feature": _find(statistics, each.dataset_name, each.feature_path)}
        for validation in each.validations:
            if _in_environment(validation, environment) and not holds(validation.sql_expression, found):
                source = f"Test dataset: {each.dataset_name or 'default slice'}"
                _add(result, each.feature_path, validation, source)
    if validations.feature_pair_validations and baseline_statistics is None:
        raise ValueError(
            "Feature pair validations are included in the CustomValidationConfig "
            "but base_statistics have not been specified."
        )
    for pair in validations.feature_pair_validations:
        found = {
            "feature_test": _find(statistics, pair.dataset_name, pair.feature_test_path),
            "feature_base": _find(baseline_statistics, pair.base_dataset_name, pair.feature_base_path),
        }
        for validation in pair.validations:
            if _in_environment(validation, environment) and not holds(validation.sql_expression, found):
                source = (
                    f"Test dataset: {pair.dataset_name or 'default slice'} Base dataset: "
                    f"{pair.base_dataset_name} Base path: {path_text(pair.feature_base_path.step)}"
                )
                _add(result, pair.feature_test_path, validation, source)
    return result


def _find(statistics: Any, dataset_name: str, path: Any) -> Any:
    named = [dataset for dataset in statistics.datasets if dataset.name == dataset_name]
    if not named and not dataset_name:
        named = [dataset for dataset in statistics.datasets if dataset.name == DEFAULT_SLICE]
    if not named:
        raise ValueError(f"Dataset {dataset_name} specified in validation config not found in statistics.")
    for feature in named[-1].features:
        if list(feature.path.step) == list(path.step):
            return feature
    raise ValueError(
        f"Feature {path_text(path.step)} specified in validation config not found in statistics."
    )


def _in_environment(validation: Any, environment: str | None) -> bool:
    return not validation.in_environment or environment in validation.in_environment


def _add(result: Any, path: Any, validation: Any, source: str) -> None:
    info = result.anomaly_info[path_text(path.step)]
    info.path.step[:] = path.step
    info.severity = max(info.severity, validation.severity)
    info.reason.add(
        type="CUSTOM_VALIDATION",
        short_description=validation.description,
        description=f"Custom validation triggered anomaly. Query: {validation.sql_expression} {source}",
    )


def merge_custom_anomalies(anomalies: Any, custom: Any) -> None:
    """Adds the anomalies of custom validations to others.

    Args:
      anomalies: An `Anomalies`, which is changed.
      custom: What `custom_validate_statistics` returned.
    """
    for path, more in custom.anomaly_info.items():
        known = path in anomalies.anomaly_info
        info = anomalies.anomaly_info[path]
        if not known:
            info.path.CopyFrom(more.path)
        info.severity = max(info.severity, more.severity)
        info.reason.extend(more.reason)
        reasons = [
            Reason(AnomalyInfo.Type.Name(reason.type), reason.short_description, reason.description)
            for reason in info.reason
        ]
        info.short_description, info.description = summary(reasons)
        if len(reasons) > 1:
            info.short_description = MULTIPLE
