"""What models take of columns: their dense tensors side by side, or a weighted sum of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tideflow.export import export
from tideflow.feature_column.base import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    IdWeightPair,
    Inputs,
    LazyBuilder,
    SequenceDenseColumn,
    Weights,
    check_batch_sizes,
    checked_columns,
    dense_tensor,
)
from tideflow.feature_column.dense import EmbeddingColumn
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import (
    GraphKeys,
    add_to_collection,
    control_dependencies,
    get_collection,
    name_scope,
)
from tideflow.nn import embeddings
from tideflow.ops.arrays import constants, joining, shapes, tiling
from tideflow.ops.linalg import matmul
from tideflow.ops.math import adding, checks
from tideflow.ops.nn import activations
from tideflow.ops.sparse import construction
from tideflow.variables.initializers import Zeros
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.template import make_template
from tideflow.variables.variable_scope import AUTO_REUSE, get_variable, get_variable_scope, variable_scope


def by_name(columns: Any, kind: str = "_FeatureColumn") -> list[FeatureColumn]:
    """The columns in the order of their names."""
    return sorted(checked_columns(columns, kind), key=lambda column: column.name)


@export("feature_column.input_layer")
def input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
    cols_to_vars: dict | None = None,
    cols_to_output_tensors: dict | None = None,
) -> Tensor:
    """Concatenates dense columns to a matrix, in the order of their names.

    Args:
      features: The features of a batch, by name: tensors or sparse tensors.
      feature_columns: The columns.
      weight_collections: The collections to add the variables to.
      trainable: Whether optimizers change the variables by default.
      cols_to_vars: A dictionary that gets the variables of each column.
      cols_to_output_tensors: A dictionary that gets the tensor of each column.

    Returns:
      A tensor of shape [batch, elements].

    Raises:
      ValueError: If a column is not a dense column.
    """
    columns = _dense_columns(feature_columns)
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        return _joined_columns(
            features, columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors
        )


def _joined_columns(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[Any] | None,
    trainable: bool,
    cols_to_vars: dict | None = None,
    cols_to_output_tensors: dict | None = None,
) -> Tensor:
    columns = _dense_columns(feature_columns)
    weights = Weights.of_model(weight_collections, trainable)
    inputs, tensors = LazyBuilder(features), []
    for column in columns:
        with variable_scope(None, default_name=column._var_scope_name):
            tensors.append(_as_matrix(column, dense_tensor(column, inputs, weights)))
            if cols_to_vars is not None:
                cols_to_vars[column] = _variables_in(get_variable_scope().name)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
    check_batch_sizes(tensors, columns)
    return joining.concat(tensors, 1)


class InputLayer:
    """`input_layer` as an object, which uses the same variables each time it is called."""

    def __init__(
        self,
        feature_columns: Iterable[FeatureColumn],
        weight_collections: Sequence[Any] | None = None,
        trainable: bool = True,
        cols_to_vars: dict | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ):
        self.name = name
        self._template = make_template(
            name,
            _joined_columns,
            create_scope_now,
            feature_columns=feature_columns,
            weight_collections=weight_collections,
            trainable=trainable,
            cols_to_vars=cols_to_vars,
        )

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        return self._template(features)

    def __getattr__(self, name: str) -> Any:
        """`variables`, `trainable_weights` and the like are those of the template."""
        if name == "_template":
            raise AttributeError(name)
        return getattr(self._template, name)


def dense_features(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    cols_to_output_tensors: dict | None = None,
) -> Tensor:
    """As `input_layer`, as a layer of a model: tables are resource variables, made before anything else."""
    columns = _dense_columns(feature_columns)
    weights = Weights.of_model(None, trainable=True)
    with variable_scope("input_layer", use_resource=True):
        for column in columns:
            if isinstance(column, EmbeddingColumn):
                with variable_scope(column.variable_scope_name, auxiliary_name_scope=False):
                    column.table(weights)
        inputs, tensors = LazyBuilder(features), []
        for column in columns:
            with variable_scope(column.variable_scope_name, reuse=AUTO_REUSE):
                tensors.append(_as_matrix(column, dense_tensor(column, inputs, weights)))
        check_batch_sizes(tensors, columns)
        if cols_to_output_tensors is not None:
            cols_to_output_tensors.update(zip(columns, tensors, strict=True))
        return joining.concat(tensors, 1)


def _dense_columns(feature_columns: Any) -> list[DenseColumn]:
    columns = by_name(feature_columns)
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    return columns


def _as_matrix(column: DenseColumn, tensor: Tensor) -> Tensor:
    """A row for each example."""
    return shapes.reshape(tensor, (shapes.shape(tensor)[0], column.variable_shape.num_elements()))


def _variables_in(scope: str) -> list[Any]:
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)


# -------------------------------------------------------------------------------------------- linear model


@export("feature_column.linear_model")
def linear_model(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
    cols_to_vars: dict | None = None,
) -> Tensor:
    """Computes a weighted sum of columns and a bias.

    Args:
      features: The features of a batch, by name: tensors or sparse tensors.
      feature_columns: The columns, dense or categorical.
      units: The number of outputs.
      sparse_combiner: How the weights of an example's ids are combined: `"mean"`, `"sqrtn"` or `"sum"`.
      weight_collections: The collections to add the variables to.
      trainable: Whether optimizers change the variables by default.
      cols_to_vars: A dictionary that gets the variables of each column.

    Returns:
      A tensor of shape [batch, units].

    Raises:
      ValueError: If a column is neither dense nor categorical.
    """
    with variable_scope(None, "linear_model") as scope:
        model_name = _last_part(scope.name)
    model = LinearModel(
        feature_columns, units, sparse_combiner, weight_collections, trainable, name=model_name
    )
    sums = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return sums


class LinearModel:
    """What `linear_model` makes, under a name of its own."""

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Sequence[Any] | None = None,
        trainable: bool = True,
        name: str = "linear_model",
    ):
        self.name = name
        self._columns = by_name(feature_columns)
        self._units, self._combiner = units, sparse_combiner
        self._weights = Weights.of_model(weight_collections, trainable)
        self._by_layer_name = {}
        for column in self._columns:  # layers are named before they are called, outside the model
            with variable_scope(None, default_name=column._var_scope_name) as scope:
                self._by_layer_name[_last_part(scope.name)] = column
        self._variables: dict[Any, list[Any]] = {}

    def cols_to_vars(self) -> dict[Any, list[Any]]:
        """The variables of each column, and of "bias"."""
        return self._variables

    @property
    def bias(self) -> Any:
        """The variable that is added to the sums; None before the model is called."""
        return self._variables["bias"][0] if "bias" in self._variables else None

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        with name_scope(self.name), variable_scope(self.name):
            for column in self._columns:
                if not isinstance(column, (DenseColumn, CategoricalColumn)):
                    raise ValueError(
                        "Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. "
                        f"Given: {column}"
                    )
            return self._sums(LazyBuilder(features))

    def _sums(self, inputs: LazyBuilder) -> Tensor:
        sums, ordered = [], sorted(self._by_layer_name.items())
        for layer_name, column in ordered:
            with variable_scope(None, default_name=layer_name) as scope:
                sums.append(_weighted_sum(column, inputs, self._units, self._combiner, self._weights))
            self._variables[column] = _variables_in(scope.name)
        check_batch_sizes(sums, [column for _, column in ordered])
        total = adding.add_n(sums, name="weighted_sum_no_bias")
        bias = _variable("bias_weights", [self._units], self._weights)
        self._variables["bias"] = list(bias) if isinstance(bias, PartitionedVariable) else [bias]
        return activations.bias_add(total, bias, name="weighted_sum")


def _last_part(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _variable(name: str, shape: Sequence[int], weights: Weights) -> Any:
    """A variable of the model, which begins with zeros."""
    variable = get_variable(
        name, shape=shape, initializer=Zeros(), trainable=weights.trainable, use_resource=True
    )
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in weights.collections:
        if collection != GraphKeys.GLOBAL_VARIABLES:
            for part in parts:
                add_to_collection(collection, part)
    return variable


def _weighted_sum(column: Any, inputs: Inputs, units: int, combiner: str, weights: Weights) -> Tensor:
    if not isinstance(column, CategoricalColumn):
        table = _variable("weights", [column._variable_shape.num_elements(), units], weights)
        return sum_of_dense(column, dense_tensor(column, inputs, weights), table)
    table = _variable("weights", (column._num_buckets, units), weights)
    found = column._get_sparse_tensors(
        inputs, weight_collections=weights.collections, trainable=weights.trainable
    )
    return sum_of_ids(found, table, combiner)


def sum_of_dense(column: DenseColumn, tensor: Tensor, table: Any) -> Tensor:
    """The weighted sum of a dense column's elements."""
    return matmul.matmul(_as_matrix(column, tensor), table, name="weighted_sum")


def sum_of_ids(found: IdWeightPair, table: Any, combiner: str) -> Tensor:
    """The combined weights of a categorical column's ids."""
    ids, id_weights = found
    ids = construction.sparse_reshape(ids, [shapes.shape(ids)[0], -1])
    if id_weights is not None:
        id_weights = construction.sparse_reshape(id_weights, [shapes.shape(id_weights)[0], -1])
    return embeddings.safe_embedding_lookup_sparse(
        table, ids, sparse_weights=id_weights, combiner=combiner, name="weighted_sum"
    )


# ----------------------------------------------------------------------------------------------- sequences


@export("contrib.feature_column.sequence_input_layer")
def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[Any] | None = None,
    trainable: bool = True,
) -> tuple[Tensor, Tensor]:
    """Concatenates sequence columns, in the order of their names.

    Args:
      features: The features of a batch, by name.
      feature_columns: The sequence columns.
      weight_collections: The collections to add the variables to.
      trainable: Whether optimizers change the variables by default.

    Returns:
      A tensor of shape [batch, steps, elements], and the length of each sequence.

    Raises:
      ValueError: If a column is not a sequence column.
    """
    columns = by_name(feature_columns)
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                "sequence_categorical_column with an embedding_column or indicator_column. "
                f"Given (type {type(column)}): {column}"
            )
    weights = Weights(weight_collections, trainable)
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        inputs, tensors, lengths = LazyBuilder(features), [], []
        for column in columns:
            with variable_scope(None, default_name=column.variable_scope_name):
                tensor, length = column.get_sequence_dense_tensor(inputs, weights)
                sizes = shapes.shape(tensor)
                elements = column.variable_shape.num_elements()
                tensors.append(shapes.reshape(tensor, [sizes[0], sizes[1], elements]))
                lengths.append(length)
        check_batch_sizes(tensors, columns)
        check_batch_sizes(lengths, columns)
        return joining.concat(tensors, -1), all_equal(lengths)


@export("contrib.feature_column.concatenate_context_input")
def concatenate_context_input(context_input: Tensor, sequence_input: Tensor) -> Tensor:
    """Adds what is the same for all steps of a sequence to each of them.

    Args:
      context_input: A float32 tensor of shape [batch, elements].
      sequence_input: A float32 tensor of shape [batch, steps, elements].

    Returns:
      A tensor of shape [batch, steps, elements of both].

    Raises:
      ValueError: If the shapes have other numbers of axes.
      TypeError: If the types are others.
    """
    expected = (("sequence_input", sequence_input, 3), ("context_input", context_input, 2))
    checked = []
    for what, tensor, rank in expected:
        message, data = f"{what} must have rank {rank}", [shapes.shape(tensor)]
        checked.append(checks.assert_rank(tensor, rank, message=message, data=data))
        message = f"{what} must have dtype float32; got {tensor.dtype}."
        checked.append(checks.assert_type(tensor, dtypes.float32, message=message))
    with control_dependencies(checked):
        steps = shapes.shape(sequence_input)[1]
        tiled = tiling.tile(shapes.expand_dims(context_input, 1), joining.concat([[1], [steps], [1]], 0))
    return joining.concat([sequence_input, tiled], 2)


def all_equal(tensors: Sequence[Tensor]) -> Tensor:
    """The first of them, after the step has found all of them equal."""
    with name_scope(None, "assert_all_equal", tensors):
        if len(tensors) == 1:
            return tensors[0]
        equal = [checks.assert_equal(tensors[0], tensor) for tensor in tensors[1:]]
        with control_dependencies(equal):
            return constants.identity(tensors[0])


# ------------------------------------------------------------------------------------------------- parsing


@export("feature_column.make_parse_example_spec")
def make_parse_example_spec(feature_columns: Iterable[FeatureColumn]) -> dict[str, Any]:
    """Collects the features that columns need, for `tf.io.parse_example`.

    Args:
      feature_columns: The columns.

    Returns:
      A dictionary from names to FixedLenFeature, VarLenFeature and so on.

    Raises:
      ValueError: If columns need one feature in two forms.
    """
    return parse_spec(feature_columns, "_FeatureColumn")


def parse_spec(feature_columns: Iterable[FeatureColumn], kind: str) -> dict[str, Any]:
    """The features that columns need; `kind` is what TensorFlow calls columns of the protocol in use."""
    spec: dict[str, Any] = {}
    for column in feature_columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"All feature_columns must be {kind} instances. Given: {column}")
        for key, value in column.parse_example_spec.items():
            if spec.setdefault(key, value) != value:
                raise ValueError(
                    f"feature_columns contain different parse_spec for key {key}. Given {value} and "
                    f"{spec[key]}"
                )
    return spec
