"""`tf.contrib.linear_optimizer`: linear models by stochastic dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.contrib.layers.columns.categories import IdColumn
from tideflow.contrib.layers.columns.numbers import BucketizedColumn, RealValuedColumn
from tideflow.estimator.canned import sdca
from tideflow.estimator.canned.sdca import SparseFeatureColumn, without_duplicates
from tideflow.export import export, expose
from tideflow.feature_column.base import IdWeightPair
from tideflow.graph.operation import Operation

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

expose(SparseFeatureColumn, "contrib.linear_optimizer.SparseFeatureColumn")


@export("contrib.linear_optimizer.SdcaModel")
class SdcaModel(sdca.SdcaModel):
    """A linear model that stochastic dual coordinate ascent trains, with an L2 regularization of 1 at least.

    Args:
      examples: A dictionary: `"sparse_features"`, a list of SparseFeatureColumn; `"dense_features"`, a list
        of matrices; `"example_labels"`, `"example_weights"`, `"example_ids"` (strings), each a vector.
      variables: A dictionary: `"sparse_features_weights"` and `"dense_features_weights"`, lists of variables.
      options: A dictionary: `"loss_type"`, `"symmetric_l1_regularization"`, `"symmetric_l2_regularization"`
        (a smaller one than 1 counts in `regularized_loss` alone); also `"num_loss_partitions"`,
        `"num_table_shards"`, `"adaptive"`.

    Raises:
      ValueError: If something is missing, or a regularization is negative.
    """

    _slot_name = "_unshrinked/SDCAOptimizer"

    def _regularization(self, options: dict[str, Any]) -> tuple[float, float]:
        names = ("symmetric_l1_regularization", "symmetric_l2_regularization")
        for name in names:
            if options[name] < 0.0:
                raise ValueError(f"{name} should be non-negative. Found ({options[name]:f})")
        l1, l2 = (options[name] for name in names)
        return l1, max(l2, 1.0)


@export("contrib.linear_optimizer.SDCAOptimizer")
class SDCAOptimizer:
    """Stochastic dual coordinate ascent, as the optimizer of `tf.contrib.learn`'s linear models.

    Args:
      example_id_column: The feature with the names of the examples, strings.
      num_loss_partitions: The number of workers that train at once.
      num_table_shards: In how many tables the states of the examples are; 1 if None.
      symmetric_l1_regularization: The strength of L1 regularization.
      symmetric_l2_regularization: The strength of L2 regularization; training has 1 at least.
      adaptive: Whether examples are taken the more often the more they would change the model.
      partitioner: A partitioner of the model's variables.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Callable | None = None,
    ):
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive = adaptive
        self.partitioner = partitioner

    def get_name(self) -> str:
        """The name of the optimizer."""
        return "SDCAOptimizer"

    def get_train_step(
        self,
        columns_to_variables: Mapping[Any, list[Any]],
        weight_column_name: str | None,
        loss_type: str,
        features: Mapping[Any, Any],
        targets: TensorLike,
        global_step: VariableLike,
    ) -> tuple[SdcaModel, Operation]:
        """Makes the model and the operation of a training step.

        Args:
          columns_to_variables: The variables of each column of `tf.contrib.layers`.
          weight_column_name: The feature with the weights of the examples.
          loss_type: A loss of SdcaModel.
          features: The features by name, and the transformed ones by column.
          targets: The labels.
          global_step: The global step.

        Returns:
          The model and the operation.

        Raises:
          ValueError: If a column is of another kind than a number, buckets or sparse ids.
        """
        examples: dict[str, Any] = {"sparse_features": [], "dense_features": []}
        weights: dict[str, Any] = {"sparse_features_weights": [], "dense_features_weights": []}
        for column in sorted(columns_to_variables, key=lambda column: column.key):
            values = _values_of(column, features[column])
            kind = "sparse_features" if isinstance(values, SparseFeatureColumn) else "dense_features"
            variables = columns_to_variables[column]
            whole = kind == "dense_features" or len(variables) == 1
            examples[kind].append(values)
            weights[f"{kind}_weights"].append(variables[0] if whole else variables)
        targets = tf.convert_to_tensor(targets)
        if weight_column_name:
            examples["example_weights"] = tf.reshape(features[weight_column_name], [-1])
        else:
            examples["example_weights"] = tf.ones([tf.shape(targets)[0]])
        examples["example_labels"] = tf.cast(tf.reshape(targets, [-1]), tf.float32)
        examples["example_ids"] = features[self.example_id_column]
        options = {
            "loss_type": loss_type,
            "symmetric_l1_regularization": self.symmetric_l1_regularization,
            "symmetric_l2_regularization": self.symmetric_l2_regularization,
            "adaptive": self.adaptive,
            "num_loss_partitions": self.num_loss_partitions,
            "num_table_shards": self.num_table_shards,
        }
        model = SdcaModel(examples, weights, options)
        return model, model.minimize(global_step)


def _values_of(column: Any, transformed: Any) -> Any:
    """What the model gets of a column: a matrix, or the ids of each example."""
    if isinstance(column, RealValuedColumn):
        return tf.reshape(transformed, [tf.shape(transformed)[0], -1])
    if isinstance(column, BucketizedColumn):
        return without_duplicates(IdWeightPair(column.to_sparse_tensor(transformed), None))
    if isinstance(column, IdColumn):
        return without_duplicates(
            IdWeightPair(column.id_tensor(transformed), column.weight_tensor(transformed))
        )
    raise ValueError(f"SDCAOptimizer does not support column type _{type(column).__name__}.")
