"""`tf.contrib.tensor_forest`: random forests that grow with the examples they see."""

from tideflow.contrib.tensor_forest import columns, eval_metrics, graphs, hooks, ops, variables  # noqa: F401
from tideflow.export import load_when_asked_for

# Estimators are loaded with these names.
load_when_asked_for(
    "tideflow.contrib.tensor_forest.estimators",
    *(
        f"contrib.tensor_forest.random_forest.{name}"
        for name in (
            "CoreTensorForestEstimator",
            "ModelBuilderOutputType",
            "MultiForestMultiHeadEstimator",
            "TensorForestEstimator",
            "get_combined_model_fn",
            "get_model_fn",
        )
    ),
)
