"""TensorFlow's modules inside Keras, and where Tideflow keeps what is in each (see `modules.py`)."""

from __future__ import annotations

MODULES: dict[str, str] = {
    "python.keras.activations": "tf.keras.activations",
    "python.keras.backend": "tf.keras.backend inner.keras.backend_names "
    "inner.keras.standalone_names "
    "inner.keras.small_names",
    "python.keras.backend_config": "tf.keras.backend",
    "python.keras.callbacks": "tf.keras.callbacks tideflow.keras.callbacks.base tf.keras.utils "
    "inner.keras.layer_names",
    "python.keras.callbacks_v1": "tf.keras.callbacks",
    "python.keras.ops": "",
    "python.keras.distribute.distribute_strategy_test": "inner.testing.keras_strategy_tests",
    "python.keras.distribute.keras_correctness_test_base": "inner.testing.keras_correctness",
    "python.keras.engine.base_layer": "tf.keras.layers tf.keras tideflow.layers.base tideflow.layers.nodes "
    "tideflow.layers.op_layers tideflow.keras.engine.added",
    "python.keras.engine.base_layer_utils": "inner.keras.engine_names inner.keras.small_names",
    "python.keras.engine.input_spec": "tf.keras.layers inner.keras.engine_names",
    "python.keras.engine.network": "tf.keras.models tf.keras tideflow.keras.engine.network",
    "python.keras.engine.node": "tideflow.layers.nodes",
    "python.keras.engine.training_utils": "inner.keras.training_names "
    "inner.keras.aggregators "
    "inner.keras.small_names",
    "python.keras.engine.data_adapter": "inner.keras.data_adapters",
    "python.keras.keras_parameterized": "inner.testing.keras_modes",
    "python.keras.layers.convolutional": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.convolutional_recurrent": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.cudnn_recurrent": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.dense_attention": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.local": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.merge": "tf.keras.layers tideflow.keras.layers.merge",
    "python.keras.layers.normalization": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.pooling": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.serialization": "tf.keras.layers inner.keras.layer_names",
    "python.keras.layers.normalization_v2": "tideflow.compat.v2.keras.layers",
    "python.keras.layers.recurrent": "tf.keras.layers tideflow.keras.layers.cells "
    "inner.keras.engine_names inner.keras.layer_names",
    "python.keras.layers.rnn_cell_wrapper_v2": "tideflow.compat.v2.nn",
    "python.keras.layers.recurrent_v2": "tideflow.compat.v2.keras.layers",
    "python.keras.losses": "tf.keras.losses tideflow.keras.losses inner.keras.small_names",
    "python.keras.initializers": "tf.keras.initializers inner.keras.layer_names",
    "python.keras.constraints": "tf.keras.constraints inner.keras.layer_names",
    "python.keras.metrics": "tf.keras.metrics tideflow.keras.metrics.metric "
    "tideflow.keras.metrics.accuracies tideflow.keras.losses inner.keras.loss_names "
    "inner.keras.layer_names",
    "python.keras.models": "tf.keras.models inner.keras.engine_names inner.keras.model_names",
    "python.keras.model_subclassing_test_util": "inner.testing.keras_test_models",
    "python.keras.optimizer_v2.learning_rate_schedule": "tf.keras.optimizers.schedules "
    "tideflow.keras.optimizers.schedules",
    "python.keras.saving.saved_model_experimental": "tf.keras.experimental",
    "python.keras.saving.saving_utils": "inner.keras.model_names",
    "python.keras.saving.saved_model": "",
    "python.keras.saving.saved_model.load": "inner.keras.saving_names tf.keras.models",
    "python.keras.saving.saved_model.save": "inner.keras.saving_names tf.keras.models",
    "python.keras.premade": "tf.keras.experimental",
    "python.keras.premade.linear": "tf.keras.experimental",
    "python.keras.premade.wide_deep": "tf.keras.experimental",
    "python.keras.datasets.cifar": "inner.keras.saving_names",
    "python.keras.mixed_precision.experimental.autocast_variable": "inner.keras.layer_names",
    "python.keras.mixed_precision.experimental.policy": "tf.keras.mixed_precision.experimental "
    "inner.keras.layer_names",
    "python.keras.optimizer_v2.rmsprop": "tf.keras.optimizers inner.keras.layer_names",
    "python.keras.utils.metrics_utils": "inner.keras.metric_names",
    "python.keras.utils.mode_keys": "inner.keras.saving_names",
    "python.keras.utils.io_utils": "tf.keras.utils inner.keras.small_names",
    "python.keras.saving.hdf5_format": "inner.keras.saving_names inner.keras.small_names",
    "python.keras.testing_utils": "inner.testing.keras_testing",
    "python.keras.utils.conv_utils": "inner.keras.convolution_names",
    "python.keras.utils.data_utils": "tf.keras.utils inner.keras.utility_names",
    "python.keras.utils.generic_utils": "tf.keras.utils inner.keras.utility_names inner.keras.small_names",
    "python.keras.utils.layer_utils": "tf.keras.utils tideflow.keras.utils.layer_utils",
    "python.keras.utils.losses_utils": "inner.keras.loss_names",
    "python.keras.utils.tf_utils": "tf.contrib.framework inner.keras.layer_utilities "
    "inner.keras.standalone_names inner.keras.engine_names "
    "inner.keras.small_names",
}
