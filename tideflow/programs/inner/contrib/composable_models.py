"""Models of contrib.learn that estimators are composed of: parts of a model, without head and training."""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.learn.dnn import LEARNING_RATE
from tideflow.contrib.learn.linear import learning_rate_of
from tideflow.contrib.learn.modes import ModeKeys
from tideflow.contrib.learn.towers import dnn_logits, linear_logits
from tideflow.platform.deprecation import deprecated

if TYPE_CHECKING:
    from tideflow.graph.operation import Tensor

_LEAST_SLICE = 64 << 20


class _ComposableModel(abc.ABC):
    """A part of a model: its logits, and the operations that train its variables.

    Args:
      num_label_columns: The number of logits.
      optimizer: The optimizer, the name of one, or a function that returns one; the part's own if None.
      gradient_clip_norm: The greatest norm of all gradients together.
      num_ps_replicas: How many parameter servers share large variables.
      scope: The scope of the variables, and the collection that they are in.
      trainable: Whether the variables are trained.
    """

    _own_optimizer: str

    @deprecated(None, "Please use model_fns in tf.estimator.")
    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any,
        gradient_clip_norm: float | None,
        num_ps_replicas: int,
        scope: str,
        trainable: bool = True,
    ):
        self._num_label_columns = num_label_columns
        self._optimizer = optimizer
        self._gradient_clip_norm = gradient_clip_norm
        self._num_ps_replicas = num_ps_replicas
        self._scope = scope
        self._trainable = trainable
        self._feature_columns: Iterable[Any] = ()

    def get_scope_name(self) -> str:
        """The scope of the variables."""
        return self._scope

    @abc.abstractmethod
    def build_model(
        self, features: Mapping[str, Any], feature_columns: Iterable[Any], is_training: bool
    ) -> Tensor:
        """The logits of features, by their columns."""

    def get_train_step(self, loss: Tensor) -> list[Any]:
        """The operations that change the variables by the gradients of a loss."""
        if not self._feature_columns:
            return []
        variables = tf.get_collection(self._scope)
        gradients = tf.gradients(loss, variables)
        if self._gradient_clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self._gradient_clip_norm)
        return [self._get_optimizer().apply_gradients(zip(gradients, variables, strict=True))]

    def _get_feature_columns(self) -> list[Any]:
        return sorted(set(self._feature_columns), key=lambda column: column.key)

    def _get_optimizer(self) -> Any:
        if self._optimizer is None or isinstance(self._optimizer, str):
            make = tf.contrib.layers.OPTIMIZER_CLS_NAMES[self._optimizer or self._own_optimizer]
            return make(learning_rate=self._learning_rate())
        return self._optimizer() if callable(self._optimizer) else self._optimizer

    @abc.abstractmethod
    def _learning_rate(self) -> float:
        """The learning rate of optimizers that are made by name."""

    def _partitioner(self, min_slice_size: int = _LEAST_SLICE) -> Callable:
        return tf.min_max_variable_partitioner(self._num_ps_replicas, min_slice_size=min_slice_size)


class LinearComposableModel(_ComposableModel):
    """A sum of weighted columns. `_joint_weights` keeps the weights of all columns in one variable."""

    _own_optimizer = "Ftrl"

    def __init__(
        self,
        num_label_columns: int,
        optimizer: Any = None,
        _joint_weights: bool = False,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ):
        super().__init__(
            num_label_columns, optimizer, gradient_clip_norm, num_ps_replicas, scope or "linear", trainable
        )
        self._joint_weights = _joint_weights

    def build_model(
        self, features: Mapping[str, Any], feature_columns: Iterable[Any], is_training: bool
    ) -> Tensor:
        self._feature_columns = feature_columns
        with tf.variable_scope(
            self._scope, values=tuple(features.values()), partitioner=self._partitioner()
        ) as scope:
            return linear_logits(
                features,
                self._get_feature_columns(),
                self._num_label_columns,
                self._joint_weights,
                scope,
                self._scope,
                self._trainable,
            )

    def get_weights(self, model_dir: str) -> Any:
        """The weights in a model's newest checkpoint: by name, or the only ones."""
        of_optimizer = re.compile(rf".*/{self._get_optimizer().get_name()}(_\d)?$")
        bias = f"{self._scope}/bias_weight"
        names = [
            name
            for name, _ in tf.train.list_variables(model_dir)
            if name.startswith(f"{self._scope}/") and name != bias and not of_optimizer.match(name)
        ]
        values = {name: tf.train.load_variable(model_dir, name) for name in names}
        return next(iter(values.values())) if len(values) == 1 else values

    def get_bias(self, model_dir: str) -> Any:
        """The bias in a model's newest checkpoint."""
        return tf.train.load_variable(model_dir, f"{self._scope}/bias_weight")

    def _learning_rate(self) -> float:
        return learning_rate_of(self._get_feature_columns())


class DNNComposableModel(_ComposableModel):
    """Dense layers on columns."""

    _own_optimizer = "Adagrad"

    def __init__(
        self,
        num_label_columns: int,
        hidden_units: Sequence[int],
        optimizer: Any = None,
        activation_fn: Callable | None = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        num_ps_replicas: int = 0,
        scope: str | None = None,
        trainable: bool = True,
    ):
        super().__init__(
            num_label_columns, optimizer, gradient_clip_norm, num_ps_replicas, scope or "dnn", trainable
        )
        self._hidden_units = hidden_units
        self._activation_fn = activation_fn
        self._dropout = dropout

    def build_model(
        self, features: Mapping[str, Any], feature_columns: Iterable[Any], is_training: bool
    ) -> Tensor:
        self._feature_columns = feature_columns
        layers = self._partitioner(256 << 10)
        with tf.variable_scope(self._scope, values=tuple(features.values()), partitioner=layers):
            logits, _ = dnn_logits(
                features,
                self._get_feature_columns(),
                self._hidden_units,
                self._num_label_columns,
                self._activation_fn,
                self._dropout,
                ModeKeys.TRAIN if is_training else ModeKeys.EVAL,
                self._partitioner(),
                "/",
                self._scope,
                self._trainable,
            )
            return logits

    def get_weights(self, model_dir: str) -> list[Any]:
        """The weights of all layers in a model's newest checkpoint."""
        return self._of_layers(model_dir, "weights")

    def get_bias(self, model_dir: str) -> list[Any]:
        """The biases of all layers in a model's newest checkpoint."""
        return self._of_layers(model_dir, "biases")

    def _of_layers(self, model_dir: str, name: str) -> list[Any]:
        layers = [*(f"hiddenlayer_{number}" for number in range(len(self._hidden_units))), "logits"]
        return [tf.train.load_variable(model_dir, f"{self._scope}/{layer}/{name}") for layer in layers]

    def _learning_rate(self) -> float:
        return LEARNING_RATE
