"""Training: a function of the user's, with what it usually needs around it.

def run_fn(fn_args):
    transformed = tft.TFTransformOutput(fn_args.transform_output)
    model = tf.estimator.DNNClassifier(..., model_dir=fn_args.model_run_dir)
    rows = trainer.input_fn(fn_args.train_files, transformed, label="tip")
    model.train(rows, max_steps=fn_args.train_steps)
    receiver_fn = trainer.serving_input_receiver_fn(transformed, ["tip"])
    model.export_saved_model(fn_args.serving_model_dir, receiver_fn)
"""

from tideflow.pipeline.trainer.arguments import FnArgs  # noqa: F401
from tideflow.pipeline.trainer.export import (  # noqa: F401
    export_keras_model,
    export_session,
    serving_input_receiver_fn,
)
from tideflow.pipeline.trainer.inputs import dataset, input_fn  # noqa: F401
from tideflow.pipeline.trainer.run import Cluster, run_trainer  # noqa: F401
from tideflow.pipeline.trainer.warm_start import warm_start_settings, warm_start_variables  # noqa: F401
