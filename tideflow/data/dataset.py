"""tf.data.Dataset: input pipelines as graphs. A dataset is a variant tensor and a structure of specs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.data import generators, iterator, kept_state, padding, structure
from tideflow.data.functions import Traced, factory, is_predicate, stateful, traced
from tideflow.data.numbers import number, parallel_cycle
from tideflow.data.options import Options
from tideflow.export import export
from tideflow.graph import dtypes, nest, scopes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph, name_scope
from tideflow.graph.shapes import TensorShape, dimension_at_index
from tideflow.graph.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec
from tideflow.ops.arrays import constants, shapes
from tideflow.ops.control_flow import debugging
from tideflow.ops.datasets import dataset_functions, dataset_graphs, dataset_stats, datasets
from tideflow.ops.files import files
from tideflow.ops.math import binary
from tideflow.ops.strings import joined as strings
from tideflow.platform import logging

if TYPE_CHECKING:
    from tideflow.graph.typing import ShapeLike, TensorLike

_MAX_INT64 = (1 << 63) - 1
_OPTIMIZATION_CONFIGS = ["map_vectorization:use_choose_fastest:false"]


@export("data.Dataset")
class Dataset(structure.OfElements):
    """A sequence of elements, each of which is a structure of tensors.

    Methods describe a pipeline; an iterator runs it:

        dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(1000).batch(32).repeat()
        batch = dataset.make_one_shot_iterator().get_next()

    Args:
      variant: The variant tensor of the dataset.
      spec: The specs of an element, in its structure.
      inputs: The datasets that this one is made of.
      options: The options of this dataset.
    """

    def __init__(
        self, variant: Tensor, spec: Any, inputs: Sequence[Dataset] = (), options: Options | None = None
    ):
        self._variant_tensor = variant
        self._element_spec = spec
        self._given = tuple(inputs)
        self._own_options = options

    @property
    def _attributes(self) -> dict[str, list[Any]]:
        return structure.flat_attributes(self._element_spec)

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self._element_spec)

    def _as_variant_tensor(self) -> Tensor:
        return self._variant_tensor

    def _as_serialized_graph(self, stateful_whitelist: Sequence[str] = ()) -> Tensor:
        return dataset_graphs.dataset_to_graph_op(self._variant_tensor)

    def _inputs(self) -> list[Dataset]:
        return list(self._given)

    def __repr__(self) -> str:
        kind = "DatasetV1Adapter" if type(self) is Dataset else f"{type(self).__name__}V1"
        return f"<{kind} {structure.as_text(self._element_spec)}>"

    _repr_html_ = structure.as_html

    def __iter__(self) -> Any:
        return iterator.EagerIterator(self)

    # ------------------------------------------------------------------ iterators

    def make_one_shot_iterator(self) -> iterator.Iterator:
        """Makes an iterator for one pass over the dataset, which needs no initialization.

        Returns:
          The iterator.

        Raises:
          ValueError: If the dataset uses variables or tables, which need initialization.
        """
        if scopes.executing_eagerly():
            return iter(self)
        if self._is_of_other_graph():
            logging.warn(structure.OF_OTHER_GRAPH.format(self))
        try:
            aggregator = self.options().experimental_stats.aggregator
            if aggregator is not None:
                raise ValueError(f"Cannot capture a stateful node (name:{aggregator._resource.op.name})")
            made = factory(lambda copied: self._advised(copied(self._variant_tensor)))
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does "
                "not support datasets that capture stateful objects, such as a `Variable` or `LookupTable`. "
                f"In these cases, use `Dataset.make_initializable_iterator()`. (Original error: {error})"
            ) from None
        return iterator.one_shot(made, self._element_spec)

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterator.Iterator:
        """Makes an iterator that begins the dataset when its `initializer` is run.

        Args:
          shared_name: The name under which sessions share the iterator.

        Returns:
          The iterator.
        """
        if self._is_of_other_graph():
            raise ValueError(structure.NOT_OF_THIS_GRAPH.format(self._variant_tensor.name))
        variant = self._advised(self._variant_tensor)
        return iterator.initializable(variant, self._element_spec, shared_name or "")

    def _is_of_other_graph(self) -> bool:
        return scopes.graph_of([self._variant_tensor]) is not get_default_graph()

    def options(self) -> Options:
        """The options of this dataset and of those it is made of.

        Returns:
          The Options.
        """
        options = Options()
        for given in self._given:
            options = options.merge(given.options())
        return options if self._own_options is None else options.merge(self._own_options)

    def with_options(self, options: Options) -> Dataset:
        """Sets options of the pipeline.

        Args:
          options: The Options, which are merged with those set before.

        Returns:
          A dataset of the same elements.

        Raises:
          ValueError: If an option has another value already.
        """
        made = Dataset(self._variant_tensor, self._element_spec, [self], options)
        made.options()  # refuses what does not go together
        return made

    def _advised(self, variant: Tensor) -> Tensor:
        """The dataset with the nodes that say how it is to be run."""
        options = self.options()
        threading = options.experimental_threading
        for op, value in (
            (datasets.max_intra_op_parallelism_dataset_op, threading.max_intra_op_parallelism),
            (datasets.private_thread_pool_dataset_op, threading.private_threadpool_size),
        ):
            if value is not None:
                variant = op(variant, value, **self._attributes)
        optimizations = options._optimizations()
        if optimizations:
            variant = datasets.optimize_dataset_op(
                variant,
                convert_to_tensor(optimizations, dtypes.string, name="optimizations"),
                optimization_configs=_OPTIMIZATION_CONFIGS,
                **self._attributes,
            )
        if options.experimental_optimization.autotune is not False:
            variant = datasets.model_dataset_op(variant, **self._attributes)
        stats = options.experimental_stats
        if stats.aggregator is not None:
            variant = dataset_stats.set_stats_aggregator_dataset_op(
                variant, stats.aggregator._resource, stats.prefix, stats.counter_prefix, **self._attributes
            )
        return variant

    # ------------------------------------------------------------------ sources

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """Makes a dataset of one element.

        Args:
          tensors: The element: a structure of tensors.

        Returns:
          The dataset.
        """
        element = structure.normalized(tensors)
        spec = structure.spec_of(element)
        shapes_of = structure.flat_attributes(spec)["output_shapes"]
        flat = structure.to_tensors(spec, element)
        return Dataset(datasets.tensor_dataset_op(flat, output_shapes=shapes_of), spec)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """Makes a dataset of the slices of tensors along their first axis.

        Args:
          tensors: A structure of tensors with the same first size.

        Returns:
          The dataset.
        """
        element = structure.normalized(tensors)
        batched = structure.spec_of(element)
        flat = structure.to_batched_tensors(batched, element)
        spec = structure.unbatched(batched)
        rows = TensorShape([None])
        for part in structure.flatten(batched):
            if hasattr(part, "shape") and part.shape.ndims is not None:
                dimension_at_index(rows, 0).assert_is_compatible_with(part.shape[0])
                rows = rows.merge_with(part.shape[:1])
        shapes_of = structure.flat_attributes(spec)["output_shapes"]
        return Dataset(datasets.tensor_slice_dataset_op(flat, output_shapes=shapes_of), spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Dataset:
        """Makes a dataset of the slices of a sparse tensor along its first axis.

        Args:
          sparse_tensor: The sparse tensor.

        Returns:
          A dataset whose elements are the indices, the values and the shape of each slice.

        Raises:
          TypeError: If the argument is not a sparse tensor.
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}.")
        rank = sparse_tensor.indices.shape.as_list()[1] if sparse_tensor.indices.shape.ndims else None
        rank = None if rank is None else rank - 1
        spec = (
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rank], dtypes.int64),
        )
        parts = sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        return Dataset(datasets.sparse_tensor_slice_dataset_op(*parts), spec)

    @staticmethod
    def from_generator(
        generator: Callable, output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Dataset:
        """Makes a dataset of the values of a Python generator.

        Args:
          generator: A function that returns an iterator; it is called for each pass.
          output_types: The types of an element, in its structure.
          output_shapes: The shapes of an element, in the same structure; unknown if None.
          args: Tensors whose values `generator` gets as arguments.

        Returns:
          The dataset.

        Raises:
          TypeError: If `generator` cannot be called.
        """
        return generators.from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Makes a dataset of numbers, as Python's `range`.

        Args:
          *args: The stop, or start and stop, or start, stop and step.

        Returns:
          A dataset of int64 scalars.
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        spec = TensorSpec([], dtypes.int64)
        variant = datasets.range_dataset_op(
            number(start, "start"),
            number(stop, "stop"),
            number(step, "step"),
            **structure.flat_attributes(spec),
        )
        return Dataset(variant, spec)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Joins the elements of several datasets side by side, until one of them ends.

        Args:
          datasets: A structure of datasets.

        Returns:
          A dataset whose elements have this structure.

        Raises:
          TypeError: If the structure contains anything but datasets.
        """
        given = structure.flatten(datasets)
        for dataset in given:
            if not isinstance(dataset, Dataset):
                if isinstance(dataset, list):
                    raise TypeError(
                        "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. "
                        "Nested structures do not support Python lists; please use a tuple instead."
                    )
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
                )
        spec = structure.pack(datasets, [dataset.element_spec for dataset in given])
        return _zipped(given, spec)

    @staticmethod
    def list_files(file_pattern: TensorLike, shuffle: bool | None = None, seed: int | None = None) -> Dataset:
        """Makes a dataset of the names of files that match patterns.

        Args:
          file_pattern: A pattern, or a vector of patterns.
          shuffle: Whether the names are in random order; True if None.
          seed: The seed of the order.

        Returns:
          A dataset of strings.

        Raises:
          InvalidArgumentError: In a step, if no file matches.
        """
        with name_scope("list_files"):
            shuffle = True if shuffle is None else shuffle
            pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
            found = files.matching_files(pattern)
            some = binary.greater(shapes.shape(found)[0], 0, name="match_not_empty")
            message = binary.add(
                "No files matched pattern: ", strings.reduce_join(pattern, separator=", "), name="message"
            )
            check = debugging.Assert(some, [message], summarize=1, name="assert_not_empty")
            with control_dependencies([check]):
                found = constants.identity(found)
            dataset = Dataset.from_tensor_slices(found)
            if shuffle:
                size = binary.maximum(shapes.shape(found, out_type=dtypes.int64)[0], 1)
                dataset = dataset.shuffle(size, seed=seed)
            return dataset

    # ------------------------------------------------------------------ the same elements, otherwise

    def _same(self, op: Any, *inputs: Any, **attrs: Any) -> Dataset:
        variant = op(self._variant_tensor, *inputs, **self._attributes, **attrs)
        return Dataset(variant, self._element_spec, [self])

    def _reshaped(self, op: Any, shapes: Any, *inputs: Any, **attrs: Any) -> Dataset:
        spec = structure.from_legacy(self.output_types, shapes, self.output_classes)
        variant = op(self._variant_tensor, *inputs, **structure.flat_attributes(spec), **attrs)
        return Dataset(variant, spec, [self])

    def concatenate(self, dataset: Dataset) -> Dataset:
        """Appends the elements of another dataset.

        Args:
          dataset: The other dataset, of the same structure.

        Returns:
          The dataset.

        Raises:
          TypeError: If the structures differ.
        """
        types, others = self.output_types, dataset.output_types
        classes, other_classes = self.output_classes, dataset.output_classes
        if types != others:
            raise TypeError(f"Two datasets to concatenate have different types {types} and {others}")
        if classes != other_classes:
            raise TypeError(
                f"Two datasets to concatenate have different classes {classes} and {other_classes}"
            )
        spec = structure.map_structure(
            lambda a, b: a.most_specific_compatible_type(b), self._element_spec, dataset._element_spec
        )
        attributes = structure.flat_attributes(spec)
        variant = datasets.concatenate_dataset_op(self._variant_tensor, dataset._variant_tensor, **attributes)
        return Dataset(variant, spec, [self, dataset])

    def prefetch(self, buffer_size: TensorLike) -> Dataset:
        """Reads elements ahead in a thread.

        Args:
          buffer_size: The number of elements to read ahead; `tf.data.experimental.AUTOTUNE` for a suitable
            one.

        Returns:
          A dataset of the same elements.
        """
        size = -1 if buffer_size is None else buffer_size
        return self._same(datasets.prefetch_dataset_op, number(size, "buffer_size"))

    def repeat(self, count: TensorLike | None = None) -> Dataset:
        """Repeats the dataset.

        Args:
          count: How often; infinitely often if None or -1.

        Returns:
          The dataset.
        """
        return self._same(datasets.repeat_dataset_op, number(-1 if count is None else count, "count"))

    def enumerate(self, start: TensorLike = 0) -> Dataset:
        """Adds a number to each element.

        Args:
          start: The first number.

        Returns:
          A dataset of pairs of number and element.
        """
        return Dataset.zip((Dataset.range(start, _MAX_INT64), self))

    def shuffle(
        self, buffer_size: TensorLike, seed: int | None = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """Shuffles the elements: each is drawn from a buffer of the next ones.

        Args:
          buffer_size: The size of the buffer. A perfect shuffle needs the size of the dataset.
          seed: The seed of the order.
          reshuffle_each_iteration: Whether each pass has another order; True if None.

        Returns:
          The dataset.
        """
        size = number(buffer_size, "buffer_size")
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        op, inputs, attrs = kept_state.shuffling(size, seed, again)
        return self._same(op, *inputs, **attrs)

    def cache(self, filename: TensorLike = "") -> Dataset:
        """Caches the elements during the first complete pass.

        Args:
          filename: The prefix of the files of the cache; "" for the memory.

        Returns:
          A dataset of the same elements.
        """
        return self._same(*kept_state.caching(number(filename, "filename", dtypes.string)))

    def take(self, count: TensorLike) -> Dataset:
        """Takes the first elements.

        Args:
          count: The number of elements; all if -1.

        Returns:
          The dataset.
        """
        return self._same(datasets.take_dataset_op, number(count, "count"))

    def skip(self, count: TensorLike) -> Dataset:
        """Skips the first elements.

        Args:
          count: The number of elements; all if -1.

        Returns:
          The dataset.
        """
        return self._same(datasets.skip_dataset_op, number(count, "count"))

    def shard(self, num_shards: TensorLike, index: TensorLike) -> Dataset:
        """Takes every `num_shards`-th element, so that workers can divide a dataset.

        Args:
          num_shards: The number of shards.
          index: The number of this shard, from 0.

        Returns:
          The dataset.

        Raises:
          InvalidArgumentError: If `index` is not in [0, num_shards).
        """
        return self._same(datasets.shard_dataset_op, number(num_shards, "num_shards"), number(index, "index"))

    # ------------------------------------------------------------------ batches

    def batch(self, batch_size: TensorLike, drop_remainder: TensorLike = False) -> Dataset:
        """Joins consecutive elements into batches, along a new first axis.

        Args:
          batch_size: The number of elements in a batch.
          drop_remainder: Whether a last batch of fewer elements is dropped; then the batch size is static.

        Returns:
          The dataset.
        """
        size = number(batch_size, "batch_size")
        drop = number(drop_remainder, "drop_remainder", dtypes.bool)
        spec = structure.batched(self._element_spec, padding.known_size(size, drop))
        variant = datasets.batch_dataset_v2_op(
            self._variant_tensor, size, drop, **structure.flat_attributes(spec)
        )
        return Dataset(variant, spec, [self])

    def padded_batch(
        self,
        batch_size: TensorLike,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: TensorLike = False,
    ) -> Dataset:
        """Joins consecutive elements of different sizes into batches, padded to a common size.

        Args:
          batch_size: The number of elements in a batch.
          padded_shapes: The shapes to pad to, in the structure of an element. An unknown size is the largest
            of the batch.
          padding_values: The values to pad with, in the structure of an element; zeros and empty strings if
            None.
          drop_remainder: Whether a last batch of fewer elements is dropped.

        Returns:
          The dataset.

        Raises:
          ValueError: If a shape or a padding value does not fit.
        """
        variant, spec = padding.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)
        return Dataset(variant, spec, [self])

    def unbatch(self) -> Dataset:
        """Splits each element along its first axis.

        Returns:
          A dataset of the rows.
        """
        parts = [part for part in structure.flatten(self._element_spec) if isinstance(part, TensorSpec)]
        sizes = {part.shape[0].value for part in parts if part.shape.ndims} - {None}
        if len(sizes) > 1:
            raise ValueError("Cannot unbatch an input whose components have different batch sizes.")
        spec = structure.unbatched(self._element_spec)
        tensors = self.map(structure.serialized_rows)
        attributes = structure.flat_attributes(spec)
        return Dataset(datasets.unbatch_dataset_op(tensors._variant_tensor, **attributes), spec, [self])

    def window(
        self,
        size: TensorLike,
        shift: TensorLike | None = None,
        stride: TensorLike = 1,
        drop_remainder: TensorLike = False,
    ) -> Dataset:
        """Groups consecutive elements into windows, each of which is a dataset.

        Args:
          size: The number of elements in a window.
          shift: The number of elements from the start of one window to the next; `size` if None.
          stride: The distance of the elements in a window.
          drop_remainder: Whether a last window of fewer elements is dropped.

        Returns:
          A dataset whose elements have a dataset for each component.
        """
        shift = size if shift is None else shift
        spec = structure.map_structure(DatasetSpec, self._element_spec)
        variant = datasets.window_dataset_op(
            self._variant_tensor,
            number(size, "size"),
            number(shift, "shift"),
            number(stride, "stride"),
            number(drop_remainder, "drop_remainder", dtypes.bool),
            **structure.flat_attributes(spec),
        )
        return Dataset(variant, spec, [self])

    # ------------------------------------------------------------------ functions

    def _with(
        self, op: Any, function: Traced, spec: Any, *inputs: Any, key: str = "f", **attrs: Any
    ) -> Dataset:
        attrs = {**structure.flat_attributes(spec), **attrs, key: function.attr}
        return Dataset(op(self._variant_tensor, function.captured, *inputs, **attrs), spec, [self])

    def map(self, map_func: Callable, num_parallel_calls: TensorLike | None = None) -> Dataset:
        """Applies a function to each element.

        Args:
          map_func: A function from an element's tensors to a structure of tensors.
          num_parallel_calls: The number of elements to process at the same time, in threads; one if None,
            `tf.data.experimental.AUTOTUNE` for a suitable number. The order of the elements stays.

        Returns:
          A dataset of the results.
        """
        function = traced(map_func, "Dataset.map()", self._element_spec)
        if num_parallel_calls is None:
            return self._with(dataset_functions.map_dataset_op, function, function.returned)
        parallel = number(num_parallel_calls, "num_parallel_calls", dtypes.int32)
        op = dataset_functions.parallel_map_dataset_op
        return self._with(op, function, function.returned, parallel)

    def _map_in_place(self, map_func: Callable) -> Dataset:
        """`map`, for functions too small to be worth a thread."""
        function = traced(map_func, "Dataset.map()", self._element_spec)
        op = dataset_functions.map_dataset_op
        return self._with(op, function, function.returned, use_inter_op_parallelism=False)

    map_with_legacy_function = map

    def flat_map(self, map_func: Callable) -> Dataset:
        """Applies a function that returns a dataset to each element, and concatenates the datasets.

        Args:
          map_func: A function from an element's tensors to a dataset.

        Returns:
          The dataset.

        Raises:
          TypeError: If the function does not return a dataset.
        """
        function = traced(map_func, "Dataset.flat_map()", self._element_spec)
        spec = dataset_spec(function, "flat_map")
        return self._with(dataset_functions.flat_map_dataset_op, function, spec)

    def interleave(
        self,
        map_func: Callable,
        cycle_length: TensorLike = -1,
        block_length: TensorLike = 1,
        num_parallel_calls: TensorLike | None = None,
    ) -> Dataset:
        """Applies a function that returns a dataset to each element, and interleaves the datasets' elements.

        Args:
          map_func: A function from an element's tensors to a dataset.
          cycle_length: The number of datasets to read from at the same time; -1 for a suitable number.
          block_length: The number of consecutive elements from one dataset.
          num_parallel_calls: Whether, and by how many threads, datasets are read ahead; not at all if None.

        Returns:
          The dataset.
        """
        function = traced(map_func, "Dataset.interleave()", self._element_spec)
        spec = dataset_spec(function, "interleave")
        cycle = number(parallel_cycle(cycle_length), "cycle_length")
        block = number(block_length, "block_length")
        if num_parallel_calls is None:
            return self._with(dataset_functions.interleave_dataset_op, function, spec, cycle, block)
        parallel = number(num_parallel_calls, "num_parallel_calls")
        op = dataset_functions.parallel_interleave_dataset_v2_op
        return self._with(op, function, spec, cycle, block, parallel)

    def filter(self, predicate: Callable) -> Dataset:
        """Keeps the elements for which a predicate is true.

        Args:
          predicate: A function from an element's tensors to a scalar bool.

        Returns:
          The dataset.
        """
        function = traced(predicate, "Dataset.filter()", self._element_spec)
        if not is_predicate(function.returned):
            raise ValueError(
                "`predicate` return type must be convertible to a scalar boolean tensor. Was "
                f"{function.returned}."
            )
        op = dataset_functions.filter_dataset_op
        return self._with(op, function, self._element_spec, key="predicate")

    filter_with_legacy_function = filter

    def apply(self, transformation_func: Callable) -> Dataset:
        """Applies a function to the dataset, so that calls can be chained.

        Args:
          transformation_func: A function from dataset to dataset.

        Returns:
          Its result.

        Raises:
          TypeError: If the result is not a dataset.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        return dataset

    def reduce(self, initial_state: Any, reduce_func: Callable) -> Any:
        """Reduces the dataset to one element.

        Args:
          initial_state: The state at the start: a structure of tensors.
          reduce_func: A function `reduce_func(state, element)` that returns the next state.

        Returns:
          The final state, as tensors.

        Raises:
          TypeError: If the function changes the structure or the types of the state.
        """
        with name_scope("initial_state"):
            state = structure.normalized(initial_state)
        spec = structure.spec_of(state)
        function, spec = stateful(reduce_func, "reduce()", spec, self._element_spec, whole=True)
        flat = dataset_functions.reduce_dataset_op(
            self._variant_tensor,
            structure.to_tensors(spec, state),
            function.captured,
            f=function.attr,
            **structure.flat_attributes(spec),
        )
        return structure.from_tensors(spec, flat)


def _zipped(given: list[Dataset], spec: Any) -> Dataset:
    variants = [dataset._variant_tensor for dataset in given]
    return Dataset(datasets.zip_dataset_op(variants, **structure.flat_attributes(spec)), spec, given)


def dataset_spec(function: Traced, what: str) -> Any:
    """The structure of the elements of the dataset that a function returns."""
    if not isinstance(function.returned, DatasetSpec):
        raise TypeError(
            "`map_func` must return a `Dataset` object. Got "
            f"{getattr(function.returned, 'value_type', type(function.returned))}"
        )
    return function.returned._element_spec


@export("data.DatasetSpec", "data.experimental.DatasetStructure")
class DatasetSpec(BatchableTypeSpec):
    """The spec of a dataset: the specs of its elements.

    Args:
      element_spec: The specs of an element, in its structure.
      dataset_shape: The shape of a tensor of datasets, which is a scalar.
    """

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: ShapeLike = ()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    value_type = property(lambda self: Dataset)
    _component_specs = property(lambda self: TensorSpec(self._dataset_shape, dtypes.variant))

    @staticmethod
    def from_value(value: Dataset) -> DatasetSpec:
        """Makes the spec of a dataset.

        Args:
          value: The dataset.

        Returns:
          The spec.
        """
        return DatasetSpec(value.element_spec)

    def _serialize(self) -> tuple:
        return self._element_spec, self._dataset_shape

    def _to_components(self, value: Dataset) -> Tensor:
        return value._variant_tensor

    def _to_tensor_list(self, value: Any) -> list[Tensor]:
        return [convert_to_tensor(nest.map_structure(lambda dataset: dataset._variant_tensor, value))]

    def _from_components(self, components: Any) -> Dataset:
        return Dataset(components, self._element_spec)

    def _from_compatible_tensor_list(self, tensor_list: Sequence[Tensor]) -> Any:
        return self._from_components(tensor_list[0])

    def _batch(self, batch_size: int | None) -> TypeSpec:
        return DatasetSpec(self._element_spec, TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self) -> TypeSpec:
        if not self._dataset_shape.ndims:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _to_legacy_output_types(self) -> Any:
        return self

    def _to_legacy_output_shapes(self) -> Any:
        return self

    def _to_legacy_output_classes(self) -> Any:
        return self
