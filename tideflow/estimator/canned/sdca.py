"""Linear models by stochastic dual coordinate ascent: the model, and the optimizer of linear estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tideflow as tf
from tideflow.export import export
from tideflow.feature_column.base import CategoricalColumn, DenseColumn, IdWeightPair, Inputs, Weights
from tideflow.graph.operation import Operation, Tensor
from tideflow.lookup.mutable import DenseHashTable
from tideflow.ops.state.sdca import sdca_fprint_op, sdca_optimizer_v2_op
from tideflow.platform import logging
from tideflow.variables.partitioned import PartitionedVariable

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike, VariableLike

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_WEIGHTS = ("sparse_features_weights", "dense_features_weights")


class SparseFeatureColumn:
    """A sparse feature of a batch: which examples have which features, and with which values.

    Args:
      example_indices: The examples, a vector of int64 in ascending order.
      feature_indices: Their features, a vector of int64.
      feature_values: The values of the features; 1 if None.
    """

    def __init__(
        self,
        example_indices: TensorLike,
        feature_indices: TensorLike,
        feature_values: TensorLike | None,
    ):
        with tf.name_scope(None, "SparseFeatureColumn", [example_indices, feature_indices]):
            self._example_indices = tf.convert_to_tensor(example_indices, tf.int64, name="example_indices")
            self._feature_indices = tf.convert_to_tensor(feature_indices, tf.int64, name="feature_indices")
            self._feature_values = None
            if feature_values is not None:
                self._feature_values = tf.convert_to_tensor(feature_values, tf.float32, name="feature_values")

    @property
    def example_indices(self) -> Tensor:
        """The examples."""
        return self._example_indices

    @property
    def feature_indices(self) -> Tensor:
        """The features."""
        return self._feature_indices

    @property
    def feature_values(self) -> Tensor | None:
        """The values, or None."""
        return self._feature_values


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, (list, PartitionedVariable)) else [variable]


def _whole(variable: Any) -> Tensor:
    parts = _parts(variable)
    return tf.concat(parts, axis=0) if len(parts) > 1 else tf.convert_to_tensor(parts[0])


def _check_given(items: Sequence[str], where: Mapping[str, Any]) -> None:
    for item in items:
        if where[item] is None:
            raise ValueError(f"{item} must be specified.")
        if item.startswith(("sparse_", "dense_")) and not isinstance(where[item], list):
            raise ValueError(f"{item} must be a list.")


class _Table:
    """The state of examples by their fingerprints, in several tables."""

    def __init__(self, shards: int):
        self._shards = [
            DenseHashTable(
                tf.int64,
                tf.float32,
                [0.0] * 4,
                [0, 0],
                [1, 1],
                name=f"ShardedMutableHashTable-{i + 1}-of-{shards}",
            )
            for i in range(shards)
        ]

    def _shard_of(self, keys: Tensor) -> Tensor:
        return tf.cast(
            tf.math.mod(tf.reshape(tf.slice(keys, [0, 0], [-1, 1]), [-1]), len(self._shards)), tf.int32
        )

    def size(self) -> Tensor:
        return tf.add_n([shard.size() for shard in self._shards])

    def lookup(self, keys: Tensor) -> Tensor:
        if len(self._shards) == 1:
            return self._shards[0].lookup(keys)
        places = self._shard_of(keys)
        parts = tf.dynamic_partition(keys, places, len(self._shards))
        found = [shard.lookup(part) for shard, part in zip(self._shards, parts, strict=True)]
        rows = tf.dynamic_partition(tf.range(tf.shape(places)[0]), places, len(self._shards))
        stitched = tf.dynamic_stitch(rows, found)
        stitched.set_shape([None, 4])
        return stitched

    def insert(self, keys: Tensor, values: Tensor) -> Operation:
        if len(self._shards) == 1:
            return self._shards[0].insert(keys, values)
        places = self._shard_of(keys)
        keys, values = (tf.dynamic_partition(each, places, len(self._shards)) for each in (keys, values))
        return tf.group(*[s.insert(k, v) for s, k, v in zip(self._shards, keys, values, strict=True)])

    def sums(self) -> Tensor:
        """The sums of all states. Empty buckets count as zeros."""
        return tf.add_n([tf.reduce_sum(tf.cast(s.export()[1], tf.float64), 0) for s in self._shards])


class SdcaModel:
    """A linear model that stochastic dual coordinate ascent trains.

    Args:
      examples: A dictionary: `"sparse_features"`, a list of SparseFeatureColumn; `"dense_features"`, a list
        of matrices; `"example_labels"`, `"example_weights"`, `"example_ids"` (strings), each a vector.
      variables: A dictionary: `"sparse_features_weights"` and `"dense_features_weights"`, lists of variables.
      options: A dictionary: `"loss_type"`, `"symmetric_l1_regularization"`, `"symmetric_l2_regularization"`;
        also `"num_loss_partitions"`, `"num_table_shards"`, `"adaptive"`.

    Raises:
      ValueError: If something is missing, or a regularization is out of its range.
    """

    def __init__(
        self, examples: dict[str, Any], variables: dict[str, list[VariableLike]], options: dict[str, Any]
    ):
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in _LOSSES:
            raise ValueError("Unsupported loss_type: ", options["loss_type"])
        _check_given(["example_labels", "example_weights", "example_ids"], examples)
        _check_given(["sparse_features", "dense_features"], examples)
        _check_given(_WEIGHTS, variables)
        _check_given(["loss_type"], options)
        self._l1, self._l2 = self._regularization(options)
        self._examples, self._options = examples, options
        self._weights = [variable for name in _WEIGHTS for variable in variables[name]]
        self._sparse_count = len(variables["sparse_features_weights"])
        self._unshrunk = [[self._slot(part) for part in _parts(variable)] for variable in self._weights]
        self._table = _Table(options.get("num_table_shards") or 1)
        tf.summary.scalar("approximate_duality_gap", self.approximate_duality_gap())
        tf.summary.scalar("examples_seen", self._table.size())

    def _regularization(self, options: dict[str, Any]) -> tuple[float, float]:
        """The strengths of L1 and L2 regularization in training."""
        l1, l2 = options["symmetric_l1_regularization"], options["symmetric_l2_regularization"]
        if l2 <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")
        if l2 <= 1.0:
            logging.warning(
                "symmetric_l2_regularization for SDCA should typically be larger than for online "
                "optimization methods. Recommended value is of the order of the average L2 norm of the "
                "training examples."
            )
        if l1 < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")
        return l1, l2

    _slot_name = "_unshrunk"  # after the name of the variable

    def _slot(self, variable: Any) -> Any:
        with tf.device(variable.device):
            zeros = tf.zeros_like(variable.initialized_value(), tf.float32)
            return tf.Variable(zeros, name=f"{variable.op.name}{self._slot_name}")

    def minimize(self, global_step: VariableLike | None = None, name: str | None = None) -> Operation:
        """Makes the operation of a training step.

        Args:
          global_step: A variable to add 1 to.
          name: A name for the operation.

        Returns:
          The operation. It changes weights that `update_weights` takes over.
        """
        examples, options = self._examples, self._options
        with tf.name_scope(name, "sdca/minimize"):
            columns = examples["sparse_features"]
            values = [c.feature_values for c in columns if c.feature_values is not None]
            keys = sdca_fprint_op(tf.convert_to_tensor(examples["example_ids"]))
            sparse, dense = self._unshrunk[: self._sparse_count], self._unshrunk[self._sparse_count :]
            used = [tf.unique(column.feature_indices)[0] for column in columns]
            weights = [
                tf.reshape(tf.gather(_whole(slot), ids), [-1]) for slot, ids in zip(sparse, used, strict=True)
            ]
            outputs = sdca_optimizer_v2_op(
                [column.example_indices for column in columns],
                [column.feature_indices for column in columns],
                values,
                [tf.convert_to_tensor(each) for each in examples["dense_features"]],
                tf.convert_to_tensor(examples["example_weights"]),
                tf.convert_to_tensor(examples["example_labels"]),
                used,
                weights,
                [_whole(slot) for slot in dense],
                self._table.lookup(keys),
                loss_type=options["loss_type"],
                l1=self._l1,
                l2=self._l2,
                num_loss_partitions=options.get("num_loss_partitions", 1),
                num_inner_iterations=1,
                adaptive=options.get("adaptive", True),
            )
            state, sparse_changes, dense_changes = outputs
            with tf.control_dependencies([state]):
                updates = [self._table.insert(keys, state)]
                for slot, ids, change in zip(sparse, used, sparse_changes, strict=True):
                    updates += _add_rows(slot, ids, change)
                for slot, change in zip(dense, dense_changes, strict=True):
                    updates += _add_all(slot, change)
            if global_step is None:
                return tf.group(*updates)
            with tf.control_dependencies(updates):
                return tf.assign_add(global_step, 1, name=name).op

    def update_weights(self, train_op: Operation) -> Operation:
        """Makes the operation that takes over the trained weights, shrunk by the L1 penalty.

        Args:
          train_op: The operation of a training step, after which it runs.

        Returns:
          The operation.
        """
        updates = []
        for variable, slots in zip(self._weights, self._unshrunk, strict=True):
            for part, slot in zip(_parts(variable), slots, strict=True):
                with tf.control_dependencies([train_op]), tf.device(part.device):
                    value = slot.read_value()
                    if self._l1 > 0:
                        value = tf.sign(value) * tf.maximum(0.0, tf.abs(value) - self._l1 / self._l2)
                    updates.append(part.assign(value))
        return tf.group(*updates)

    def _norms(self, function: Any) -> Tensor:
        parts = [part for variable in self._weights for part in _parts(variable)]
        return tf.add_n([tf.reduce_sum(function(tf.cast(part, tf.float64))) for part in parts])

    def _l1_loss(self) -> Tensor:
        with tf.name_scope("sdca/l1_loss"):
            return self._l1 * self._norms(tf.abs)

    def _l2_loss(self, l2: float) -> Tensor:
        with tf.name_scope("sdca/l2_loss"):
            return l2 * self._norms(tf.square) / 2.0

    def approximate_duality_gap(self) -> Tensor:
        """Computes how far the model is from the best one, by the examples seen so far.

        Returns:
          A scalar of float64.
        """
        with tf.name_scope("sdca/approximate_duality_gap"):
            sums = self._table.sums()
            primal, dual, weights = sums[1], sums[2], sums[3]
            return (primal + dual + self._l1_loss() + 2.0 * self._l2_loss(self._l2)) / weights

    def _linear_predictions(self, examples: dict[str, Any]) -> Tensor:
        with tf.name_scope("sdca/prediction"):
            batch_size = tf.shape(examples["example_weights"])[0]
            total = tf.zeros([batch_size])
            sparse, dense = self._weights[: self._sparse_count], self._weights[self._sparse_count :]
            for column, variable in zip(examples["sparse_features"], sparse, strict=True):
                products = tf.reshape(tf.gather(_whole(variable), column.feature_indices), [-1])
                if column.feature_values is not None:
                    products *= column.feature_values
                total += tf.unsorted_segment_sum(products, column.example_indices, batch_size)
            for rows, variable in zip(examples["dense_features"], dense, strict=True):
                weights = tf.reshape(_whole(variable), [-1, 1])
                total += tf.squeeze(tf.matmul(tf.convert_to_tensor(rows), weights), axis=1)
            return total

    def predictions(self, examples: dict[str, Any]) -> Tensor:
        """Predicts: probabilities for the logistic loss, expected counts for the Poisson loss, else numbers.

        Args:
          examples: A dictionary as for the model; labels and ids are not needed.

        Returns:
          A vector.
        """
        _check_given(["example_weights", "sparse_features", "dense_features"], examples)
        link = {"logistic_loss": tf.sigmoid, "poisson_loss": tf.exp}.get(
            self._options["loss_type"], tf.identity
        )
        return link(self._linear_predictions(examples))

    def unregularized_loss(self, examples: dict[str, Any]) -> Tensor:
        """Computes the mean loss of examples.

        Args:
          examples: A dictionary as for the model; ids are not needed.

        Returns:
          A scalar of float64.
        """
        _check_given(["example_labels", "example_weights", "sparse_features", "dense_features"], examples)
        with tf.name_scope("sdca/unregularized_loss"):
            predicted = tf.cast(self._linear_predictions(examples), tf.float64)
            labels = tf.cast(tf.convert_to_tensor(examples["example_labels"]), tf.float64)
            weights = tf.cast(tf.convert_to_tensor(examples["example_weights"]), tf.float64)
            loss_type = self._options["loss_type"]
            if loss_type == "logistic_loss":
                losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=predicted)
            elif loss_type == "poisson_loss":
                losses = tf.nn.log_poisson_loss(labels, predicted)
            elif loss_type == "squared_loss":
                losses = tf.square(labels - predicted) / 2.0
            else:
                losses = tf.nn.relu(1.0 - (2.0 * labels - 1.0) * predicted)
            return tf.reduce_sum(losses * weights) / tf.reduce_sum(weights)

    def regularized_loss(self, examples: dict[str, Any]) -> Tensor:
        """Computes the mean loss of examples, and the regularization losses of the weights.

        Args:
          examples: A dictionary as for the model; ids are not needed.

        Returns:
          A scalar of float64.
        """
        with tf.name_scope("sdca/regularized_loss"):
            weights = tf.cast(tf.convert_to_tensor(examples["example_weights"]), tf.float64)
            l2 = self._options["symmetric_l2_regularization"]  # what was asked for, if training has more
            penalty = (self._l1_loss() + self._l2_loss(l2)) / tf.reduce_sum(weights)
            return penalty + self.unregularized_loss(examples)


def _add_rows(slots: list[Any], ids: Tensor, change: Tensor) -> list[Any]:
    """Adds to some rows of a variable that may be in parts."""
    if len(slots) == 1:
        shape = tf.concat([tf.shape(change), tf.shape(slots[0])[1:]], 0)
        return [tf.scatter_add(slots[0], ids, tf.reshape(change, shape))]
    sizes = [part.shape.as_list()[0] for part in slots]
    return _add_all(slots, tf.unsorted_segment_sum(change, ids, sum(sizes)))


def _add_all(slots: list[Any], change: Tensor) -> list[Any]:
    """Adds to all of a variable that may be in parts."""
    sizes = [part.shape.as_list()[0] for part in slots]
    changes = tf.split(change, sizes) if len(slots) > 1 else [change]
    return [tf.assign_add(p, tf.reshape(c, tf.shape(p))) for p, c in zip(slots, changes, strict=True)]


@export("estimator.experimental.LinearSDCA")
class LinearSDCA:
    """Stochastic dual coordinate ascent, as the optimizer of LinearClassifier and LinearRegressor.

    Args:
      example_id_column: The feature with the names of the examples, strings.
      num_loss_partitions: The number of workers that train at once.
      num_table_shards: In how many tables the states of the examples are; 1 if None.
      symmetric_l1_regularization: The strength of L1 regularization.
      symmetric_l2_regularization: The strength of L2 regularization, which must be positive.
      adaptive: Whether examples are taken the more often the more they would change the model.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ):
        self._example_id_column = example_id_column
        self._options = {
            "num_loss_partitions": num_loss_partitions,
            "num_table_shards": num_table_shards,
            "symmetric_l1_regularization": symmetric_l1_regularization,
            "symmetric_l2_regularization": symmetric_l2_regularization,
            "adaptive": adaptive,
        }

    def get_train_step(
        self,
        state_manager: Any,
        weight_column_name: str | None,
        loss_type: str,
        feature_columns: Sequence[Any],
        features: Mapping[str, Any],
        targets: TensorLike,
        bias_var: VariableLike,
        global_step: VariableLike,
    ) -> tuple[SdcaModel, Operation]:
        """Makes the model and the operation of a training step.

        Args:
          state_manager: An object whose `get_variable(column, "weights")` gives the weights of a column.
          weight_column_name: The feature with the weights of the examples.
          loss_type: A loss of SdcaModel.
          feature_columns: The feature columns.
          features: The features by name.
          targets: The labels.
          bias_var: The bias.
          global_step: The global step.

        Returns:
          The model and the operation.

        Raises:
          ValueError: If a column is neither dense, of rank 1, nor categorical.
        """
        batch_size, inputs = tf.shape(targets)[0], Inputs(features)
        sparse, sparse_weights, dense, dense_weights = [], [], [], []
        for column in sorted(feature_columns, key=lambda column: column.name):
            weights = state_manager.get_variable(column, "weights")
            if isinstance(column, CategoricalColumn):
                sparse.append(without_duplicates(column.get_sparse_tensors(inputs)))
                sparse_weights.append(weights)
                continue
            if not isinstance(column, DenseColumn):
                raise ValueError(f"LinearSDCA does not support column type {type(column).__name__}.")
            if column.variable_shape.ndims != 1:
                raise ValueError(
                    f"Column {type(column).__name__} has rank {column.variable_shape.ndims}, larger than 1."
                )
            dense.append(column.get_dense_tensor(inputs, Weights.of_model(None, True)))
            dense_weights.append(weights)
        dense.append(tf.ones([batch_size, 1]))
        dense_weights.append(bias_var)
        if weight_column_name:
            example_weights = tf.reshape(features[weight_column_name], [-1])
        else:
            example_weights = tf.ones([batch_size])
        examples = {
            "sparse_features": sparse,
            "dense_features": dense,
            "example_labels": tf.cast(tf.reshape(targets, [-1]), tf.float32),
            "example_weights": example_weights,
            "example_ids": features[self._example_id_column],
        }
        variables = {"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights}
        model = SdcaModel(examples, variables, {**self._options, "loss_type": loss_type})
        return model, model.minimize(global_step)


def without_duplicates(pair: IdWeightPair) -> SparseFeatureColumn:
    """The ids of a categorical column, without negative ones; the values of equal ones are added."""
    ids = pair.id_tensor
    values = (
        pair.weight_tensor.values if pair.weight_tensor is not None else tf.ones([tf.shape(ids.indices)[0]])
    )
    is_valid = ids.values >= 0
    examples = tf.boolean_mask(ids.indices[:, 0], is_valid)
    features = tf.boolean_mask(tf.cast(ids.values, tf.int64), is_valid)
    values = tf.boolean_mask(values, is_valid)
    size = tf.reduce_max(tf.concat([features, [0]], 0)) + 1
    both, places = tf.unique(examples * size + features)
    sums = tf.unsorted_segment_sum(values, places, tf.shape(both)[0])
    return SparseFeatureColumn(both // size, both % size, sums)
