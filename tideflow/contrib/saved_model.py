"""tf.contrib.saved_model: Keras models as SavedModels, by their first names."""

from __future__ import annotations

from tideflow.estimator.keras_models import export_saved_model, load_from_saved_model
from tideflow.export import expose

expose(export_saved_model, "contrib.saved_model.save_keras_model")
expose(load_from_saved_model, "contrib.saved_model.load_keras_model")
