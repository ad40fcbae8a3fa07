"""Support vector machines of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tideflow.contrib.learn import head as heads
from tideflow.contrib.learn.canned import EXPORT, CannedEstimator
from tideflow.contrib.learn.estimator import AS_ITERABLE
from tideflow.contrib.learn.linear import sdca_model_fn
from tideflow.contrib.learn.modes import PredictionKey
from tideflow.contrib.learn.run_config import RunConfig
from tideflow.contrib.linear_optimizer import SDCAOptimizer
from tideflow.export import export
from tideflow.platform.deprecation import deprecated, deprecated_arg_values


@export("contrib.learn.SVM")
class SVM(CannedEstimator):
    """A linear support vector machine for two classes, trained by stochastic dual coordinate ascent.

    Args:
      example_id_column: The feature with the names of the examples, strings.
      feature_columns: The feature columns, of `tf.contrib.layers`: numbers, buckets or sparse ids.
      weight_column_name: The key of the weights among the features.
      model_dir: The directory of the model.
      l1_regularization: The strength of L1 regularization.
      l2_regularization: The strength of L2 regularization; training has 1 at least.
      num_loss_partitions: The number of workers that train at once.
      kernels: Must be None: there are linear machines only. See `tf.contrib.kernel_methods` for others.
      config: A RunConfig.
      feature_engineering_fn: A function of features and labels that returns those which the model gets.

    Raises:
      ValueError: If kernels are given.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Sequence[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: Any = None,
        config: RunConfig | None = None,
        feature_engineering_fn: Callable | None = None,
    ):
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        self._feature_columns = feature_columns
        optimizer = SDCAOptimizer(
            example_id_column,
            num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        params = {
            "head": heads.binary_svm_head(weight_column_name=weight_column_name),
            "feature_columns": feature_columns,
            "optimizer": optimizer,
            "weight_column_name": weight_column_name,
        }
        super().__init__(sdca_model_fn, model_dir, config, params, feature_engineering_fn)

    @deprecated_arg_values(*AS_ITERABLE, as_iterable=False)
    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts classes.

        Args:
          x: The features, as an array or an iterator; instead of `input_fn`.
          input_fn: A function that returns the tensors of features.
          batch_size: The number of examples in a step; with `x` only, and then all if None.
          as_iterable: Whether an iterator is returned.

        Returns:
          The classes: an iterator over them, or all together.
        """
        return self._predict_one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    @deprecated(*EXPORT)
    def export(
        self,
        export_dir: str,
        signature_fn: Callable | None = None,
        input_fn: Callable | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> Any:
        """Writes the model in the older format of `tf.contrib.session_bundle`.

        Args:
          export_dir: Where to make the directory.
          signature_fn: A function of Examples, features and predictions that returns the default signature
            and those by name.
          input_fn: A function that returns features and labels; by default Examples are parsed for the
            feature columns.
          default_batch_size: The number of Examples in a batch; any if None.
          exports_to_keep: How many of the newest exports are kept; all if None.

        Returns:
          The path of the directory.
        """
        return self._export(
            export_dir,
            input_fn,
            signature_fn=signature_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )
