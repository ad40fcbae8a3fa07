"""tf.data.Dataset: input pipelines as graphs. A dataset is a variant tensor and a structure of specs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tideflow.data import generators, iterator, padding, structure
from tideflow.data.functions import Traced, factory, traced
from tideflow.data.options import Options
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import control_dependencies, get_default_graph, get_seed, name_scope
from tideflow.graph.shapes import TensorShape
from tideflow.graph.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec
from tideflow.ops.arrays import constants, indexing, shapes
from tideflow.ops.control_flow import debugging
from tideflow.ops.datasets import dataset_functions, dataset_stats, datasets
from tideflow.ops.files import files
from tideflow.ops.math import binary
from tideflow.ops.strings import joined as strings

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike

_MAX_INT64 = (1 << 63) - 1
_OPTIMIZATIONS = ["map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"]
_OPTIMIZATION_CONFIGS = ["map_vectorization:use_choose_fastest:false"]


def number(value: Any, name: str, dtype: dtypes.DType = dtypes.int64) -> Tensor:
    """A count or a size as a tensor."""
    return convert_to_tensor(value, dtype=dtype, name=name)


def seeds(seed: Any) -> tuple[Tensor, Tensor]:
    """The pair of seeds of a dataset; never both zero where chance was asked not to choose."""
    first, second = get_seed(seed)
    first_tensor = number(0 if first is None else first, "seed")
    if second is None:
        return first_tensor, number(0, "seed2")
    with name_scope("seed2") as scope:
        second_tensor = number(second, "Const")
        both = binary.logical_and(binary.equal(first_tensor, 0), binary.equal(second_tensor, 0))
        other = number(2**31 - 1, "Const")
        return first_tensor, indexing.where(both, other, second_tensor, name=scope)


@export("data.Dataset")
class Dataset(structure.OfElements):
    """A sequence of elements, each a structure of tensors."""

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

    def _inputs(self) -> list[Dataset]:
        return list(self._given)

    def __repr__(self) -> str:
        shapes_text = str(structure.map_structure(str, self.output_shapes)).replace("'", "")
        types_text = str(structure.map_structure(repr, self.output_types)).replace("'", "")
        kind = "DatasetV1Adapter" if type(self) is Dataset else f"{type(self).__name__}V1"
        return f"<{kind} shapes: {shapes_text}, types: {types_text}>"

    def __iter__(self) -> Any:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    # ------------------------------------------------------------------ iterators

    def make_one_shot_iterator(self) -> iterator.Iterator:
        """An iterator that needs no initialization, and goes through the dataset once."""
        self._check_graph()
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
                "In these cases, use `Dataset.make_initializable_iterator()`. "
                f"(Original error: {error})"
            ) from None
        return iterator.one_shot(made, self._element_spec)

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterator.Iterator:
        """An iterator that begins whenever its `initializer` is run."""
        self._check_graph()
        variant = self._advised(self._variant_tensor)
        return iterator.initializable(variant, self._element_spec, shared_name or "")

    def _check_graph(self) -> None:
        if self._variant_tensor.graph is not get_default_graph():
            raise ValueError(
                "Iterator must be created in the same graph as its dataset: the dataset's variant tensor "
                f"{self._variant_tensor.name} is of another one."
            )

    def options(self) -> Options:
        """The options of this dataset and of those it is made of."""
        options = Options()
        for given in self._given:
            options = options.merge(given.options())
        return options if self._own_options is None else options.merge(self._own_options)

    def with_options(self, options: Options) -> Dataset:
        """The same dataset, to be run in this way."""
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
        if options.experimental_optimization.apply_default_optimizations is not False:
            variant = datasets.optimize_dataset_op(
                variant,
                convert_to_tensor(_OPTIMIZATIONS, dtypes.string, name="optimizations"),
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
        """A dataset of one element."""
        element = structure.normalized(tensors)
        spec = structure.spec_of(element)
        shapes_of = structure.flat_attributes(spec)["output_shapes"]
        flat = structure.to_tensors(spec, element)
        return Dataset(datasets.tensor_dataset_op(flat, output_shapes=shapes_of), spec)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of the tensors along their first axis."""
        element = structure.normalized(tensors)
        batched = structure.spec_of(element)
        flat = structure.to_batched_tensors(batched, element)
        spec = structure.unbatched(batched)
        rows = TensorShape([None])
        for part in structure.flatten(batched):
            if hasattr(part, "shape") and part.shape.ndims is not None:
                rows.assert_is_compatible_with(part.shape[:1])
                rows = rows.merge_with(part.shape[:1])
        shapes_of = structure.flat_attributes(spec)["output_shapes"]
        return Dataset(datasets.tensor_slice_dataset_op(flat, output_shapes=shapes_of), spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: SparseTensor) -> Dataset:
        """The slices of a sparse tensor along its first axis: indices, values and shape of each."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object.Was {sparse_tensor}.")
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
        """What a Python generator yields; `generator` is called, with `args`, for every pass."""
        return generators.from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Numbers, as Python's range has them."""
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
        """The elements of several datasets side by side."""
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
        """The names of the files that match a pattern, in random order unless `shuffle` is False."""
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

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this dataset, then those of the other."""
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
        """The same elements, read ahead by a thread."""
        size = -1 if buffer_size is None else buffer_size
        return self._same(datasets.prefetch_dataset_op, number(size, "buffer_size"))

    def repeat(self, count: TensorLike | None = None) -> Dataset:
        """The dataset again and again; without end where no count is given."""
        return self._same(datasets.repeat_dataset_op, number(-1 if count is None else count, "count"))

    def enumerate(self, start: TensorLike = 0) -> Dataset:
        """The elements, each with its number in front."""
        return Dataset.zip((Dataset.range(start, _MAX_INT64), self))

    def shuffle(
        self, buffer_size: TensorLike, seed: int | None = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """The elements in random order, as far as a buffer of so many allows."""
        size = number(buffer_size, "buffer_size")
        return self._same(
            datasets.shuffle_dataset_op,
            size,
            *seeds(seed),
            reshuffle_each_iteration=True if reshuffle_each_iteration is None else reshuffle_each_iteration,
        )

    def cache(self, filename: Any = "") -> Dataset:
        """The elements, kept in memory or in a file once they have been gone through."""
        return self._same(datasets.cache_dataset_op, number(filename, "filename", dtypes.string))

    def take(self, count: TensorLike) -> Dataset:
        """The first elements."""
        return self._same(datasets.take_dataset_op, number(count, "count"))

    def skip(self, count: TensorLike) -> Dataset:
        """All but the first elements."""
        return self._same(datasets.skip_dataset_op, number(count, "count"))

    def shard(self, num_shards: Any, index: TensorLike) -> Dataset:
        """Every `num_shards`-th element, from `index` on."""
        return self._same(datasets.shard_dataset_op, number(num_shards, "num_shards"), number(index, "index"))

    # ------------------------------------------------------------------ batches

    def batch(self, batch_size: TensorLike, drop_remainder: TensorLike = False) -> Dataset:
        """Elements together, along a new first axis."""
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
        """Elements of different sizes together, padded to these shapes, or to the largest where None."""
        variant, spec = padding.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)
        return Dataset(variant, spec, [self])

    def unbatch(self) -> Dataset:
        """The rows of the elements."""
        spec = structure.unbatched(self._element_spec)
        tensors = self.map(_normal_form)
        attributes = structure.flat_attributes(spec)
        return Dataset(datasets.unbatch_dataset_op(tensors._variant_tensor, **attributes), spec, [self])

    def window(
        self,
        size: TensorLike,
        shift: TensorLike | None = None,
        stride: int | Sequence[int] = 1,
        drop_remainder: TensorLike = False,
    ) -> Dataset:
        """Windows of elements: datasets, one for each component."""
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
        """What a function makes of each element; several at a time, in order, where that is asked for."""
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
        """The elements of the datasets that a function makes of each element."""
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
        """The elements of the datasets that a function makes of each element, several datasets at a time."""
        function = traced(map_func, "Dataset.interleave()", self._element_spec)
        spec = dataset_spec(function, "interleave")
        cycle = number(_cycle(cycle_length), "cycle_length")
        block = number(block_length, "block_length")
        if num_parallel_calls is None:
            return self._with(dataset_functions.interleave_dataset_op, function, spec, cycle, block)
        parallel = number(num_parallel_calls, "num_parallel_calls")
        op = dataset_functions.parallel_interleave_dataset_v2_op
        return self._with(op, function, spec, cycle, block, parallel)

    def filter(self, predicate: Callable) -> Dataset:
        """The elements for which a predicate holds."""
        function = traced(predicate, "Dataset.filter()", self._element_spec)
        if not _is_predicate(function.returned):
            raise ValueError(
                "`predicate` return type must be convertible to a scalar boolean tensor. Was "
                f"{function.returned}."
            )
        op = dataset_functions.filter_dataset_op
        return self._with(op, function, self._element_spec, key="predicate")

    filter_with_legacy_function = filter

    def apply(self, transformation_func: Callable) -> Dataset:
        """What a function makes of this dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        return dataset

    def reduce(self, initial_state: Any, reduce_func: Callable) -> Any:
        """What is left of a state when a function has put every element into it."""
        state = structure.pack(
            initial_state, [convert_to_tensor(leaf) if not hasattr(leaf, "_type_spec") else leaf
                            for leaf in structure.flatten(initial_state)]
        )  # fmt: skip
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


def _normal_form(*components: Any) -> Any:
    """Sparse components as rows of serialized ones."""
    element = components[0] if len(components) == 1 else components
    spec = structure.spec_of(element)
    rows = structure.to_batched_tensors(spec, element)
    return rows[0] if len(rows) == 1 else tuple(rows)


def _cycle(length: Any) -> Any:
    return (os.cpu_count() or 1) if isinstance(length, int) and length == -1 else length


def _is_predicate(spec: Any) -> bool:
    return isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([], dtypes.bool))


def dataset_spec(function: Traced, what: str) -> Any:
    """The structure of the elements of the dataset that a function returns."""
    if not isinstance(function.returned, DatasetSpec):
        raise TypeError(
            "`map_func` must return a `Dataset` object. Got "
            f"{getattr(function.returned, 'value_type', type(function.returned))}"
        )
    return function.returned._element_spec


def stateful(function: Callable, what: str, state: Any, element: Any, whole: bool) -> tuple[Traced, Any]:
    """A function of a state and an element, and the spec of the state: its shapes are what does not change
    from call to call. The function returns the next state, or (not `whole`) that and something else.
    """
    while True:
        made = traced(function, what, state, element)
        found = made.returned if whole else _first_of_two(made.returned)
        _check_state(state, found, what)
        wider = structure.map_structure(lambda a, b: a.most_specific_compatible_type(b), state, found)
        if structure.flatten(wider) == structure.flatten(state):
            return made, state
        state = wider


def _first_of_two(returned: Any) -> Any:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise TypeError("The scan function must return a pair comprising the new state and the output value.")
    return returned[0]


def _check_state(state: Any, found: Any, what: str) -> None:
    name = "reduce" if what.startswith("reduce") else "scan"
    for text, legacy in (
        ("classes", structure.legacy_classes),
        ("types", structure.legacy_types),
    ):
        before, after = legacy(state), legacy(found)
        if before != after:
            raise TypeError(
                f"The element {text} for the new state must match the initial state. Expected {before}; got "
                f"{after} from the {name} function."
            )


@export("data.DatasetSpec", "data.experimental.DatasetStructure")
class DatasetSpec(BatchableTypeSpec):
    """What is known of a dataset: the specs of its elements."""

    __slots__ = ("_dataset_shape", "_element_spec")

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    value_type = property(lambda self: Dataset)
    _component_specs = property(lambda self: TensorSpec(self._dataset_shape, dtypes.variant))

    @staticmethod
    def from_value(value: Dataset) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def _serialize(self) -> tuple:
        return self._element_spec, self._dataset_shape

    def _to_components(self, value: Dataset) -> Tensor:
        return value._variant_tensor

    def _to_tensor_list(self, value: Dataset) -> list[Tensor]:
        return [value._variant_tensor]

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


@export("data.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Dataset) -> iterator.Iterator:
    """An iterator that needs no initialization."""
    return dataset.make_one_shot_iterator()


@export("data.make_initializable_iterator")
def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> iterator.Iterator:
    """An iterator that begins whenever its `initializer` is run."""
    return dataset.make_initializable_iterator(shared_name)


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        ) from None


@export("data.get_output_types")
def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements' components."""
    return structure.legacy_types(get_structure(dataset_or_iterator))


@export("data.get_output_shapes")
def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements' components."""
    return structure.legacy_shapes(get_structure(dataset_or_iterator))


@export("data.get_output_classes")
def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The Python classes of the elements' components."""
    return structure.legacy_classes(get_structure(dataset_or_iterator))


@export("data.experimental.from_variant")
def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The dataset in a variant tensor, whose elements have these specs."""
    return Dataset(variant, structure)


@export("data.experimental.to_variant")
def to_variant(dataset: Dataset) -> Tensor:
    """The variant tensor of a dataset."""
    return dataset._variant_tensor
