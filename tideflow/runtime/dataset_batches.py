"""Batches, padded and sparse batches, windows, and the elements of batches again."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tideflow.graph import errors
from tideflow.runtime.datasets import (
    Dataset,
    Element,
    Elements,
    End,
    Iteration,
    OfOne,
    Pull,
    Rows,
    as_cell,
    iter_pull,
    refuse,
    shape_text,
    stacked,
)
from tideflow.runtime.waiting import StepContext


class Batch(OfOne):
    """Batches of `size` elements; the last one may be smaller, unless the remainder is dropped."""

    def __init__(self, source: Dataset, size: int, drop_remainder: bool) -> None:
        super().__init__(source)
        if size <= 0:
            raise refuse("Batch size must be greater than zero.")
        self.size, self.drop_remainder = size, drop_remainder

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate_many(iteration)

        def pull(context: StepContext) -> Element:
            rows = following(context, self.size)
            if self.drop_remainder and len(rows[0]) < self.size:
                raise End
            return rows

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if there < 0:
            return there
        return there // self.size if self.drop_remainder else -(-there // self.size)


class _FilledBatch(Batch):
    """Batches of elements of different sizes. Subclasses define how elements are joined."""

    def joined(self, taken: list[Element]) -> Element:
        """One batch of these elements."""
        raise AssertionError("each subclass defines `joined`")

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        ended = False

        def pull(context: StepContext) -> Element:
            nonlocal ended
            if ended:
                raise End
            taken: list[Element] = []
            try:
                for _ in range(self.size):
                    taken.append(following(context))
            except End:
                ended = True
                if not taken or self.drop_remainder:
                    raise
            return self.joined(taken)

        return pull


class PaddedBatch(_FilledBatch):
    """Batches of elements of different sizes, each padded to the given size or the largest in the batch."""

    def __init__(
        self,
        source: Dataset,
        size: int,
        padded_shapes: Sequence[Sequence[int]],
        padding: Sequence[Any],
        drop_remainder: bool,
    ) -> None:
        super().__init__(source, size, drop_remainder)
        for found in itertools.chain.from_iterable(padded_shapes):
            if found < -1:
                raise refuse(f"Dimension {found} must be >= -1")
        self._shapes, self._padding = padded_shapes, padding

    def joined(self, taken: list[Element]) -> Element:
        columns = zip(*taken, strict=True)
        return tuple(
            _padded(i, values, sizes, blank)
            for i, (values, sizes, blank) in enumerate(zip(columns, self._shapes, self._padding, strict=True))
        )


def _padded(component: int, values: Sequence[Any], sizes: Sequence[int], blank: Any) -> Any:
    first = values[0]
    for value in values:
        if value.ndim != len(sizes):
            raise refuse(
                f"All elements in a batch must have the same rank as the padded shape for component"
                f"{component}: expected rank {len(sizes)} got element with rank {value.ndim}"
            )
    largest = [max(found) for found in zip(*(value.shape for value in values), strict=True)]
    if any(size >= 0 and size < found for size, found in zip(sizes, largest, strict=True)):
        raise errors.data_loss("Attempted to pad to a smaller size than the input element.")
    largest = [found if size < 0 else size for size, found in zip(sizes, largest, strict=True)]
    if all(list(value.shape) == largest for value in values):
        return stacked(values)
    filled: Any
    if isinstance(first, torch.Tensor):
        filled = first.new_full((len(values), *largest), blank.item())
    else:
        filled = np.full((len(values), *largest), blank[()], dtype=object)
    for i, value in enumerate(values):
        filled[(i, *(slice(size) for size in value.shape))] = value
    return filled


class SparseBatch(_FilledBatch):
    """Batches of dense elements of different sizes. A batch is a sparse tensor, in the cells of a variant."""

    def __init__(self, source: Dataset, size: int, row_shape: Sequence[int]) -> None:
        super().__init__(source, size, drop_remainder=False)
        self._row_shape = list(row_shape)

    def joined(self, taken: list[Element]) -> Element:
        rows = [element[0] for element in taken]
        sizes = [max(known, 0) for known in self._row_shape]
        for row in rows:
            if row.ndim != len(sizes):
                raise refuse(
                    f"Input element had shape ({shape_text(row)}) that is incompatible with the row shape"
                )
            for axis, (size, known) in enumerate(zip(row.shape, self._row_shape, strict=True)):
                if 0 <= known < size:
                    raise errors.data_loss(
                        f"Input element had shape {shape_text(row)} that is larger than the row shape, in "
                        f"axis {axis}."
                    )
                sizes[axis] = max(sizes[axis], size)
        indices = [np.argwhere(np.ones(tuple(row.shape), bool)) for row in rows]
        numbered = [np.insert(found, 0, i, axis=1) for i, found in enumerate(indices)]
        values = [row.reshape(-1) for row in rows]
        joined = torch.cat(values) if isinstance(rows[0], torch.Tensor) else np.concatenate(values)
        cells = np.empty(3, dtype=object)
        cells[0] = torch.from_numpy(np.concatenate(numbered)).to(torch.int64)
        cells[1], cells[2] = joined, torch.tensor([len(rows), *sizes], dtype=torch.int64)
        return (cells,)


class Unbatch(OfOne):
    """The rows of the elements."""

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        rows = iter_pull(())

        def pull(context: StepContext) -> Element:
            nonlocal rows
            while True:
                try:
                    return rows(context)
                except End:
                    rows = Rows(_of_one_size(following(context))).iterate(iteration)

        return pull


def _of_one_size(batch: Element) -> Element:
    """The batch itself. Raises InvalidArgumentError unless its components have the same number of rows."""
    for i, value in enumerate(batch):
        if not value.ndim:
            raise refuse("Input element must have a non-scalar value in each component.")
        if len(value) != len(batch[0]):
            raise refuse(
                "Input element must have the same batch size in each component. Component 0 had size "
                f"{len(batch[0])} but component {i} had size, {len(value)}."
            )
    return batch


class Window(OfOne):
    """Windows of elements: for each component, a dataset of `size` values that are `stride` apart.

    Each window begins `shift` elements after the one before. An element that fails takes its place as any
    other does, and its error is that of the windows which it is in.
    """

    def __init__(self, source: Dataset, size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__(source)
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            if value <= 0:
                raise refuse(f"Window {name} must be greater than zero.")
        self._size, self._shift, self._stride = size, shift, stride
        self._drop_remainder = drop_remainder

    def iterate(self, iteration: Iteration) -> Pull:
        following = self.source.iterate(iteration)
        span = (self._size - 1) * self._stride + 1
        seen: list[Element | Exception] = []
        ended = False

        def fill(context: StepContext, count: int) -> None:
            nonlocal ended
            while len(seen) < count and not ended:
                try:
                    seen.append(following(context))
                except End:
                    ended = True
                except Exception as error:
                    if iteration.stopped:
                        raise
                    seen.append(error)

        def pull(context: StepContext) -> Element:
            fill(context, span)
            if not seen or len(seen) < span and self._drop_remainder:
                raise End
            window = seen[: span : self._stride]
            fill(context, self._shift)
            del seen[: self._shift]
            for element in window:
                if isinstance(element, Exception):
                    raise element
            return tuple(as_cell(Elements([(v,) for v in values])) for values in zip(*window, strict=True))

        return pull

    def cardinality(self) -> int:
        there = self.source.cardinality()
        if there < 0:
            return there
        span = (self._size - 1) * self._stride + 1 if self._drop_remainder else 1
        return 0 if there < span else (there - span) // self._shift + 1
