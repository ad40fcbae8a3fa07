"""State that datasets have beside them, behind handles: the seeds of their orders, and what is cached.

TensorFlow 2 has such ops, so that each pass over a dataset goes on where the one before it ended. An object
lives as long as its handle; a deleter says that nobody needs it any longer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tideflow.graph.op import Op
from tideflow.ops.helpers.datasets import STRUCTURE, dataset_op
from tideflow.ops.helpers.session_objects import held
from tideflow.runtime import dataset_files as files
from tideflow.runtime import dataset_random, datasets
from tideflow.runtime.datasets import as_cell, dataset_in
from tideflow.runtime.iterators import DatasetIterator

_STATEFUL = {"stateful": True, "on_host": True, "differentiable": False}
_TESTS = "tests/ops/datasets/test_kept_state.py"


def anonymous_op(name: str, inputs: str, make: Callable, deleter: bool = True, **attrs: Any) -> Op:
    """An op that makes an object which has no name: a handle, and what `Delete…` takes beside it."""
    outputs = "handle: resource, deleter: variant" if deleter else "handle: resource"
    op = Op(name, f"{inputs} -> {outputs}", **_STATEFUL, **attrs)
    op.shape(lambda *inputs: [[], []] if deleter else [])
    op.kernel(make)
    op.samples(covered_by=_TESTS)
    return op


def delete_op(name: str, inputs: str = "handle: resource, deleter: variant", **attrs: Any) -> Op:
    """An op that says that an object is not needed any longer: what it holds is let go with its handle."""
    op = Op(name, inputs, **_STATEFUL, **attrs)
    op.shape(lambda *inputs: [])
    op.kernel(lambda *inputs: None)
    op.samples(covered_by=_TESTS)
    return op


def _with_deleter(made: Any) -> tuple[Any, Any]:
    return as_cell(made), as_cell(made)


def _iterator(output_types, output_shapes, resources):
    return DatasetIterator("anonymous iterator", output_types, output_shapes, resources)


# ------------------------------------------------------------------------------------------------- iterators

anonymous_iterator_op = anonymous_op(
    "AnonymousIterator",
    "",
    lambda *, output_types, output_shapes, resources: as_cell(
        _iterator(output_types, output_shapes, resources)
    ),
    deleter=False,
    **STRUCTURE,
)
anonymous_iterator_v2_op = anonymous_op(
    "AnonymousIteratorV2",
    "",
    lambda *, output_types, output_shapes, resources: _with_deleter(
        _iterator(output_types, output_shapes, resources)
    ),
    **STRUCTURE,
)
delete_iterator_op = delete_op("DeleteIterator")

# ------------------------------------------------------------------------------------------- seeds of orders

anonymous_seed_generator_op = anonymous_op(
    "AnonymousRandomSeedGenerator",
    "seed: int64, seed2: int64",
    lambda seed, seed2: _with_deleter(dataset_random.SeedGenerator(seed, seed2)),
    host="seed seed2",
)
delete_seed_generator_op = delete_op("DeleteRandomSeedGenerator")

shuffle_dataset_v2_op = dataset_op(
    "ShuffleDatasetV2",
    "input_dataset: variant, buffer_size: int64, seed_generator: resource",
    lambda source, size, seeds: as_cell(dataset_random.ShuffleBySeeds(dataset_in(source), size, held(seeds))),
    host="buffer_size",
    stateful=True,
    covered_by=_TESTS,
)

# ---------------------------------------------------------------------------------------------------- caches

anonymous_memory_cache_op = anonymous_op(
    "AnonymousMemoryCache", "", lambda: _with_deleter(datasets.CachedElements())
)
delete_memory_cache_op = delete_op("DeleteMemoryCache")


def _cache(input_dataset, filename, cache, *, output_types):
    source = dataset_in(input_dataset)
    if filename:
        return as_cell(files.FileCache(source, filename.decode(), len(output_types)))
    return as_cell(datasets.MemoryCache(source, held(cache)))


cache_dataset_v2_op = dataset_op(
    "CacheDatasetV2",
    "input_dataset: variant, filename: string, cache: resource",
    _cache,
    host="filename",
    stateful=True,
    touches="files",
    covered_by=_TESTS,
)
