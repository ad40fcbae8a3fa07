"""Validation: anomalies of data against a schema, drift and skew, and what would mend each."""

from tideflow.pipeline.messages.anomalies import (
    Anomalies,
    AnomalyInfo,
    CustomValidationConfig,
    ValidationConfig,
)
from tideflow.pipeline.validation.custom import custom_validate_statistics, merge_custom_anomalies
from tideflow.pipeline.validation.examples import (
    AnomalousExample,
    find_anomalous_examples,
    validate_instance,
)
from tideflow.pipeline.validation.fixes import (
    Fix,
    accept,
    fixes,
    has_errors,
    load_anomalies_binary,
    load_anomalies_text,
    write_anomalies_text,
)
from tideflow.pipeline.validation.validate import validate_statistics

__all__ = [
    "AnomalousExample",
    "Anomalies",
    "AnomalyInfo",
    "CustomValidationConfig",
    "Fix",
    "ValidationConfig",
    "accept",
    "custom_validate_statistics",
    "find_anomalous_examples",
    "fixes",
    "has_errors",
    "load_anomalies_binary",
    "load_anomalies_text",
    "merge_custom_anomalies",
    "validate_instance",
    "validate_statistics",
    "write_anomalies_text",
]
