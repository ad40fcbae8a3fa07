"""Connectionist temporal classification: the loss of a sequence of labels under all their alignments.

A path through the labels has a blank before, between and after them: state 2i is the blank before label i,
state 2i + 1 the label. ATen's forward-backward pass is taken where repeated labels are merged, as is usual;
without merging a label lasts exactly one step: `_one_step_each` is that recursion, for a whole batch at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from tideflow.export import export
from tideflow.graph import dtypes, errors
from tideflow.graph.composite import SparseTensor
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.errors import InvalidArgumentError
from tideflow.graph.op import Op, ShapeError
from tideflow.graph.operation import Tensor
from tideflow.graph.schema import attr
from tideflow.graph.scopes import name_scope
from tideflow.ops.arrays import constants, creation, indexing, joining, scatter, shapes
from tideflow.ops.helpers.arguments import renamed
from tideflow.ops.helpers.axes import brackets, of_rank, same_size
from tideflow.ops.helpers.samples import f32
from tideflow.ops.helpers.types import REAL_PARTS
from tideflow.ops.math import binary, casting, cumulative, positions, reductions

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


def checked_lengths(
    sequence_length: torch.Tensor,
    steps: int,
    batch: int,
    classes: int,
    too_long: Callable[[str], errors.OpError] = errors.failed_precondition,
) -> torch.Tensor:
    """The length of each sequence, on the host; `too_long` makes the error of more steps or sequences."""
    if classes == 0:
        raise ShapeError("num_classes must not be 0")
    lengths = sequence_length.cpu().long()
    if lengths.ndim != 1:
        raise ShapeError("sequence_length is not a vector")
    if len(lengths) != batch:
        raise too_long(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)} batch_size: {batch}"
        )
    for row, length in enumerate(lengths.tolist()):
        if length > steps:
            raise too_long(f"sequence_length({row}) <= {steps}, but is {length}")
        if length < 0:
            raise ShapeError(f"seq_len({row}) < 0")
    return lengths


class _Labels(NamedTuple):
    """The labels of each sequence: `values` [batch, longest], their `lengths`, and how many were `given`."""

    values: torch.Tensor
    lengths: torch.Tensor
    given: torch.Tensor


def _check_order(indices: torch.Tensor, batch: int) -> None:
    if not len(indices):
        return
    if indices.shape[1] != 2:
        raise ShapeError(
            "Order length must be SparseTensor rank: labels_indices must have 2 columns, but are "
            f"{brackets(indices.shape)}"
        )
    width = int(indices[:, 1].max()) + 1
    outside = (indices < 0).any(1) | (indices[:, 0] >= batch)
    if outside.any():
        i = int(outside.nonzero()[0])
        raise ShapeError(
            f"label SparseTensor is not valid: indices[{i}] = {brackets(indices[i].tolist())} is out of "
            f"bounds: need 0 <= index < {brackets([batch, width])}"
        )
    falling = torch.diff(indices[:, 0] * width + indices[:, 1]) <= 0
    if falling.any():
        i = int(falling.nonzero()[0]) + 1
        raise ShapeError(
            f"label SparseTensor is not valid: indices[{i}] = {brackets(indices[i].tolist())} is out of "
            "order. Many sparse ops require sorted indices."
        )


def _check_values(table: torch.Tensor, counted: torch.Tensor, null: torch.Tensor) -> None:
    after_null = ((counted & null).cumsum(1) > 0) & counted & ~null
    for wrong, what in (
        (after_null, "Saw a non-null label (index >= num_classes - 1) following a null label"),
        (counted & (table < 0), "All labels must be nonnegative integers"),
    ):
        if wrong.any():
            row = int(wrong.nonzero()[0, 0])
            raise ShapeError(f"{what}, batch: {row} labels: {table[row][counted[row]].tolist()}")


def _label_rows(
    indices: torch.Tensor, values: torch.Tensor, batch: int, classes: int, collapse_repeated: bool
) -> _Labels:
    """The labels of a sparse matrix without the nulls (the blank's class and above) that may end a row."""
    _check_order(indices, batch)
    rows = indices[:, 0]
    given = torch.bincount(rows, minlength=batch)
    if not given.all():
        raise ShapeError(f"Labels length is zero in batch {int((given == 0).nonzero()[0])}")
    place = torch.arange(len(rows)) - (given.cumsum(0) - given)[rows]
    table = torch.full((batch, int(given.max())), classes, dtype=torch.int64)
    table[rows, place] = values.long()
    counted = torch.arange(table.shape[1]) < given[:, None]
    if collapse_repeated:
        counted[:, 1:] &= table[:, 1:] != table[:, :-1]
    null = table >= classes - 1
    _check_values(table, counted, null)
    kept = counted & ~null
    lengths = kept.sum(1)
    compact = torch.zeros((batch, max(1, int(lengths.max()))), dtype=torch.int64)
    compact[kept.nonzero()[:, 0], kept.cumsum(1)[kept] - 1] = table[kept]
    return _Labels(compact, lengths, given)


def _merging(
    probabilities: torch.Tensor, labels: torch.Tensor, label_lengths: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Loss and gradient where a label may last many steps, and equal neighbours need a blank between them."""
    blank = probabilities.shape[2] - 1
    log_probabilities = probabilities.log()
    sizes = lengths.tolist(), label_lengths.tolist()
    loss, forward = torch._ctc_loss(log_probabilities, labels, *sizes, blank, False)
    gradient = torch.ops.aten._ctc_loss_backward(
        torch.ones_like(loss), log_probabilities, labels, *sizes, loss, forward, blank, False
    )
    return loss, gradient.masked_fill(probabilities == 0, 0)


def _shifted(states: torch.Tensor, places: int) -> torch.Tensor:
    """The states moved up (or down) along the path; nothing comes from beyond its ends."""
    size = states.shape[1]
    moved = torch.constant_pad_nd(states, [max(places, 0), max(-places, 0)], -torch.inf)
    return moved[:, :size] if places > 0 else moved[:, -size:]


def _one_step_each(
    probabilities: torch.Tensor, labels: torch.Tensor, label_lengths: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Loss and gradient where a label lasts one step, and equal neighbours are two labels."""
    device, (steps, batch, classes) = probabilities.device, probabilities.shape
    lengths, last = lengths.to(device), 2 * label_lengths.to(device)
    states = torch.full((batch, 2 * labels.shape[1] + 1), classes - 1, device=device)
    states[:, 1::2] = labels
    is_label = (torch.arange(states.shape[1], device=device) % 2).bool()
    emitted = probabilities.log().gather(2, states.expand(steps, -1, -1))

    forward = torch.full_like(emitted, -torch.inf)
    forward[:1, :, :2] = emitted[:1, :, :2]
    for t in range(1, steps):
        before = forward[t - 1]
        reached = torch.stack(
            [
                before.masked_fill(is_label, -torch.inf),
                _shifted(before, 1),
                _shifted(before, 2).masked_fill(~is_label, -torch.inf),
            ]
        )
        forward[t] = torch.logsumexp(reached, 0) + emitted[t]

    at_end = torch.full_like(emitted[0], -torch.inf).scatter(1, last[:, None], 0.0)
    at_end = at_end.scatter(1, (last[:, None] - 1).clamp(min=0), 0.0)
    backward = torch.full_like(emitted, -torch.inf)
    for t in reversed(range(steps)):
        if t + 1 < steps:
            after = backward[t + 1] + emitted[t + 1]
            left = torch.stack(
                [
                    after.masked_fill(is_label, -torch.inf),
                    _shifted(after, -1),
                    _shifted(after.masked_fill(~is_label, -torch.inf), -2),
                ]
            )
            backward[t] = torch.logsumexp(left, 0)
        backward[t] = torch.where((lengths == t + 1)[:, None], at_end, backward[t])

    through = forward + backward
    likelihood = torch.logsumexp(through[0], 1)
    occupied = torch.exp(through - likelihood[:, None])
    return -likelihood, probabilities.scatter_add(2, states.expand(steps, -1, -1), -occupied)


ctc_loss_op = Op(
    "CTCLoss",
    "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T",
    T=attr("type", "float", allowed=REAL_PARTS),
    preprocess_collapse_repeated=False,
    ctc_merge_repeated=True,
    ignore_longer_outputs_than_inputs=False,
    gradient_follows="loss",
)


@ctc_loss_op.shape
def _ctc_loss_shape(inputs, labels_indices, labels_values, sequence_length):
    steps, batch, classes = of_rank(inputs, 3, "inputs is not a 3-Tensor").tuple
    entries, *_ = of_rank(labels_indices, 2, "labels_indices is not a matrix").tuple
    (values,) = of_rank(labels_values, 1, "labels_values is not a vector").tuple
    shapes = f"{labels_indices} vs. {labels_values}"
    same_size(
        entries,
        values,
        f"labels_indices and labels_values must contain the same number of rows, but saw shapes: {shapes}",
    )
    batch = same_size(batch, of_rank(sequence_length, 1, "sequence_length is not a vector").tuple[0])
    return [[batch], [steps, batch, classes]]


@ctc_loss_op.kernel
def _ctc_loss_kernel(
    inputs,
    labels_indices,
    labels_values,
    sequence_length,
    *,
    preprocess_collapse_repeated,
    ctc_merge_repeated,
    ignore_longer_outputs_than_inputs,
):
    steps, batch, classes = inputs.shape
    if batch == 0:
        raise ShapeError("batch_size must not be 0")
    lengths = checked_lengths(sequence_length, *inputs.shape, errors.invalid_argument)
    labels = _label_rows(
        labels_indices.cpu(), labels_values.cpu(), batch, classes, preprocess_collapse_repeated
    )
    too_long = labels.given > lengths
    if too_long.any() and not ignore_longer_outputs_than_inputs:
        row = int(too_long.nonzero()[0])
        raise ShapeError(
            f"Not enough time for target transition sequence (required: {int(labels.given[row])}, available: "
            f"{int(lengths[row])}) in batch {row}. You can turn this error into a warning by using the flag "
            "ignore_longer_outputs_than_inputs"
        )
    skipped = (too_long | (lengths == 0)).to(inputs.device)
    probabilities = torch.softmax(inputs, 2)
    find = _merging if ctc_merge_repeated else _one_step_each
    loss, gradient = find(probabilities, labels.values.to(inputs.device), labels.lengths, lengths)
    # Where no path exists, TensorFlow's gradient is the probabilities themselves.
    gradient = torch.where(loss.isinf()[:, None], probabilities, gradient)
    outside = torch.arange(steps)[:, None] >= lengths
    unused = outside.to(inputs.device) | skipped
    return loss.masked_fill(skipped, 0), gradient.masked_fill(unused[..., None], 0)


@ctc_loss_op.gradient
def _ctc_loss_gradient(op, loss_grad, _):
    once = constants.prevent_gradient_op(
        op.outputs[1],
        message="Currently there is no way to take the second derivative of ctc_loss due to the fused "
        "implementation's interaction with tf.gradients()",
    )
    return shapes.expand_dims(loss_grad, -1) * once, None, None, None


def labels_of(path: Sequence[int], blank: int, merge_repeated: bool) -> tuple[int, ...]:
    """What a path of classes reads: without blanks and, if merged, with runs of a label as one."""
    classes = [label for label, _ in groupby(path)] if merge_repeated else path
    return tuple(label for label in classes if label != blank)


def _ctc_loss_reference(
    inputs,
    labels_indices,
    labels_values,
    sequence_length,
    *,
    preprocess_collapse_repeated,
    ctc_merge_repeated,
    ignore_longer_outputs_than_inputs,
):
    """Every path that reads the labels, with its probability."""
    classes = inputs.shape[2]
    losses, gradients = np.zeros(len(sequence_length)), np.zeros(inputs.shape)
    for row, length in enumerate(sequence_length):
        labels = tuple(labels_values[labels_indices[:, 0] == row])
        if ignore_longer_outputs_than_inputs and len(labels) > length:
            continue
        if preprocess_collapse_repeated:
            labels = tuple(label for label, _ in groupby(labels))
        probabilities = np.exp(inputs[:length, row])
        probabilities /= probabilities.sum(1, keepdims=True)
        paths = product(range(classes), repeat=length)
        paths = np.array(
            [path for path in paths if labels_of(path, classes - 1, ctc_merge_repeated) == labels]
        )
        chances = probabilities[np.arange(length), paths].prod(1)
        losses[row] = -np.log(chances.sum())
        for step in range(length):
            taken = np.bincount(paths[:, step], chances, classes) / chances.sum()
            gradients[step, row] = probabilities[step] - taken
    return losses, gradients


_LABELS = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]]), np.array([1, 2, 0, 0, 3], np.int32)
ctc_loss_op.samples(
    (f32(6, 2, 5), *_LABELS, np.array([6, 5], np.int32)),
    (f32(6, 2, 5), *_LABELS, np.array([6, 5], np.int32), {"ctc_merge_repeated": False}),
    (f32(6, 2, 5), *_LABELS, np.array([6, 5], np.int32), {"preprocess_collapse_repeated": True}),
    (f32(6, 2, 5), *_LABELS, np.array([6, 2], np.int32), {"ignore_longer_outputs_than_inputs": True}),
    against=_ctc_loss_reference,
)
ctc_loss_op.refuses(
    (f32(6, 2, 5), *_LABELS, np.array([6, 2], np.int32)), "Not enough time", InvalidArgumentError
)
ctc_loss_op.refuses((f32(6, 5), *_LABELS, np.array([6, 5], np.int32)), "Shape must be rank 3 but is rank 2")


@export("nn.ctc_loss")
def ctc_loss(
    labels: SparseTensor,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """Computes the CTC loss of each sequence of a batch: minus the logarithm of the probability of its
    labels.

    That is the sum over all alignments of labels and blanks with the steps; the last class is the blank.

    Args:
      labels: An int32 SparseTensor [batch, longest] of classes, without blanks.
      inputs: Logits [steps, batch, classes], of float32 or float64.
      sequence_length: An int32 vector: how many steps each sequence has.
      preprocess_collapse_repeated: Whether runs of the same label are made one before.
      ctc_merge_repeated: Whether a run of steps with the same class is one label, as is usual. If not, every
        step with a class that is not the blank is a label.
      ignore_longer_outputs_than_inputs: Whether sequences with more labels than steps get a loss of 0 instead
        of an error.
      time_major: Whether the steps are the first axis of the logits, and not the second.
      logits: Another name of `inputs`.

    Returns:
      A vector with the loss of each sequence, of the type of the logits.

    Raises:
      TypeError: Where `labels` is not a SparseTensor.
      InvalidArgumentError: In a step whose labels are not classes, whose label indices are out of order, or
        that has sequences with more labels than steps.
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = renamed("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = shapes.transpose(inputs, [1, 0, 2])
    return ctc_loss_op(
        inputs,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    ).loss


@export("nn.ctc_loss_v2")
def ctc_loss_v2(
    labels: TensorLike | SparseTensor,
    logits: TensorLike,
    label_length: TensorLike,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Computes the CTC loss of each sequence of a batch, of dense or sparse labels.

    Args:
      labels: An int32 tensor [batch, longest] of classes, or a SparseTensor of them.
      logits: Logits [steps, batch, classes], of float32 or float64.
      label_length: An int32 vector: how many labels each sequence has. Not used for a SparseTensor.
      logit_length: An int32 vector: how many steps each sequence has.
      logits_time_major: Whether the steps are the first axis of `logits`, and not the second.
      unique: What `tf.nn.ctc_unique_labels` gives; a hint that changes no value.
      blank_index: The class of the blank, negative if counted from the end; 0 by default for dense labels, to
        be given for a SparseTensor.
      name: A name for the operation.

    Returns:
      A vector with the loss of each sequence; infinite where the labels cannot fit into the steps.

    Raises:
      ValueError: Where `labels` is a SparseTensor and `blank_index` is not given.
    """
    if isinstance(labels, SparseTensor):
        if blank_index is None:
            raise ValueError("blank_index must be given when using SparseTensor labels.")
        logits, values = _blank_last(logits, labels.values, blank_index)
        labels = SparseTensor(labels.indices, values, labels.dense_shape)
        return ctc_loss(labels, logits, logit_length, time_major=logits_time_major)
    with name_scope(name, "ctc_loss_dense", [logits, labels, label_length, logit_length]):
        labels = casting.cast(convert_to_tensor(labels, name="labels"), dtypes.int32)
        label_length = convert_to_tensor(label_length, name="label_length")
        logit_length = casting.cast(convert_to_tensor(logit_length, name="logit_length"), dtypes.int32)
        logits, labels = _blank_last(logits, labels, blank_index or 0)
        return _dense_loss(
            labels, logits, casting.cast(label_length, dtypes.int32), logit_length, logits_time_major
        )


def _size(tensor: Tensor, axis: int) -> Any:
    """A size as a number where it is known, else as a tensor."""
    sizes = tensor.shape.tuple
    return shapes.shape(tensor)[axis] if sizes is None or sizes[axis] is None else sizes[axis]


def _blank_last(logits: Any, labels: Any, blank_index: int) -> tuple[Tensor, Any]:
    """The logits with the blank as the last class, and the labels renumbered."""
    logits = convert_to_tensor(logits, name="logits")
    if blank_index < 0:
        blank_index += _size(logits, 2)
    if isinstance(blank_index, int) and blank_index == logits.shape.with_rank(3).tuple[2] - 1:
        return logits, labels
    parts = [
        logits[:, :, :blank_index],
        logits[:, :, blank_index + 1 :],
        logits[:, :, blank_index : blank_index + 1],
    ]
    return joining.concat(parts, 2), indexing.where(labels < blank_index, labels, labels - 1)


def _dense_loss(
    labels: Tensor, logits: Tensor, label_length: Tensor, logit_length: Tensor, time_major: bool
) -> Tensor:
    """The loss of dense labels, computed as that of sparse ones: a row without labels holds one null."""
    null = _size(logits, 2) - 1
    longest = _size(labels, 1)
    used = creation.sequence_mask(label_length, longest)
    listed = creation.sequence_mask(binary.maximum(label_length, 1), longest)
    labels = indexing.where(used, labels, creation.fill(shapes.shape(labels), null))
    sparse = SparseTensor(
        indexing.where(listed),
        indexing.boolean_mask(labels, listed),
        shapes.shape(labels, out_type=dtypes.int64),
    )
    loss = ctc_loss(
        sparse, logits, logit_length, ignore_longer_outputs_than_inputs=True, time_major=time_major
    )
    impossible = binary.greater(label_length, logit_length)
    return indexing.where(
        impossible, creation.fill(shapes.shape(loss), constants.constant(np.inf, loss.dtype)), loss
    )


@export("nn.collapse_repeated")
def collapse_repeated(
    labels: TensorLike, seq_length: TensorLike, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Makes runs of the same label in each row one.

    Args:
      labels: A tensor [batch, longest] of labels.
      seq_length: A vector: how many labels each row has.
      name: A name for the operation.

    Returns:
      The remaining labels, padded with 0 to the longest row, and how many there are in each.
    """
    with name_scope(name, "collapse_repeated_labels", [labels, seq_length]):
        labels = convert_to_tensor(labels, name="labels")
        seq_length = convert_to_tensor(seq_length, name="seq_length")
        first = creation.ones_like(labels[:, :1], dtypes.bool)
        changed = joining.concat([first, binary.not_equal(labels[:, 1:], labels[:, :-1])], 1)
        kept = binary.logical_and(changed, creation.sequence_mask(seq_length, _size(labels, 1)))
        counts = casting.cast(kept, dtypes.int32)
        lengths = reductions.reduce_sum(counts, 1)
        rows = casting.cast(indexing.where(kept)[:, 0], dtypes.int32)
        columns = indexing.boolean_mask(cumulative.cumsum(counts, 1, exclusive=True), kept)
        collapsed = scatter.scatter_nd(
            joining.stack([rows, columns], 1),
            indexing.boolean_mask(labels, kept),
            [_size(labels, 0), reductions.reduce_max(lengths)],
        )
        return collapsed, casting.cast(lengths, seq_length.dtype)


@export("nn.ctc_unique_labels")
def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Lists the different labels of each row, as `tf.nn.ctc_loss_v2` may be given them.

    Args:
      labels: A tensor [batch, longest] of labels.
      name: A name for the operation.

    Returns:
      The different labels of each row in order of appearance, padded with 0, and for each label which of them
      it is; both of the shape of `labels`.
    """
    with name_scope(name, "ctc_unique_labels", [labels]):
        labels = casting.cast(convert_to_tensor(labels, name="labels"), dtypes.int64)
        same = binary.equal(shapes.expand_dims(labels, 2), shapes.expand_dims(labels, 1))
        first = positions.argmax(casting.cast(same, dtypes.int32), 2, output_type=dtypes.int32)
        is_first = casting.cast(binary.equal(first, creation.range(_size(labels, 1))), dtypes.int32)
        rank = cumulative.cumsum(is_first, 1, exclusive=True)
        idx = indexing.gather(rank, first, batch_dims=1)
        place = creation.one_hot(rank, _size(labels, 1), dtype=dtypes.int64)
        new = shapes.expand_dims(labels * casting.cast(is_first, dtypes.int64), 2)
        return [reductions.reduce_sum(place * new, 1), idx]
