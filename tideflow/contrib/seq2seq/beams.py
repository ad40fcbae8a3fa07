"""Beams: tensors of several candidates a row, split, merged, chosen, and put into the order of sequences."""

from __future__ import annotations

from typing import Any

from tideflow.contrib.seq2seq.sizes import size_of
from tideflow.export import export
from tideflow.graph import dtypes, nest
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.partial import constant_value
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.graph.shapes import TensorShape, as_shape
from tideflow.ops.arrays import creation, indexing, joining, shapes, tiling
from tideflow.ops.control_flow.debugging import Assert
from tideflow.ops.control_flow.tensor_array import TensorArray
from tideflow.ops.math import binary, casting, reductions
from tideflow.ops.nn.gather_tree import gather_tree
from tideflow.platform import logging

_NO_REORDERING = (
    "Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during the beam "
    "search."
)


@export("contrib.seq2seq.tile_batch")
def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each row `multiplier` times, one after the other: what each beam of a row begins with.

    Args:
      t: A tensor [batch, …], or a structure of them.
      multiplier: How often each row is repeated.
      name: The name scope of the operations.

    Returns:
      The same with `multiplier` rows for each.
    """
    with name_scope(name, "tile_batch", [*nest.flatten(t), multiplier]):
        return nest.map_structure(lambda each: _tiled(each, multiplier), t)


def _tiled(t: Any, multiplier: int) -> Tensor:
    t = convert_to_tensor(t, name="t")
    sizes = shapes.shape(t)
    if t.shape.ndims is None or t.shape.ndims < 1:
        raise ValueError("t must have statically known rank")
    batch, *rest = t.shape.as_list()
    copies = tiling.tile(shapes.expand_dims(t, 1), [1, multiplier, *(1 for _ in rest)])
    result = shapes.reshape(copies, joining.concat(([sizes[0] * multiplier], sizes[1:]), 0))
    result.set_shape([None if batch is None else batch * multiplier, *rest])
    return result


def gather_tree_from_array(t: Tensor, parent_ids: Tensor, sequence_length: Tensor) -> Tensor:
    """What beams wrote at each time, [time, batch * beam, …], in the order of the sequences they became."""
    time, batch, beams = (size_of(parent_ids, axis) for axis in range(3))
    own = shapes.expand_dims(shapes.expand_dims(creation.range(beams), 0), 0)
    own = tiling.tile(own, [time, batch, 1])
    longest = casting.cast(reductions.reduce_max(sequence_length, axis=1), dtypes.int32)
    sorted_ids = gather_tree(own, parent_ids, longest, beams + 1)
    # Past its end a beam has no parents: it keeps its own.
    inside = shapes.transpose(creation.sequence_mask(sequence_length, maxlen=time), perm=[2, 0, 1])
    sorted_ids = indexing.where(inside, sorted_ids, own)
    times = tiling.tile(shapes.reshape(creation.range(time), [-1, 1, 1]), [1, batch, beams])
    rows = tiling.tile(shapes.reshape(creation.range(batch), [-1, 1, 1]), [1, time, beams])
    places = joining.stack([times, shapes.transpose(rows, perm=[1, 0, 2]), sorted_ids], -1)
    sizes = shapes.shape(t)
    ordered = indexing.gather_nd(shapes.reshape(t, [time, batch, beams, -1]), places)
    return shapes.reshape(ordered, sizes)


def gather_beams(
    beams: Tensor,
    values: Tensor,
    batch_size: Any,
    range_size: Any,
    gather_shape: list,
    name: str | None = None,
) -> Tensor:
    """`values` of chosen beams. Of `gather_shape` are all beams of the batch one below the other."""
    with name_scope(name, "tensor_gather_helper"):
        before = shapes.expand_dims(creation.range(batch_size) * range_size, 1)
        places = shapes.reshape(beams + before, [-1])
        chosen = indexing.gather(shapes.reshape(values, gather_shape), places)
        rank = 1 + len(gather_shape)
        result = shapes.reshape(chosen, shapes.shape(values)[:rank], name="output")
        result.set_shape(TensorShape([known(batch_size)]).concatenate(values.shape[1:rank]))
        return result


def known(size: Any) -> int | None:
    """A size, where it is known before the step."""
    value = constant_value(convert_to_tensor(size))
    return None if value is None else int(value)


def has_rows(value: Any) -> bool:
    """Whether a part of a state has a batch: arrays keep theirs inside, scalars have none."""
    if isinstance(value, TensorArray):
        return False
    check_rank(value)
    return value.shape.ndims >= 1


def check_rank(value: Tensor) -> None:
    """Refuses a tensor of unknown rank."""
    if value.shape.ndims is None:
        raise ValueError(f"Expected tensor ({value}) to have known rank, but ndims == None.")


def merge_batch_beams(t: Tensor, size: Any, batch_size: Any, beam_width: int) -> Tensor:
    """[batch, beam, …] to [batch * beam, …]."""
    batch = known(batch_size)
    sizes = shapes.shape(t)
    result = shapes.reshape(t, joining.concat(([batch_size * beam_width], sizes[2:]), 0))
    result.set_shape(TensorShape([None if batch is None else batch * beam_width]).concatenate(_shape(size)))
    return result


def split_batch_beams(t: Tensor, size: Any, batch_size: Any, beam_width: int) -> Tensor:
    """[batch * beam, …] to [batch, beam, …]."""
    sizes = shapes.shape(t)
    result = shapes.reshape(t, joining.concat(([batch_size, beam_width], sizes[1:]), 0))
    expected = TensorShape([known(batch_size), beam_width]).concatenate(_shape(size))
    if not result.shape.is_compatible_with(expected):
        raise ValueError(
            "Unexpected behavior when reshaping between beam width and batch size.  "
            f"The reshaped tensor has shape: {result.shape}.  We expected it to have shape "
            f"(batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to create a zero_state with "
            "batch_size=encoder_batch_size * beam_width?"
        )
    result.set_shape(expected)
    return result


def _shape(size: Any) -> TensorShape:
    if isinstance(size, Tensor):
        value = constant_value(size)
        size = [None] if value is None else value.tolist()
    return as_shape(size)


# -------------------------------------------------------------------------------------------------- arrays


def sorted_array(t: Any, parent_ids: Tensor, lengths: Tensor, batch_size: Any, beam_width: int) -> Any:
    """A part of the last state; an array that beams wrote, if it can be sorted, as a tensor."""
    if not isinstance(t, TensorArray):
        return t
    shape = t.element_shape
    if not t._infer_shape or shape.ndims is None or shape.ndims < 1:
        logging.warn(
            "The TensorArray %s in the cell state is not amenable to sorting based on the beam search "
            "result. For a TensorArray to be sorted, its elements shape must be defined and have at least a "
            "rank of 1, but saw shape: %s",
            t.handle.name,
            shape,
        )
        return t
    if not may_have_beams(shape, known(batch_size), beam_width):
        return t
    values = t.stack()
    with control_dependencies([assert_beams(values, batch_size, beam_width)]):
        return gather_tree_from_array(values, parent_ids, lengths)


def may_have_beams(shape: TensorShape, batch: int | None, beams: int) -> bool:
    """Whether elements may be one a beam. As in TensorFlow, a known second axis must be the beams."""
    first, second = [*shape.as_list(), None][:2]
    if batch is None or first is None:
        return True
    if first == batch * beams and (second is None or (first, second) == (batch, beams)):
        return True
    logging.warn(
        "TensorArray reordering expects elements to be reshapable to %s which is incompatible with the "
        "current shape %s. %s",
        TensorShape([batch, beams, None]),
        shape,
        _NO_REORDERING,
    )
    return False


def assert_beams(values: Tensor, batch_size: Any, beams: int) -> Operation:
    message = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is "
        f"incompatible with the dynamic shape of {values.name} elements. {_NO_REORDERING}"
    )
    sizes = shapes.shape(values)
    merged = binary.equal(sizes[1], batch_size * beams)
    if values.shape.ndims == 2:
        return Assert(merged, [message])
    split = binary.logical_and(binary.equal(sizes[1], batch_size), binary.equal(sizes[2], beams))
    return Assert(binary.logical_or(merged, split), [message])
