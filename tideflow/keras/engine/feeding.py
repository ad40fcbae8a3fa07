"""The data that a model is fed with: whatever a program gave, as batches of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import tideflow as tf
from tideflow.graph import nest
from tideflow.keras.backend.arrays import placeholder
from tideflow.keras.engine import composites, data, dataset_checks, loops, replicated
from tideflow.keras.utils.data_utils import GeneratorEnqueuer, OrderedEnqueuer
from tideflow.keras.utils.data_utils import Sequence as BatchSequence
from tideflow.layers import keras_state
from tideflow.layers.keras_graph import in_keras_graph, runs_as_function
from tideflow.layers.keras_session import get_session


class Fed:
    """The part of `Model` that takes data."""

    def _feed_tensors(self, training: bool) -> list[Any]:
        fed = [tensor for tensor in self.inputs if _is_fed(tensor)]
        if training:
            trained = [endpoint for endpoint in self._endpoints if endpoint.trained]
            fed += [endpoint.target for endpoint in trained if endpoint.fed]
            fed += [endpoint.sample_weight for endpoint in trained if endpoint.sample_weight is not None]
        return fed

    def _take_inputs(self, x: Any) -> None:
        """A model that has not been called yet learns its inputs from the first data."""
        if self.inputs:
            return
        _refuse_nested_numbers(x)
        _refuse_composites(x)
        given = {key: x[key] for key in sorted(x)} if isinstance(x, dict) else x
        names = list(given) if isinstance(x, dict) else None
        flat = list(map(data.as_array, nest.flatten(given)))
        made = []
        for number, array in enumerate(flat):
            dtype = _type_of_input(array)
            name = names[number] if names else f"input_{number + 1}"
            made.append(placeholder((None, *array.shape[1:]), dtype=dtype, name=name))
        inputs = nest.pack_sequence_as(given, made)
        if not self.run_eagerly:
            self._call_to_train(inputs)
            return
        first = [tf.constant(array[:1], tensor.dtype) for array, tensor in zip(flat, made, strict=True)]
        self._set_inputs(inputs, self(nest.pack_sequence_as(given, first)))

    def _call_to_train(self, inputs: Any) -> Any:
        """Calls a model in a graph in the mode that each step says, not in the default of `training`."""
        said = self._expects("training") and not tf.executing_eagerly()
        return self(inputs, training=keras_state.learning_phase()) if said else self(inputs)

    def _set_inputs(self, inputs: Any, outputs: Any = None) -> None:
        """Tells a model what it takes: tensors, or arrays like which they will be. Without outputs, it is
        called with them.
        """
        if outputs is None:
            if not all(map(composites.is_tensor, nest.flatten(inputs))):
                self._take_inputs(inputs)
                return
            outputs = self._call_to_train(inputs)
            if self.inputs:  # the call has told them
                return
        self._nested_inputs = inputs
        flat_in = list(inputs.values()) if isinstance(inputs, dict) else inputs
        flat_in = list(flat_in) if isinstance(flat_in, (list, tuple)) else [flat_in]
        flat_out = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        self.inputs, self.outputs = flat_in, flat_out
        self._nested_outputs = outputs
        numbered = [f"input_{number + 1}" for number in range(len(flat_in))]
        self.input_names = list(inputs) if isinstance(inputs, dict) else numbered
        self.output_names = [f"output_{number + 1}" for number in range(len(flat_out))]
        if self._is_compiled and not in_keras_graph():  # there, the first step compiles them
            self._compile_outputs()

    def _called_with(self, inputs: Any, outputs: Any) -> None:
        if not self.inputs and not self._is_graph_network and not runs_as_function():
            self._set_inputs(inputs, outputs)

    def _standardized(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        training: bool = True,
        batch: bool = False,
        checks: bool = True,
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Inputs, targets and weights as lists of arrays, checked against the model."""
        x = composites.samples(x)
        self._take_inputs(x)
        if training and self._is_compiled and not self._endpoints:
            self._compile_outputs()
        names = [name for name, tensor in zip(self.input_names, self.inputs, strict=True) if _is_fed(tensor)]
        shapes = [
            tuple(t.shape.as_list()) if t.shape.ndims is not None else None for t in self.inputs if _is_fed(t)
        ]
        inputs = data.in_order(x, names, "input", shapes)
        inputs = [
            composites.of_matrix(array) if sparse and hasattr(array, "tocoo") else array
            for array, sparse in zip(inputs, self._sparse_inputs(), strict=True)
        ]
        if checks and self._is_graph_network:
            data.check_shapes(inputs, names, shapes, "input", batch=batch)
        if not training:
            return inputs, [], []
        trained = [endpoint for endpoint in self._endpoints if endpoint.trained]
        ends = [endpoint for endpoint in trained if endpoint.fed]
        output_names = [endpoint.name for endpoint in ends]
        targets = data.in_order(y, output_names, "target") if ends or y is not None else []
        if any(target is None for target in targets):
            raise ValueError(
                "You are trying to train a model without targets: pass the true values as `y`, one array for "
                f"each of the outputs {output_names}."
            )
        weights = self._weights_of(targets, ends, sample_weight, class_weight)
        data.check_lengths(inputs, targets, [w for w in weights if w is not None])
        data.check_losses(targets, ends)
        return inputs, targets, weights

    def _sparse_inputs(self) -> list[bool]:
        """Whether each input that is fed is sparse."""
        return [isinstance(tensor, tf.SparseTensor) for tensor in self.inputs if _is_fed(tensor)]

    def _weights_of(
        self, targets: list[Any], ends: list[Any], sample_weight: Any, class_weight: Any
    ) -> list[Any]:
        names = [endpoint.name for endpoint in ends]
        given = per_output(sample_weight, names, "sample_weight")
        classes = _per_class(class_weight, names)
        found = [
            data.sample_weights(y, weight, per_class, endpoint.sample_weight_mode)
            for y, weight, per_class, endpoint in zip(targets, given, classes, ends, strict=True)
        ]
        wanted = [weight is not None for weight in found]
        there = [endpoint.weighted for endpoint in ends]
        if any(want and not has for want, has in zip(wanted, there, strict=True)):
            flags = {id(e): w or h for e, w, h in zip(ends, wanted, there, strict=True)}
            self._connect_losses([flags.get(id(endpoint), False) for endpoint in self._endpoints])
        kept = []
        for y, weight, endpoint in zip(targets, found, ends, strict=True):
            if endpoint.weighted:
                if weight is None:
                    temporal = endpoint.sample_weight_mode == "temporal"
                    weight = np.ones(y.shape[:2] if temporal else y.shape[:1], dtype=np.float32)
                kept.append(np.asarray(weight, dtype=np.float32))
        return kept

    def _arrays_of(self, batch: Any, training: bool, class_weight: Any = None) -> tuple[list[Any], int]:
        """The arrays of a batch that a generator gave, and its size."""
        x, y, weight = data.unpacked(batch)
        found = self._standardized(x, y, weight, class_weight, training=training)
        arrays = [array for part in found for array in part]
        return arrays, int(arrays[0].shape[0]) if arrays else 1

    def _source(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        class_weight: Any,
        batch_size: int | None,
        steps: int | None,
        shuffle: Any,
        training: bool,
        epochs: int | None = None,
        steps_name: str = "steps",
        **queue: Any,
    ) -> loops.Source:
        """The batches of whatever a program gave as data. The first tells a model its inputs."""
        dataset_checks.check(x, y, sample_weight, steps, steps_name)
        source = self._source_of(
            x, y, sample_weight, class_weight, batch_size, steps, shuffle, training, epochs, **queue
        )
        if self.inputs:
            return source
        rest = source.batches()
        given = [itertools.chain([next(rest)], rest)]
        return source._replace(batches=lambda: given.pop() if given else source.batches())

    def _source_of(
        self,
        x: Any,
        y: Any,
        sample_weight: Any,
        class_weight: Any,
        batch_size: int | None,
        steps: int | None,
        shuffle: Any,
        training: bool,
        epochs: int | None,
        **queue: Any,
    ) -> loops.Source:
        """The batches of arrays, a dataset, a generator or a `Sequence`."""
        if isinstance(x, (tf.data.Dataset, tf.data.Iterator)):
            return self._dataset_source(x, steps, training, class_weight)
        if dataset_checks.is_generator(x):
            return self._generator_source(x, steps, training, class_weight, shuffle, **queue)
        batch_size = self._fitting_batch_size(batch_size, steps)
        found = self._standardized(x, y, sample_weight, class_weight, training=training)
        arrays = [array for part in found for array in part]
        if not arrays:
            raise ValueError("The model has no inputs to feed: pass `steps`." if steps is None else "no data")
        self._check_stateful(arrays[0].shape[0], data.size_of_batches(batch_size))
        return self._arrays_source(arrays, batch_size, shuffle, steps, epochs)

    def _fitting_batch_size(self, batch_size: int | None, steps: int | None) -> int | None:
        """The size of batches of arrays: that of the input layer, where it has one."""
        inputs = self.inputs if self._strategy is None and self._is_graph_network else None
        fixed = inputs[0].shape.as_list()[0] if inputs and inputs[0].shape.ndims else None
        if fixed is None:
            return batch_size
        if batch_size not in (None, fixed):
            raise ValueError(
                f"The `batch_size` argument value {batch_size} is incompatible with the specified batch size "
                f"of your Input Layer: {fixed}"
            )
        return fixed if steps is None else batch_size  # type: ignore[no-any-return]

    def _arrays_source(
        self, arrays: list[Any], batch_size: int | None, shuffle: Any, steps: int | None, epochs: int | None
    ) -> loops.Source:
        """The batches of arrays; `epochs` is None where the model is not trained."""
        if self._strategy is not None:
            batch_size = replicated.batch_size(int(arrays[0].shape[0]), batch_size, steps)
            if epochs is not None and not tf.executing_eagerly():
                return loops.in_one_stream(arrays, batch_size, shuffle, steps, epochs)
        if steps is None:
            return loops.from_arrays(arrays, data.size_of_batches(batch_size), shuffle)
        if not tf.executing_eagerly():
            return loops.whole_arrays(arrays, steps)
        return loops.from_arrays(arrays, batch_size or -(-int(arrays[0].shape[0]) // steps), shuffle, steps)

    def _check_stateful(self, samples: int, batch_size: int) -> None:
        if self.stateful and samples % batch_size != 0:
            raise ValueError(
                "In a stateful network, you should only pass inputs with a number of samples that can be "
                f"divided by the batch size. Found: {samples} samples"
            )

    def _dataset_source(
        self, dataset: Any, steps: int | None, training: bool, class_weight: Any
    ) -> loops.Source:
        if tf.executing_eagerly():

            def eager_batches() -> Iterator[tuple[list[Any], int]]:
                for value in dataset:
                    parts = list(map(composites.value_of, nest.flatten(value)))
                    yield self._arrays_of(composites.element(value, parts), training, class_weight)

            return loops.Source(eager_batches, None, steps, restarts=steps is None)
        initializer, size = None, steps
        if isinstance(dataset, tf.data.Dataset):
            size = dataset_checks.size_of(dataset) if steps is None else steps
            iterator = tf.data.make_initializable_iterator(dataset)
            initializer = iterator.initializer
        else:
            iterator = dataset
        element = iterator.get_next()

        def batches() -> Iterator[tuple[list[Any], int]]:
            session = get_session()
            for value in data.from_dataset(element, initializer, session, tf.errors.OutOfRangeError):
                yield self._arrays_of(value, training, class_weight)[0], 1  # batches count the same

        return loops.Source(batches, None, size, restarts=steps is None)

    def _generator_source(
        self,
        generator: Any,
        steps: int | None,
        training: bool,
        class_weight: Any,
        shuffle: Any = False,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> loops.Source:
        sequence = isinstance(generator, BatchSequence)
        if sequence:
            steps = len(generator) if steps is None else steps

        def batches() -> Iterator[tuple[list[Any], int]]:
            if not sequence and workers == 0:
                values: Iterator[Any] = generator
                yield from (self._arrays_of(value, training, class_weight) for value in values)
                return
            if sequence:
                queue: Any = OrderedEnqueuer(generator, use_multiprocessing, shuffle=bool(shuffle))
            else:
                queue = GeneratorEnqueuer(generator, use_multiprocessing)
            queue.start(workers=max(workers, 1), max_queue_size=max_queue_size)
            try:
                for value in queue.get():
                    yield self._arrays_of(value, training, class_weight)
            finally:
                queue.stop()

        return loops.Source(batches, None, steps, restarts=False, of_generator=True)


def _refuse_nested_numbers(x: Any) -> None:
    """The first data tells a model how many inputs it has: a list is one of arrays, not of numbers."""
    if isinstance(x, (list, tuple)) and not all(hasattr(leaf, "shape") for leaf in nest.flatten(x)):
        raise ValueError(
            "Please provide as model inputs either a single array or a list of arrays. You passed: "
            f"inputs={x}"
        )


def _refuse_composites(x: Any) -> None:
    """The first data tells a model only of dense inputs."""
    for leaf in nest.flatten(x):
        if composites.is_composite(leaf) and not hasattr(leaf, "tocoo"):
            raise ValueError(
                "All SparseTensor and RaggedTensor inputs must be explicitly declared using a keras.Input() "
                f"with sparse=True or ragged=True. We found an undeclared input {leaf}. For Sequential "
                "models, please add a keras.Input() as your first Layer. For subclassed models, please call "
                "self._set_inputs() on your input set, which you can create using keras.Input() for each "
                "input to your model."
            )


def _is_fed(tensor: Any) -> bool:
    history = getattr(tensor, "_keras_history", None)
    return history is None or getattr(history.layer, "is_placeholder", True)


def per_output(given: Any, names: list[str], what: str) -> list[Any]:
    """The weights of samples for each output."""
    if given is None or (isinstance(given, (list, tuple)) and not given):
        return [None] * len(names)
    if isinstance(given, dict):
        return _named(given, names, what)
    if len(names) == 1:
        single = isinstance(given, (list, tuple)) and len(given) == 1 and np.ndim(given[0]) > 0
        return [given[0] if single else given]
    if isinstance(given, (list, tuple)):
        return _listed(given, names, what)
    raise TypeError(
        f"The model has multiple outputs, so `{what}` should be either a list or a dict. Provided `{what}` "
        f"type not understood: {given}"
    )


def _per_class(given: Any, names: list[str]) -> list[Any]:
    """The weights of classes for each output."""
    what = "class_weight"
    if given is None:
        return [None] * len(names)
    if len(names) == 1:
        return [given[names[0]] if isinstance(given, dict) and names[0] in given else given]
    return _named(given, names, what) if isinstance(given, dict) else _listed(given, names, what)


def _named(given: dict[str, Any], names: list[str], what: str) -> list[Any]:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ValueError(
            f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: {names}"
        )
    return [given.get(name) for name in names]


def _listed(given: Any, names: list[str], what: str) -> list[Any]:
    if len(given) != len(names):
        raise ValueError(
            f"Provided `{what}` was a list of {len(given)} elements, but the model has {len(names)} "
            f"outputs. You should provide one `{what}`array per model output."
        )
    return list(given)


def _type_of_input(array: Any) -> Any:
    """The type of the input that a model has for an array."""
    if tf.is_tensor(array):
        return keras_state.floatx() if array.dtype.is_floating else array.dtype
    if array.dtype.kind in "OSU":
        return tf.string
    return keras_state.floatx() if array.dtype.kind == "f" else array.dtype
