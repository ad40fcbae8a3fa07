"""`tf.contrib.eager.metrics`: metrics as objects, whose state is in variables of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, executing_eagerly, get_default_graph, name_scope
from tideflow.ops.arrays import creation
from tideflow.ops.control_flow import grouping
from tideflow.ops.math import binary, casting, positions, reductions
from tideflow.variables.base import Variable
from tideflow.variables.trackable import Trackable

if TYPE_CHECKING:
    from tideflow.graph.typing import DTypeLike, InitializerLike, ShapeLike, TensorLike


@export("contrib.eager.metrics.Metric")
class Metric(Trackable):
    """The base of metrics. A subclass makes its variables in `build`, changes them in `call`, and says in
    `result` what follows from them.

    Args:
      name: The name of the metric; the name of its class if None.
      use_global_variables: Whether, in a graph, its variables are among the global ones.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False):
        self._name = get_default_graph().unique_name(name or type(self).__name__).rpartition("/")[2]
        self._use_global_variables = use_global_variables
        self._built = False
        self._vars: list[Variable] = []
        self._initial: list[Any] = []

    @property
    def name(self) -> str:
        """The name of the metric."""
        return self._name

    @property
    def variables(self) -> list[Variable]:
        """The variables of the metric."""
        return self._vars

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [(variable._shared_name.rpartition("/")[2], variable) for variable in self._vars]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes values into account; the arguments are those of `call`."""
        with name_scope(f"{self._name}/"):
            if not self._built:
                self.build(*args, **kwargs)
                self._built = True
            return self.call(*args, **kwargs)

    def init_variables(self) -> Any:
        """Sets the variables back to their initial values.

        Returns:
          The operation that does so; None in eager mode.
        """
        if not executing_eagerly():
            return grouping.group([variable.initializer for variable in self._vars])
        for variable, initial in zip(self._vars, self._initial, strict=True):
            variable.assign(initial())
        return None

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables, before the first `call`.

        Args:
          *args: The arguments of that call.
          **kwargs: Its keyword arguments.
        """

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Takes values into account. Subclasses define it.

        Args:
          *args: The values.
          **kwargs: Further arguments.
        """
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """What follows from all values so far. Subclasses define it."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The function that gives the result, for code that computes it later."""
        return self.result

    def add_variable(
        self,
        name: str,
        shape: ShapeLike | None = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike | None = None,
    ) -> Variable:
        """Makes a variable of the metric, in `build`.

        Args:
          name: Its name.
          shape: Its shape.
          dtype: The type of its elements.
          initializer: A function of shape and type, or a class of initializers.

        Returns:
          The variable.

        Raises:
          RuntimeError: After the first call.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        initialize: Any = initializer() if isinstance(initializer, type) else initializer

        def initial() -> Tensor:
            return initialize(shape, dtype=dtype)

        kind = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else GraphKeys.LOCAL_VARIABLES
        made = Variable(
            initial,
            name=name,
            trainable=False,
            collections=[kind, GraphKeys.METRIC_VARIABLES],
            use_resource=True,
        )
        self._vars.append(made)
        self._initial.append(initial)
        return made


@export("contrib.eager.metrics.Mean")
class Mean(Metric):
    """The weighted mean of all values.

    Args:
      name: The name of the metric.
      dtype: The type in which it sums.
      use_global_variables: Whether, in a graph, its variables are among the global ones.
    """

    def __init__(
        self,
        name: str | None = None,
        dtype: DTypeLike = dtypes.float64,
        use_global_variables: bool = False,
    ):
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtypes.as_dtype(dtype)

    def build(self, *args: Any, **kwargs: Any) -> None:
        self.numer = self.add_variable("numer", (), self.dtype, creation.zeros)
        self.denom = self.add_variable("denom", (), self.dtype, creation.zeros)

    def call(self, values: TensorLike, weights: TensorLike | None = None) -> Any:
        """Takes values into account.

        Args:
          values: The values, of any shape.
          weights: Their weights, which are broadcast; ones if None.

        Returns:
          The values, and the weights if there are any.
        """
        values = convert_to_tensor(values)
        numbers = casting.cast(values, self.dtype)
        if weights is None:
            self.denom.assign_add(casting.cast(_size(values), self.dtype))
            self.numer.assign_add(reductions.reduce_sum(numbers))
            return values
        weights = casting.cast(weights, self.dtype)
        self.denom.assign_add(reductions.reduce_sum(weights * creation.ones_like(numbers)))
        self.numer.assign_add(reductions.reduce_sum(numbers * weights))
        return values, weights

    def result(self, write_summary: bool = True) -> Tensor:
        """The mean.

        Args:
          write_summary: Accepted for TensorFlow's sake.

        Returns:
          A scalar tensor.
        """
        return self.numer.value() / self.denom.value()


def _size(values: Tensor) -> Any:
    return reductions.reduce_sum(creation.ones_like(values, dtype=dtypes.int64))


@export("contrib.eager.metrics.Accuracy")
class Accuracy(Mean):
    """The share of predictions that equal their labels.

    Args:
      name: The name of the metric.
      dtype: The type in which it sums.
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64):
        super().__init__(name=name, dtype=dtype)

    def call(self, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None) -> Any:
        """Takes predictions into account.

        Args:
          labels: The labels.
          predictions: The predictions, of the same shape.
          weights: Their weights, which are broadcast; ones if None.

        Returns:
          The labels and the predictions, and the weights if there are any.
        """
        matches = binary.equal(*self._compared(labels, predictions))
        super().call(casting.cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return labels, predictions


@export("contrib.eager.metrics.CategoricalAccuracy")
class CategoricalAccuracy(Accuracy):
    """The share of predictions whose largest element is where the label's is; both are rows of scores.

    Args:
      name: The name of the metric.
      dtype: The type in which it sums.
    """

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return positions.argmax(labels, -1), positions.argmax(predictions, -1)


@export("contrib.eager.metrics.SparseAccuracy")
class SparseAccuracy(Accuracy):
    """The share of predictions, rows of scores, whose largest element is at the label.

    Args:
      name: The name of the metric.
      dtype: The type in which it sums.
    """

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        chosen = positions.argmax(predictions, -1)
        return casting.cast(labels, chosen.dtype), chosen


@export("contrib.eager.metrics.BinaryAccuracy")
class BinaryAccuracy(Accuracy):
    """The share of predictions that are on the same side of a threshold as their labels.

    Args:
      threshold: The threshold.
      name: The name of the metric.
      dtype: The type in which it sums.
    """

    def __init__(self, threshold: float, name: str | None = None, dtype: DTypeLike = dtypes.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        return labels > self.threshold, predictions > self.threshold
