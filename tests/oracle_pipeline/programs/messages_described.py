"""The messages of TensorFlow Metadata have the same fields here, so files are exchanged both ways."""

from descriptors import described

NAMES = {
    "schema": ["Schema"],
    "anomalies": ["Anomalies"],
    "statistics": ["DatasetFeatureStatisticsList", "NaturalLanguageStatistics"],
}


def original(folder):
    import importlib

    from tensorflow_data_validation.anomalies.proto.custom_validation_config_pb2 import CustomValidationConfig
    from tensorflow_data_validation.anomalies.proto.validation_config_pb2 import ValidationConfig

    modules = {name: importlib.import_module(f"tensorflow_metadata.proto.v0.{name}_pb2") for name in NAMES}
    found = {kind: getattr(modules[name], kind) for name, kinds in NAMES.items() for kind in kinds}
    found |= {"CustomValidationConfig": CustomValidationConfig, "ValidationConfig": ValidationConfig}
    return {name: described(message.DESCRIPTOR) for name, message in found.items()}


def ours(folder, answers):
    import importlib

    from tideflow.pipeline.messages.anomalies import CustomValidationConfig, ValidationConfig

    modules = {name: importlib.import_module(f"tideflow.pipeline.messages.{name}") for name in NAMES}
    found = {kind: getattr(modules[name], kind) for name, kinds in NAMES.items() for kind in kinds}
    found |= {"CustomValidationConfig": CustomValidationConfig, "ValidationConfig": ValidationConfig}
    return {name: described(message.DESCRIPTOR) for name, message in found.items()}
