"""tf.contrib.session_bundle: exports of models in the format that was before SavedModels."""

from tideflow.contrib.session_bundle import exporter, gc, manifest_pb2  # noqa: F401
