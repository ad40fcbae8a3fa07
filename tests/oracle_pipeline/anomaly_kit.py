"""Validations by TFDV and by Tideflow: a case is a schema, statistics as text, and what else is said."""

from crashes import CRASH, survive
from google.protobuf import text_format
from messages import fields

CONTROLS = ("previous", "serving", "previous_version")


def original_answers(cases):
    """TFDV's anomalies and updated schemas, by case."""
    import tensorflow_data_validation as tfdv
    from tensorflow_data_validation.anomalies.proto import validation_config_pb2
    from tensorflow_data_validation.api import validation_api, validation_options
    from tensorflow_metadata.proto.v0 import anomalies_pb2, schema_pb2, statistics_pb2

    def statistics(text):
        return text_format.Parse(text, statistics_pb2.DatasetFeatureStatisticsList())

    def answer(case):
        schema = text_format.Parse(case["schema"], schema_pb2.Schema())
        overrides = [
            validation_config_pb2.SeverityOverride(
                type=anomalies_pb2.AnomalyInfo.Type.Value(kind),
                severity=anomalies_pb2.AnomalyInfo.Severity.Value(severity),
            )
            for kind, severity in case.get("overrides", {}).items()
        ]
        options = validation_options.ValidationOptions(
            features_needed=None,
            new_features_are_warnings=case.get("new_features_are_warnings", False),
            severity_overrides=overrides,
        )
        controls = [statistics(case[name]) if name in case else None for name in CONTROLS]
        found = statistics(case["statistics"])
        environment = case.get("environment")
        validate, update = validation_api.validate_statistics_internal, tfdv.update_schema
        return {
            "anomalies": survive(lambda: fields(validate(found, schema, environment, *controls, options))),
            "updated": survive(lambda: text_format.MessageToString(update(schema, found))),
        }

    return {name: answer(case) for name, case in cases.items()}


def our_answers(cases, answers):
    """Tideflow's, by case; where the original aborted, any answer will do."""
    from tideflow.pipeline import schema as schemas
    from tideflow.pipeline.messages.anomalies import ValidationConfig
    from tideflow.pipeline.messages.schema import Schema
    from tideflow.pipeline.messages.statistics import DatasetFeatureStatisticsList
    from tideflow.pipeline.validation import validate_statistics

    def statistics(text):
        return text_format.Parse(text, DatasetFeatureStatisticsList())

    def answer(case):
        schema = text_format.Parse(case["schema"], Schema())
        overrides = case.get("overrides", {}).items()
        config = ValidationConfig(
            new_features_are_warnings=case.get("new_features_are_warnings", False),
            severity_overrides=[{"type": kind, "severity": severity} for kind, severity in overrides],
        )
        previous, serving, version = (statistics(case[name]) if name in case else None for name in CONTROLS)
        found = validate_statistics(
            statistics(case["statistics"]),
            schema,
            case.get("environment"),
            previous,
            serving,
            previous_version_statistics=version,
            validation_config=config,
        )
        for info in [*found.anomaly_info.values(), found.dataset_anomaly_info]:
            info.ClearField("diff_regions")  # which the original leaves empty
        if not found.dataset_anomaly_info.reason:
            found.ClearField("dataset_anomaly_info")
        updated = schemas.update_schema(schema, statistics(case["statistics"]))
        return {"anomalies": fields(found), "updated": schemas.schema_text(updated)}

    def or_crash(name, answered):
        return {key: CRASH if answers[name][key] == CRASH else answered[key] for key in answered}

    return {name: or_crash(name, answer(case)) for name, case in cases.items()}
