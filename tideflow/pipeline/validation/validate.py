"""Statistics are validated against a schema: anomalies, each with the change of the schema that mends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tideflow.pipeline.messages.anomalies import Anomalies, AnomalyInfo, ValidationConfig
from tideflow.pipeline.messages.schema import Schema
from tideflow.pipeline.schema.editing import SchemaParts
from tideflow.pipeline.schema.feature_paths import path_text
from tideflow.pipeline.schema.fitting import FittedSchema
from tideflow.pipeline.schema.reasons import Reason, summary
from tideflow.pipeline.schema.statistics_views import DatasetView, FeatureView, Steps, default_dataset
from tideflow.pipeline.validation.custom import custom_validate_statistics, merge_custom_anomalies
from tideflow.pipeline.validation.diffs import diff_regions

_ERROR, _WARNING = AnomalyInfo.ERROR, AnomalyInfo.WARNING


def validate_statistics(
    statistics: Any,
    schema: Any,
    environment: str | None = None,
    previous_statistics: Any | None = None,
    serving_statistics: Any | None = None,
    custom_validation_config: Any | None = None,
    *,
    previous_version_statistics: Any | None = None,
    validation_config: Any | None = None,
) -> Any:
    """Finds what in statistics a schema does not accept.

    Args:
      statistics: A `DatasetFeatureStatisticsList`: of one dataset, or of slices among which is that of all
        examples.
      schema: A `Schema`.
      environment: One of the schema's default environments: features that are not in it are not expected.
      previous_statistics: Statistics of the data of an earlier span, for features with a drift comparator.
      serving_statistics: Statistics of the data that were served, for features with a skew comparator.
      custom_validation_config: A `CustomValidationConfig`, with conditions that people write for statistics;
        those of pairs of features compare with `previous_statistics`.
      previous_version_statistics: Statistics of an earlier version of the span, for the comparator of the
        number of examples.
      validation_config: A `ValidationConfig`, with severities by the type of an anomaly.

    Returns:
      An `Anomalies`. Each anomaly's `diff_regions` turn the schema's text into one that accepts the data.

    Raises:
      ValueError: The schema does not have the environment, or there are slices but not that of all examples.
    """
    if environment is not None and environment not in schema.default_environment:
        raise ValueError(f"Environment {environment} not found in the schema.")
    dataset = default_dataset(statistics)
    result = Anomalies(baseline=schema)
    if dataset.num_examples:
        controls = previous_statistics, serving_statistics, previous_version_statistics
        config = validation_config or ValidationConfig()
        _Validation(schema, config, result).run(_view(dataset, environment, *controls))
    else:
        result.data_missing = True
    if custom_validation_config is not None:
        custom = custom_validate_statistics(
            statistics, custom_validation_config, previous_statistics, environment
        )
        merge_custom_anomalies(result, custom)
    return result


def _view(dataset: Any, environment: str | None, *controls: Any | None) -> DatasetView:
    by_weight = DatasetView(dataset).has_weights

    def control(statistics: Any | None) -> DatasetView | None:
        """Data without rows and columns are nothing to compare with, as if they were not given."""
        other = None if statistics is None else default_dataset(statistics)
        if other is None or not other.ByteSize():
            return None
        return DatasetView(other, by_weight=by_weight, environment=environment)

    previous, serving, version = map(control, controls)
    return DatasetView(
        dataset,
        by_weight=by_weight,
        environment=environment,
        previous=previous,
        serving=serving,
        previous_version=version,
    )


class _Validation:
    """Finds the anomalies of one dataset."""

    def __init__(self, schema: Any, config: Any, result: Any) -> None:
        self._baseline = FittedSchema(schema)
        self._parts = _parts_by_name(schema)
        self._texts = SchemaParts()
        self._old_texts = self._texts(schema)
        self._config = config
        self._result = result
        self._found: dict[Steps, tuple[list[Reason], Any]] = {}
        self._drift_and_skew: dict[Steps, Any] = {}

    def run(self, view: DatasetView) -> None:
        self._result.anomaly_name_format = Anomalies.AnomalyNameFormat.Value("SERIALIZED_PATH")
        for feature in view.roots:
            self._check(feature)
        for path in self._baseline.missing_paths(view):
            fitted = self._copy()
            fitted.drop(path)
            reason = Reason("SCHEMA_MISSING_COLUMN", "Column dropped", "Column is completely missing")
            if self._severity([reason]):
                self._found[path] = [reason], fitted.schema
        for path, (reasons, fitted_schema) in sorted(self._found.items()):
            info = self._result.anomaly_info[path_text(path)]
            self._describe(info, reasons, fitted_schema, self._severity(reasons))
            info.path.step.extend(path)
        fitted = self._copy()
        reasons = fitted.fit_dataset(view)
        if reasons:
            self._describe(self._result.dataset_anomaly_info, reasons, fitted.schema, _ERROR)
        self._result.drift_skew_info.extend(found for _, found in sorted(self._drift_and_skew.items()))

    def _copy(self) -> FittedSchema:
        return FittedSchema(self._baseline.schema)

    def _check(self, view: FeatureView) -> None:
        path = view.path
        part = FittedSchema(self._parts.get(path[0], Schema()))
        if not part.knows(path):
            fitted = self._copy()
            reasons = fitted.fit_recursively(view)
            if reasons:
                self._found[path] = reasons, fitted.schema
            return
        if part.skips(path):
            return
        reasons, drift_and_skew = part.fit_feature(view)
        if drift_and_skew is not None:
            self._drift_and_skew[path] = drift_and_skew
        if reasons and self._severity(reasons):  # an unknown severity silences an anomaly
            fitted = self._copy()
            fitted.fit_feature(view)
            self._found[path] = reasons, fitted.schema
            if fitted.skips(path):
                return
        for child in view.children:
            self._check(child)

    def _severity(self, reasons: Iterable[Reason]) -> int:
        severities = []
        for reason in reasons:
            new = reason.type == "SCHEMA_NEW_COLUMN" and self._config.new_features_are_warnings
            severity = _WARNING if new else _ERROR
            for override in self._config.severity_overrides:
                if AnomalyInfo.Type.Name(override.type) == reason.type:
                    severity = override.severity
            severities.append(severity)
        return int(max(severities))

    def _describe(self, info: Any, reasons: Sequence[Reason], fitted_schema: Any, severity: int) -> None:
        if all(reason.type == "SCHEMA_NEW_COLUMN" for reason in reasons):
            reasons = reasons[:1]  # a new struct is one anomaly, whatever is in it
        info.reason.extend(
            AnomalyInfo.Reason(type=reason.type, short_description=reason.short, description=reason.long)
            for reason in reasons
        )
        info.short_description, info.description = summary(reasons)
        info.severity = severity
        info.diff_regions.extend(diff_regions(self._old_texts, self._texts(fitted_schema)))


def _parts_by_name(schema: Any) -> dict[str, Any]:
    """By the name of a feature at the top: a schema of it alone, with what it refers to.

    Most features have no anomaly, and their part is all that is copied for them.
    """
    domains = {domain.name: domain for domain in schema.string_domain}
    parts: dict[str, Any] = {}
    for field in ("feature", "sparse_feature", "weighted_feature"):
        for feature in getattr(schema, field):
            part = parts.setdefault(feature.name, Schema(default_environment=schema.default_environment))
            getattr(part, field).append(feature)
            if field == "feature":
                names = dict.fromkeys(_domain_names(feature))
                part.string_domain.extend(domains[name] for name in names if name in domains)
    return parts


def _domain_names(feature: Any) -> Iterator[str]:
    kind = feature.WhichOneof("domain_info")
    if kind == "domain":
        yield feature.domain
    elif kind == "struct_domain":
        for child in feature.struct_domain.feature:
            yield from _domain_names(child)
