"""The messages of an export: which tensors a server feeds and fetches, and which files it needs."""

from __future__ import annotations

from tideflow.export import expose
from tideflow.graph.own_protos import make_messages

_messages = make_messages(
    "session_bundle_manifest",
    {
        "TensorBinding": {"tensor_name": "string"},
        "RegressionSignature": {"input": "TensorBinding", "output": "TensorBinding"},
        "ClassificationSignature": {
            "input": "TensorBinding",
            "classes": "TensorBinding",
            "scores": "TensorBinding",
        },
        "GenericSignature": {"map": "map TensorBinding"},
        "Signature": {
            "regression_signature": "oneof type RegressionSignature",
            "classification_signature": "oneof type ClassificationSignature",
            "generic_signature": "oneof type GenericSignature",
        },
        "Signatures": {"default_signature": "Signature", "named_signatures": "map Signature"},
        "AssetFile": {"tensor_binding": "TensorBinding", "filename": "string"},
    },
)
_WORDS = {
    "TensorBinding": "A tensor of the graph, by its name.",
    "RegressionSignature": "What a regression takes and gives.",
    "ClassificationSignature": "What a classification takes, and the classes and scores that it gives.",
    "GenericSignature": "Tensors by the names that a server uses.",
    "Signature": "One of the three kinds of signatures.",
    "Signatures": "The signatures of an export: the default one, and those with names.",
    "AssetFile": "A file of an export, and the tensor that takes its path.",
}
for _name, _message in _messages.items():
    _message.__doc__ = _WORDS[_name]
    expose(_message, f"contrib.session_bundle.manifest_pb2.{_name}")

AssetFile, Signature, Signatures = (_messages[name] for name in ("AssetFile", "Signature", "Signatures"))
