"""Labels, predictions and weights of a block, as arrays; and the views of them that metrics compute on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tideflow.pipeline.evaluation.keys import SubKey

if TYPE_CHECKING:
    import pyarrow as pa

# Outputs that are taken for the prediction where the model has several and none is named, in this order.
PREDICTION_KEYS = ("scores", "outputs", "predictions", "logistic", "probabilities", "logits")
_INTERVAL = 1e-7  # how far labels may leave [0, 1]


@dataclass(frozen=True)
class Ragged:
    """RowValues of examples that make no array of a row each: boxes of images, words of texts.

    Args:
      rows: An array for each example.
      problem: Why they make no array, for metrics that need one.
    """

    rows: list[np.ndarray]
    problem: str

    def __len__(self) -> int:
        return len(self.rows)


RowValues = np.ndarray | Ragged


def each_row(column: pa.Array) -> list[np.ndarray]:
    """The values of each example of a column; of lists of lists, arrays of two dimensions."""
    if hasattr(column.type.value_type, "value_type"):
        return [np.asarray(row if row is not None else []) for row in column.to_pylist()]
    ends = np.cumsum(np.asarray(column.value_lengths().fill_null(0)))
    return np.split(np.asarray(column.flatten().to_numpy(zero_copy_only=False)), ends[:-1])


def values_of(column: pa.Array, name: str) -> RowValues:
    """A column as an array, or as it is where examples have different numbers of values."""
    try:
        return dense(column, name)
    except ValueError as error:
        return Ragged(each_row(column), str(error))


def joined(parts: Sequence[RowValues]) -> RowValues:
    """The values of several batches, one after another."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])
    problems = [part.problem for part in parts if isinstance(part, Ragged)]
    return Ragged([row for part in parts for row in rows_of(part)], problems[0])


def taken(values: RowValues, order: np.ndarray) -> RowValues:
    """The values in another order."""
    if isinstance(values, Ragged):
        return replace(values, rows=[values.rows[place] for place in order.tolist()])
    return values[order]


def rows_of(values: RowValues) -> list[np.ndarray]:
    """The values of each example."""
    return values.rows if isinstance(values, Ragged) else list(values)


def dense(column: pa.Array, name: str) -> np.ndarray:
    """A column as an array of a row for each example, all of one length."""
    lists = column
    lengths = np.asarray(lists.value_lengths().fill_null(0))
    width = int(lengths[0]) if len(lengths) else 1
    if (lengths != width).any():
        few, many = int(lengths.min()), int(lengths.max())
        if few == 0:
            raise ValueError(f"no value provided for {name} in {int((lengths == 0).sum())} examples")
        raise ValueError(f"{name} has {few} values in some examples and {many} in others")
    flat = lists.flatten()
    if hasattr(flat.type, "value_type"):
        raise ValueError(f"{name} is a list of lists; labels, predictions and weights are numbers or lists")
    values = np.asarray(flat.to_numpy(zero_copy_only=False))
    return values.reshape(len(column), width)


@dataclass
class Batch:
    """What metrics are computed of: rows, by model and output.

    Args:
      columns: The features of the rows, by name.
      rows: How many rows there are.
      labels: Arrays of (rows, values) by the model's and the output's name.
      predictions: Likewise.
      outputs: What the models answered, by the model's name and its own name for the output.
      weights: Arrays of (rows,), by the model's and the output's name, where examples have weights.
      starts: Where rows are queries, the index of each one's first document in the arrays.
    """

    columns: Mapping[str, pa.Array]
    rows: int
    labels: dict[tuple[str, str], RowValues]
    predictions: dict[tuple[str, str], RowValues]
    weights: dict[tuple[str, str], np.ndarray]
    outputs: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    starts: np.ndarray | None = None
    _views: dict[Any, Any] = field(default_factory=dict)

    @property
    def documents(self) -> int:
        """How many entries the arrays have: one a row, or one a document of a query."""
        return self.rows if self.starts is None else len(next(iter(self.predictions.values())))

    def cached(self, key: Any, make: Any) -> Any:
        """What `make()` returned for the key first: views are shared by metrics."""
        if key not in self._views:
            self._views[key] = make()
        return self._views[key]


Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class View:
    """Which labels, predictions and weights a metric is of.

    Args:
      model_name: The model's name.
      output_name: The output's name.
      sub_key: The class or classes.
      aggregation_type: `micro_average`, if classes are averaged.
      class_weights: The weights of classes that are averaged, as sorted pairs.
      example_weighted: Whether examples count by their weights.
    """

    model_name: str = ""
    output_name: str = ""
    sub_key: SubKey | None = None
    aggregation_type: str | None = None
    class_weights: tuple[tuple[int, float], ...] = ()
    example_weighted: bool = False

    def without_classes(self) -> View:
        """The view of whole predictions."""
        return replace(self, sub_key=None, aggregation_type=None, class_weights=())

    def weight(self, batch: Batch) -> np.ndarray:
        """The weights of the rows."""
        for place in ((self.model_name, self.output_name), (self.model_name, "")):
            if self.example_weighted and place in batch.weights:
                return batch.weights[place]
        return np.ones(batch.documents)

    def rows(self, batch: Batch) -> Arrays:
        """Labels (rows, values), predictions (rows, values) and weights (rows,)."""
        return batch.cached(("rows", self), lambda: self._rows(batch))

    def flat(self, batch: Batch) -> Arrays:
        """Labels, predictions and weights (rows, values): each value of a prediction with its own label."""
        return batch.cached(("flat", self), lambda: self._flat(batch))

    def examples(self, batch: Batch, of: str) -> list[np.ndarray]:
        """The labels or the predictions of each example, however many it has."""
        return rows_of(self._found(getattr(batch, of), of.removesuffix("s")))

    def named(self, batch: Batch, name: str, *, of: str) -> list[np.ndarray] | None:
        """What is known of each example by a name: an output of the model or a label, or else a feature.

        Args:
          batch: The examples.
          name: The name.
          of: "labels" or "predictions".

        Returns:
          An array for each example; None if nothing has the name.
        """
        place = (self.model_name, name)
        own: Mapping[tuple[str, str], RowValues] = getattr(batch, of)
        if of == "predictions" and place in batch.outputs:
            return rows_of(batch.outputs[place])
        if place in own:
            return rows_of(own[place])
        return each_row(batch.columns[name]) if name in batch.columns else None

    def _place(self, arrays: Mapping[tuple[str, str], RowValues], what: str) -> np.ndarray:
        found = self._found(arrays, what)
        if isinstance(found, Ragged):
            raise ValueError(found.problem)
        return found

    def _found(self, arrays: Mapping[tuple[str, str], RowValues], what: str) -> RowValues:
        for place in ((self.model_name, self.output_name), (self.model_name, "")):
            if place in arrays:
                return arrays[place]
        named = " ".join(filter(None, (self.model_name, self.output_name)))
        raise ValueError(
            f"no value provided for {what}{f' of {named}' if named else ''}\n\nThis may be caused by a "
            "configuration error (i.e. label, and/or prediction keys were not specified) or an error in the "
            "pipeline."
        )

    def _rows(self, batch: Batch) -> Arrays:
        label = self._place(batch.labels, "label")
        prediction = self._place(batch.predictions, "prediction")
        key = self.sub_key
        if key is not None and key.k is not None:
            best = _top(prediction, key.k)[:, :1]
            label = matched(label, prediction)
            label = np.take_along_axis(label, best, axis=1)
            prediction = np.take_along_axis(prediction, best, axis=1)
        elif key is not None:
            if key.top_k is not None:
                best = _top(prediction, key.top_k)
                if self.aggregation_type is None:
                    only_best = np.full(prediction.shape, -np.inf)
                    np.put_along_axis(only_best, best, np.take_along_axis(prediction, best, axis=1), axis=1)
                    prediction = only_best
                else:
                    label = np.take_along_axis(matched(label, prediction), best, axis=1)
                    prediction = np.take_along_axis(prediction, best, axis=1)
            if key.class_id is not None:
                label, prediction = _of_class(key.class_id, label, prediction)
        return label, prediction, self.weight(batch)

    def _flat(self, batch: Batch) -> Arrays:
        label, prediction, weight = self._rows(batch)
        label = matched(label, prediction)
        weights = np.broadcast_to(weight[:, None], prediction.shape)
        if self.class_weights:
            by_class = dict(self.class_weights)
            weights = weights * [by_class.get(index, 0.0) for index in range(prediction.shape[1])]
        return np.asarray(label, float), np.asarray(prediction, float), np.asarray(weights, float)


def check_fractions(label: np.ndarray) -> None:
    """Refuses labels that are no fractions of an example."""
    outside = (label < -_INTERVAL) | (label > 1 + _INTERVAL)
    if outside.any():
        raise ValueError(f"label must be within [0, 1]: label={label[outside][0]}")


def matched(label: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """Labels of the predictions' shape: class ids become one-hot."""
    if label.shape == prediction.shape:
        return label
    if label.shape[1] != 1:
        raise ValueError(
            "unable to pair labels, predictions, and example weights: each example has "
            f"{label.shape[1]} labels and {prediction.shape[1]} predictions"
        )
    ids = label.astype(int)
    if ids.size and (ids.min() < -1 or ids.max() > prediction.shape[1]):
        raise ValueError(f"invalid inputs to one_hot: class ids {ids.min()} to {ids.max()}")
    return (ids == np.arange(prediction.shape[1])).astype(float)


def _top(prediction: np.ndarray, k: int) -> np.ndarray:
    """The indices of the k largest values of each row, the smallest of them first."""
    if prediction.shape[1] < k:
        raise ValueError(
            "not enough values were provided to perform the requested calcuations for top k. The requested "
            f"value for k is {k}, but each prediction has {prediction.shape[1]} values"
        )
    return np.argpartition(prediction, -k, axis=1)[:, -k:]


def _of_class(class_id: int, label: np.ndarray, prediction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not 0 <= class_id < prediction.shape[1]:
        raise ValueError(f'class_id "{class_id}" out of range of predictions: {prediction.shape[1]} classes')
    if label.shape[1] == prediction.shape[1]:
        return label[:, class_id : class_id + 1], prediction[:, class_id : class_id + 1]
    return (label == class_id).astype(float), prediction[:, class_id : class_id + 1]
