"""Forests as graphs: their parameters, their trees, training and inference."""

from __future__ import annotations

import logging
import math
import numbers
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from google.protobuf import text_format

import tideflow as tf
from tideflow.contrib.tensor_forest import ops
from tideflow.contrib.tensor_forest.columns import (
    ParseDataTensorOrDict,
    ParseLabelTensorOrDict,
    TensorForestDataSpec,
)
from tideflow.contrib.tensor_forest.variables import fertile_stats_variable, tree_variable
from tideflow.export import export
from tideflow.graph.forest_proto import ENUMS, TensorForestParams

if TYPE_CHECKING:
    from tideflow.graph.composite import SparseTensor
    from tideflow.graph.operation import Operation, Tensor
    from tideflow.graph.typing import DeviceLike

_log = logging.getLogger("tensorflow")
_LEAVES, _STATISTICS = ENUMS["LeafModelType"], ENUMS["StatsModelType"]
_CLASSIFICATIONS = {
    "all_dense": (_LEAVES["MODEL_DENSE_CLASSIFICATION"], _STATISTICS["STATS_DENSE_GINI"]),
    "all_sparse": (_LEAVES["MODEL_SPARSE_CLASSIFICATION"], _STATISTICS["STATS_SPARSE_GINI"]),
    "sparse_then_dense": (
        _LEAVES["MODEL_SPARSE_OR_DENSE_CLASSIFICATION"],
        _STATISTICS["STATS_SPARSE_THEN_DENSE_GINI"],
    ),
}
_REGRESSION = _LEAVES["MODEL_REGRESSION"], _STATISTICS["STATS_LEAST_SQUARES_REGRESSION"]
_FINISHING = {
    "basic": ENUMS["SplitFinishStrategyType"]["SPLIT_FINISH_BASIC"],
    "hoeffding": ENUMS["SplitFinishStrategyType"]["SPLIT_FINISH_DOMINATE_HOEFFDING"],
    "bootstrap": ENUMS["SplitFinishStrategyType"]["SPLIT_FINISH_DOMINATE_BOOTSTRAP"],
}
_PRUNING = {
    "none": ENUMS["SplitPruningStrategyType"]["SPLIT_PRUNE_NONE"],
    "half": ENUMS["SplitPruningStrategyType"]["SPLIT_PRUNE_HALF"],
    "quarter": ENUMS["SplitPruningStrategyType"]["SPLIT_PRUNE_QUARTER"],
    "10_percent": ENUMS["SplitPruningStrategyType"]["SPLIT_PRUNE_10_PERCENT"],
    "hoeffding": ENUMS["SplitPruningStrategyType"]["SPLIT_PRUNE_HOEFFDING"],
}
_SPLITS = {
    "less_or_equal": ENUMS["InequalityTestType"]["LESS_OR_EQUAL"],
    "less": ENUMS["InequalityTestType"]["LESS_THAN"],
}


@export("contrib.tensor_forest.tensor_forest.parse_number_or_string_to_proto")
def parse_number_or_string_to_proto(proto: Any, param: float | str) -> None:
    """Writes a parameter that may depend on a node's depth.

    Args:
      proto: The DepthDependentParam to write to.
      param: A number, or the message as text.
    """
    if isinstance(param, numbers.Number):
        proto.constant_value = param
    elif param.isdigit():
        proto.constant_value = int(param)
    else:
        text_format.Merge(param, proto)


@export("contrib.tensor_forest.tensor_forest.build_params_proto")
def build_params_proto(params: ForestHParams) -> Any:
    """Makes the message of a forest's parameters.

    Args:
      params: The parameters, filled.

    Returns:
      A TensorForestParams message.
    """
    proto = TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        is_regression=params.regression,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        inequality_test_type=params.split_type,
        collate_examples=params.collate_examples,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths,
    )
    proto.pruning_type.type = params.pruning_type
    proto.finish_type.type = params.finish_type
    parse_number_or_string_to_proto(proto.pruning_type.prune_every_samples, params.prune_every_samples)
    parse_number_or_string_to_proto(
        proto.finish_type.check_every_steps, params.early_finish_check_every_samples
    )
    parse_number_or_string_to_proto(proto.split_after_samples, params.split_after_samples)
    parse_number_or_string_to_proto(proto.num_splits_to_consider, params.num_splits_to_consider)
    proto.dominate_fraction.constant_value = params.dominate_fraction
    if params.param_file:
        with open(params.param_file) as file:
            text_format.Merge(file.read(), proto)
    return proto


@export("contrib.tensor_forest.tensor_forest.ForestHParams")
class ForestHParams:
    """The parameters of a forest. `fill` must be called before they are used.

    Args:
      num_trees: The number of trees.
      max_nodes: How many nodes a tree may have.
      bagging_fraction: The share of examples that each tree sees.
      num_splits_to_consider: How many splits a leaf considers; by the number of features if 0.
      feature_bagging_fraction: The share of features that each tree sees.
      max_fertile_nodes: Not used.
      split_after_samples: How many examples a leaf sees before it is split; may depend on its depth.
      valid_leaf_threshold: Not used.
      dominate_method: Not used; see `split_finish_name`.
      dominate_fraction: How sure a leaf must be to finish early, or to drop a split.
      model_name: `"all_dense"`, `"all_sparse"` or `"sparse_then_dense"`: how counts of classes are kept.
      split_finish_name: `"basic"`, `"hoeffding"` or `"bootstrap"`: whether a leaf may be split earlier.
      split_pruning_name: `"none"`, `"half"`, `"quarter"`, `"10_percent"` or `"hoeffding"`: which splits are
        dropped on the way.
      prune_every_samples: After how many examples splits are dropped.
      early_finish_check_every_samples: After how many examples a leaf looks whether it can finish.
      collate_examples: Whether examples of one leaf are taken together.
      checkpoint_stats: Whether checkpoints keep what leaves know.
      use_running_stats_method: How TensorFlow's kernels compute scores; it makes no difference.
      initialize_average_splits: Whether thresholds are means of two examples of different classes.
      inference_tree_paths: Whether predictions come with the nodes gone through.
      param_file: A file with a TensorForestParams message as text, which changes what is said here.
      split_name: `"less_or_equal"` or `"less"`.
      **kwargs: More attributes. `num_classes` and `num_features` are needed; `regression` says that labels
        are numbers; `base_random_seed` is the seed of the first tree.
    """

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: Any = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: Any = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: Any = 0,
        early_finish_check_every_samples: Any = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "kwargs")}
        self.__dict__.update(given, **kwargs)

    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return self.__dict__

    def fill(self) -> ForestHParams:
        """Works out what follows from the parameters.

        Returns:
          These parameters.

        Raises:
          AttributeError: If `num_classes` or `num_features` is missing.
        """
        self.bagged_num_features = int(self.feature_bagging_fraction * self.num_features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            features = range(self.num_features)
            self.bagged_features = [
                random.sample(features, self.bagged_num_features) for _ in range(self.num_trees)
            ]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        by_features = min(max(10, math.floor(math.sqrt(self.num_features))), 1000)
        self.num_splits_to_consider = self.num_splits_to_consider or by_features
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        kinds = _REGRESSION if self.regression else _CLASSIFICATIONS[self.model_name]
        self.leaf_model_type, self.stats_model_type = kinds
        self.finish_type = _FINISHING["basic" if self.regression else self.split_finish_name]
        self.pruning_type = _PRUNING[self.split_pruning_name]
        self.prune_every_samples = self._every(
            self.pruning_type != _PRUNING["none"], self.prune_every_samples, 2
        )
        self.early_finish_check_every_samples = self._every(
            self.finish_type != _FINISHING["basic"], self.early_finish_check_every_samples, 4
        )
        self.split_type = _SPLITS[self.split_name]
        return self

    def _every(self, is_done: bool, given: Any, part: int) -> Any:
        """After how many examples something is done: as given, or a part of those before a split."""
        if not is_done:
            return 0
        if not given and not str(self.split_after_samples).isdigit():
            _log.error("Must specify prune_every_samples if using a depth-dependent split_after_samples")
        return given or int(self.split_after_samples) / part


@export("contrib.tensor_forest.tensor_forest.get_epoch_variable")
def get_epoch_variable() -> Any:
    """Finds how often an input was gone through, where it is limited.

    Returns:
      The number in a vector: that of `limit_epochs`, or [0] if the graph has none.
    """
    for variable in tf.local_variables():
        if "limit_epochs/epoch" in variable.op.name:
            return tf.reshape(variable, [1])
    return [0]


@export("contrib.tensor_forest.tensor_forest.TreeVariables")
class TreeVariables:
    """The variables of a tree: `tree`, and `stats` while it grows.

    Args:
      params: The forest's parameters.
      tree_num: The tree's number.
      training: Whether it grows.
      tree_config: A serialized tree to start with.
      tree_stat: Serialized statistics to start with.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_num: int,
        training: bool,
        tree_config: str | bytes = "",
        tree_stat: str | bytes = "",
    ):
        if not isinstance(getattr(params, "params_proto", None), TensorForestParams):
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = params.params_proto.SerializeToString()
        self.stats = None
        if training:
            self.stats = fertile_stats_variable(params, tree_stat, self.get_tree_name("stats", tree_num))
        self.tree = tree_variable(params, tree_config, self.stats, self.get_tree_name("tree", tree_num))

    def get_tree_name(self, name: str, num: int) -> str:
        """Names a variable of a tree.

        Args:
          name: What it is.
          num: The tree's number.
        """
        return f"{name}-{num}"


@export("contrib.tensor_forest.tensor_forest.ForestVariables")
class ForestVariables:
    """The variables of all trees, by number.

    Args:
      params: The forest's parameters.
      device_assigner: A function that says on which devices trees are.
      training: Whether they grow.
      tree_variables_class: The class of a tree's variables.
      tree_configs: Serialized trees to start with.
      tree_stats: Serialized statistics to start with.
    """

    def __init__(
        self,
        params: ForestHParams,
        device_assigner: DeviceLike | None,
        training: bool = True,
        tree_variables_class: type[TreeVariables] = TreeVariables,
        tree_configs: Sequence[Any] | None = None,
        tree_stats: Sequence[Any] | None = None,
    ):
        self.variables: list[TreeVariables] = []
        with tf.device(device_assigner):
            # Where an empty variable is put, its tree is too.
            self.device_dummies = [
                tf.get_variable(f"device_dummy_{number}", shape=0) for number in range(params.num_trees)
            ]
        for number, dummy in enumerate(self.device_dummies):
            starts = {}
            if tree_configs is not None:
                starts["tree_config"] = tree_configs[number]
            if tree_stats is not None:
                starts["tree_stat"] = tree_stats[number]
            with tf.device(dummy.device):
                self.variables.append(tree_variables_class(params, number, training, **starts))

    def __setitem__(self, t: int, val: TreeVariables) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> TreeVariables:
        return self.variables[t]


@export("contrib.tensor_forest.tensor_forest.RandomTreeGraphs")
class RandomTreeGraphs:
    """The graphs of one tree.

    Args:
      variables: Its variables.
      params: The forest's parameters.
      tree_num: Its number.
    """

    def __init__(self, variables: TreeVariables, params: ForestHParams, tree_num: int):
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def training_graph(
        self,
        input_data: Tensor | None,
        input_labels: Tensor,
        random_seed: int,
        data_spec: TensorForestDataSpec,
        sparse_features: SparseTensor | None = None,
        input_weights: Tensor | None = None,
    ) -> Operation:
        """Makes the operation of a step: what leaves know is brought up to date, and some are split.

        Args:
          input_data: Dense features, a tensor [examples, features]; None if there are none.
          input_labels: Labels, a tensor of type float32.
          random_seed: The seed of features that are chosen; 0 for none.
          data_spec: What the columns are.
          sparse_features: Sparse features, a sparse tensor; None if there are none.
          input_weights: Weights of the examples, a vector; None if each counts once.
        """
        tree, stats = self.variables.tree, self.variables.stats
        params, spec = self.params.serialized_params_proto, data_spec.SerializeToString()
        weights = [] if input_weights is None else input_weights
        inputs = _inputs(input_data, sparse_features)
        leaves = ops.traverse_tree_v4(tree, *inputs, input_spec=spec, params=params)
        updated = ops.update_model_v4(tree, leaves, input_labels, weights, params=params)
        finished = ops.process_input_v4(
            tree,
            stats,
            *inputs,
            input_labels,
            weights,
            leaves,
            random_seed=random_seed,
            input_spec=spec,
            params=params,
        )
        with tf.control_dependencies([updated]):
            return ops.grow_tree_v4(tree, stats, finished, params=params)

    def inference_graph(
        self,
        input_data: Tensor | None,
        data_spec: TensorForestDataSpec,
        sparse_features: SparseTensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Predicts.

        Args:
          input_data: Dense features, a tensor [examples, features]; None if there are none.
          data_spec: What the columns are.
          sparse_features: Sparse features, a sparse tensor; None if there are none.

        Returns:
          Predictions, and the nodes gone through where the parameters ask for them.
        """
        inputs = _inputs(input_data, sparse_features)
        params = self.params.serialized_params_proto
        return ops.tree_predictions_v4(
            self.variables.tree, *inputs, input_spec=data_spec.SerializeToString(), params=params
        )

    def size(self) -> Tensor:
        """The number of nodes."""
        return ops.tree_size(self.variables.tree)

    def feature_usage_counts(self) -> Tensor:
        """How many splits are by each feature."""
        return ops.feature_usage_counts(self.variables.tree, params=self.params.serialized_params_proto)


def _inputs(dense: Tensor | None, sparse: SparseTensor | None) -> tuple[Any, Any, Any, Any]:
    """Features as ops take them: [] for what is not there."""
    parts = ([], [], []) if sparse is None else (sparse.indices, sparse.values, sparse.dense_shape)
    return ([] if dense is None else dense), *parts


@export("contrib.tensor_forest.tensor_forest.RandomForestGraphs")
class RandomForestGraphs:
    """The graphs of a forest.

    Args:
      params: Its parameters, filled.
      tree_configs: Serialized trees to start with.
      tree_stats: Serialized statistics to start with.
      device_assigner: A function that says on which devices trees are.
      variables: The variables of its trees; they are made if None.
      tree_variables_class: The class of a tree's variables.
      tree_graphs: The class of a tree's graphs.
      training: Whether the trees grow.
    """

    def __init__(
        self,
        params: ForestHParams,
        tree_configs: Sequence[Any] | None = None,
        tree_stats: Sequence[Any] | None = None,
        device_assigner: DeviceLike | None = None,
        variables: ForestVariables | None = None,
        tree_variables_class: type[TreeVariables] = TreeVariables,
        tree_graphs: type[RandomTreeGraphs] | None = None,
        training: bool = True,
    ):
        self.params = params
        self.device_assigner = device_assigner or tf.contrib.framework.VariableDeviceChooser()
        _log.info("Constructing forest with params = ")
        _log.info(params.__dict__)
        self.variables = variables or ForestVariables(
            params, self.device_assigner, training, tree_variables_class, tree_configs, tree_stats
        )
        made = tree_graphs or RandomTreeGraphs
        self.trees = [made(self.variables[number], params, number) for number in range(params.num_trees)]

    def get_all_resource_handles(self) -> list[Tensor]:
        """The handles of all trees, then those of their statistics."""
        count = range(len(self.trees))
        return [self.variables[i].tree for i in count] + [self.variables[i].stats for i in count]

    def training_graph(
        self,
        input_data: Any,
        input_labels: Any,
        num_trainers: int = 1,
        trainer_id: int = 0,
        **tree_kwargs: Any,
    ) -> Operation:
        """Makes the operation of a step.

        Args:
          input_data: Features, as `ParseDataTensorOrDict` takes them.
          input_labels: Labels, as `ParseLabelTensorOrDict` takes them.
          num_trainers: How many tasks share the trees.
          trainer_id: Which of them this is.
          **tree_kwargs: For `training_graph` of each tree, such as `input_weights`.
        """
        dense, sparse, spec = ParseDataTensorOrDict(input_data)
        labels = ParseLabelTensorOrDict(input_labels)
        share = self.params.num_trees / num_trainers
        steps = []
        for number in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with tf.device(self.variables.device_dummies[number].device):
                seed = self.params.base_random_seed and self.params.base_random_seed + number
                data, targets = self._bagged(dense, labels, sparse, seed)
                data = self._bag_features(number, data, sparse)
                steps.append(
                    self.trees[number].training_graph(
                        data, targets, seed, data_spec=spec, sparse_features=sparse, **tree_kwargs
                    )
                )
        return tf.group(*steps, name="train")

    def _bagged(self, dense: Any, labels: Tensor, sparse: Any, seed: int) -> tuple[Any, Tensor]:
        """The examples that a tree sees."""
        if self.params.bagging_fraction >= 1.0:
            return dense, labels
        if sparse is not None:
            raise NotImplementedError("Bagging not supported with sparse features.")
        drawn = tf.random_uniform(tf.shape(dense)[:1], seed=seed)
        seen = tf.squeeze(tf.where_v2(drawn < self.params.bagging_fraction), axis=[1])
        return tf.gather(dense, seen), tf.gather(labels, seen)

    def _bag_features(self, tree_num: int, dense: Any, sparse: Any) -> Any:
        """The features that a tree sees."""
        if not self.params.bagged_features:
            return dense
        if sparse is not None:
            raise NotImplementedError("Feature bagging not supported with sparse features.")
        columns = tf.split(dense, self.params.num_features, axis=1)
        return tf.concat([columns[number] for number in self.params.bagged_features[tree_num]], 1)

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Predicts.

        Args:
          input_data: Features, as `ParseDataTensorOrDict` takes them.
          **inference_args: For `inference_graph` of each tree.

        Returns:
          The means of the trees' predictions, the nodes gone through, and the variances of the predictions.
        """
        dense, sparse, spec = ParseDataTensorOrDict(input_data)
        predictions, paths = [], []
        for number, tree in enumerate(self.trees):
            with tf.device(self.variables.device_dummies[number].device):
                data = self._bag_features(number, dense, sparse)
                found, path = tree.inference_graph(data, spec, sparse_features=sparse, **inference_args)
                predictions.append(found)
                paths.append(path)
        with tf.device(self.variables.device_dummies[0].device):
            each, count = tf.stack(predictions, axis=1), self.params.num_trees
            mean = tf.div(tf.reduce_sum(each, 1), count, name="probabilities")
            squares = tf.div(tf.reduce_sum(each * each, 1), count)
            return mean, tf.stack(paths, axis=1), tf.maximum(0.0, squares - mean * mean)

    def average_size(self) -> Tensor:
        """The mean number of a tree's nodes."""
        sizes = []
        for number, tree in enumerate(self.trees):
            with tf.device(self.variables.device_dummies[number].device):
                sizes.append(tree.size())
        return tf.reduce_mean(tf.cast(tf.stack(sizes), tf.float32))

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Tensor:
        """A loss that falls while trees grow: minus their mean size.

        Args:
          features: Not used.
          labels: Not used.
          name: A name for the operation.
        """
        return tf.negative(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Tensor:
        """Minus the mean size of the trees.

        Args:
          features: Not used.
          labels: Not used.
        """
        return tf.negative(self.average_size())

    def feature_importances(self) -> Tensor:
        """The share of splits by each feature."""
        counts = tf.reduce_sum(tf.stack([tree.feature_usage_counts() for tree in self.trees], 0), 0)
        return counts / tf.reduce_sum(counts)
