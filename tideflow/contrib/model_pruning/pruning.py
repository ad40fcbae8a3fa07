"""`Pruning`: masks that are updated while a model trains, by a schedule of how many weights they prune."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tideflow.contrib.model_pruning.blocks import (
    expand_tensor,
    partitioned_variable_assign,
    variable_assign,
)
from tideflow.contrib.model_pruning.masks import get_masks, get_thresholds, get_weights
from tideflow.contrib.training.hyperparameters import HParams
from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import control_dependencies, name_scope
from tideflow.nn.functions import zero_fraction
from tideflow.nn.pools import pool
from tideflow.ops.arrays import indexing, ranking, shapes, slicing
from tideflow.ops.arrays.constants import no_operation
from tideflow.ops.control_flow.conditionals import cond
from tideflow.ops.math import adding, binary, casting, powers, unary
from tideflow.ops.state.reference_variables import assign
from tideflow.platform import logging
from tideflow.summary.functions import scalar
from tideflow.variables.global_step import get_global_step
from tideflow.variables.initializers import Zeros
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.variable_scope import get_variable, variable_scope

if TYPE_CHECKING:
    from tideflow.graph.typing import TensorLike


@export("contrib.model_pruning.get_pruning_hparams")
def get_pruning_hparams() -> HParams:
    """Makes the hyperparameters of `Pruning`, with the values that they have by default.

    Returns:
      A `tf.contrib.training.HParams` with these members: `name`, of the scope of the pruning operations;
      `begin_pruning_step`, `end_pruning_step` (-1 for the end of training) and `pruning_frequency`, in
      steps; `target_sparsity`, the share of weights to prune in the end, and `weight_sparsity_map`, a list
      of `"expression:share"` for weights whose names match; `initial_sparsity`,
      `sparsity_function_begin_step`, `sparsity_function_end_step` and `sparsity_function_exponent`, how
      that share grows; `threshold_decay`, of the moving average of thresholds; `block_height`,
      `block_width` and `block_pooling_function` (`"AVG"` or `"MAX"`), for pruning by blocks, and
      `block_dims_map`, a list of `"expression:HxW"`; `nbins` and `use_tpu`.
    """
    return HParams(
        name="model_pruning",
        begin_pruning_step=0,
        end_pruning_step=-1,
        weight_sparsity_map=[""],
        block_dims_map=[""],
        threshold_decay=0.0,
        pruning_frequency=10,
        nbins=256,
        block_height=1,
        block_width=1,
        block_pooling_function="AVG",
        initial_sparsity=0.0,
        target_sparsity=0.5,
        sparsity_function_begin_step=0,
        sparsity_function_end_step=100,
        sparsity_function_exponent=3.0,
        use_tpu=False,
    )


def _check(spec: HParams) -> None:
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.end_pruning_step != -1 and spec.begin_pruning_step >= spec.end_pruning_step:
        raise ValueError(
            f"Pruning must begin before it can end. begin_step={spec.begin_pruning_step}, "
            f"end_step={spec.end_pruning_step}. Set end_pruning_step to -1 if pruning is required till "
            "training stops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for key in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, key) < 1.0:
            raise ValueError(f"{key} must be in range [0,1)")


def _blocks(entries: Iterable[str]) -> dict[re.Pattern[str], list[int]]:
    found = {}
    for entry in filter(None, entries):
        name, sizes = entry.split(":")
        parts = sizes.split("x")
        if len(parts) != 2:
            raise ValueError(f"Expected 2 values for block dim for {name}, got {parts}")
        found[re.compile(name)] = [int(part) for part in parts]
    return found


def _shares(entries: Iterable[str]) -> dict[re.Pattern[str], float]:
    found = {}
    for entry in filter(None, entries):
        name, share = entry.split(":")
        if float(share) >= 1.0:
            raise ValueError("Weight sparsity can not exceed 1.0")
        found[re.compile(name)] = float(share)
    return found


def _only(by_expression: dict[re.Pattern[str], Any], name: str, title: str) -> Any:
    """What the one expression that matches a name stands for; None if none matches."""
    found = [value for expression, value in by_expression.items() if expression.search(name)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {title} for weight {name}")
    return found[0] if found else None


@export("contrib.model_pruning.Pruning")
class Pruning:
    """Prunes weights that are under masks: those of small absolute value become zero.

    Args:
      spec: The hyperparameters; those of `get_pruning_hparams` if None.
      global_step: The global step, a tensor or a variable; that of the graph if None.
      sparsity: The share of weights to prune now, a scalar tensor; by default it grows by the
        hyperparameters, fast at first and then slower.

    Raises:
      ValueError: If the hyperparameters do not go together.
    """

    def __init__(
        self,
        spec: HParams | None = None,
        global_step: TensorLike | None = None,
        sparsity: TensorLike | None = None,
    ):
        self._spec = spec or get_pruning_hparams()
        _check(self._spec)
        step = get_global_step() if global_step is None else global_step
        self._global_step = casting.cast(step, dtypes.int32)
        self._sparsity = self._scheduled_sparsity() if sparsity is None else sparsity
        self._assign_ops: list[Any] = []
        self._last_update_step = self._get_last_update_step()
        self._block_dims_map = _blocks(self._spec.block_dims_map)
        self._weight_sparsity_map = _shares(self._spec.weight_sparsity_map)

    def _scheduled_sparsity(self) -> Tensor:
        """target + (initial - target) * (1 - progress) ** exponent"""
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            steps = casting.cast(self._global_step - begin, dtypes.float32)
            progress = binary.minimum(1.0, binary.maximum(0.0, binary.div(steps, end - begin)))
            rest = powers.pow(1 - progress, spec.sparsity_function_exponent)
            missing = binary.multiply(spec.initial_sparsity - spec.target_sparsity, rest)
            return binary.add(missing, spec.target_sparsity, name="sparsity")

    def _get_last_update_step(self) -> Any:
        name = "last_mask_update_step"
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as scope:
            try:
                return get_variable(name, [], initializer=Zeros(), trainable=False, dtype=dtypes.int32)
            except ValueError:  # it is there: this is another object for the same model
                scope.reuse_variables()
                return get_variable(name, dtype=dtypes.int32)

    # ------------------------------------------------------------------ one mask

    def _sparsity_of(self, name: str) -> TensorLike:
        share = _only(self._weight_sparsity_map, name, "weight_sparsity_map")
        if share is None:
            return self._sparsity
        return binary.multiply(self._sparsity, binary.div(share, self._spec.target_sparsity))

    def _updated(self, weights: Any, threshold: Any) -> tuple[Tensor, Tensor]:
        """The new threshold, and the mask of the weights that are not smaller."""
        sparsity = self._sparsity_of(weights.op.name)
        with name_scope(f"{weights.op.name}_pruning_ops"):
            sizes = unary.abs(weights)
            count = shapes.size(sizes)
            kept = unary.round(casting.cast(count, dtypes.float32) * (1 - sparsity))
            ordered, _ = ranking.top_k(shapes.reshape(sizes, [-1]), k=shapes.size(sizes))
            smallest = indexing.gather(ordered, casting.cast(kept, dtypes.int32) - 1)
            decay = self._spec.threshold_decay
            smoothed = adding.add_n([binary.multiply(smallest, 1 - decay), binary.multiply(threshold, decay)])
            return smoothed, casting.cast(binary.greater_equal(sizes, smoothed), dtypes.float32)

    def _updated_by_blocks(self, weights: Any, threshold: Any) -> tuple[Tensor, Tensor]:
        """The same, where the weights of a block of a matrix are kept or pruned together."""
        spec = self._spec
        block = _only(self._block_dims_map, weights.op.name, "block_dims_map")
        block = [spec.block_height, spec.block_width] if block is None else block
        matrix = shapes.squeeze(weights)
        if matrix.shape.ndims != 2 or block == [1, 1]:
            return self._updated(weights, threshold)
        if spec.block_pooling_function not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {spec.block_pooling_function}")
        rows, columns = matrix.shape.as_list()
        block = [size if side == -1 else side for side, size in zip(block, (rows, columns))]
        with name_scope(f"{weights.op.name}_pruning_ops"):
            image = shapes.reshape(unary.abs(matrix), [1, rows, columns, 1])
            name = f"{weights.op.name}_pooled"
            pooled = pool(image, block, spec.block_pooling_function, "SAME", strides=block, name=name)
            smoothed, mask = self._updated(shapes.squeeze(pooled, axis=[0, 3]), threshold)
            spread = slicing.slice(expand_tensor(mask, block), [0, 0], [rows, columns])
        return smoothed, shapes.reshape(spread, shapes.shape(weights))

    def _make_assign_ops(self) -> None:
        masks, thresholds = get_masks(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(
                f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch"
            )
        for mask, threshold, weights in zip(masks, thresholds, get_weights()):
            is_partitioned = isinstance(weights, PartitionedVariable)
            whole = weights.as_tensor() if is_partitioned else weights
            new_threshold, new_mask = self._updated_by_blocks(whole, threshold)
            self._assign_ops.append(variable_assign(threshold, new_threshold))
            update = partitioned_variable_assign if is_partitioned else variable_assign
            self._assign_ops.append(update(mask, new_mask))

    # ------------------------------------------------------------------ what a program calls

    def mask_update_op(self) -> Operation:
        """Makes the operation that updates all masks of the default graph."""
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._make_assign_ops()
            recorded = assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign")
            with control_dependencies([recorded]), control_dependencies(self._assign_ops):
                logging.info("Updating masks.")
                return no_operation("mask_update")

    def conditional_mask_update_op(self) -> Tensor:
        """Makes the operation that updates the masks if it is time: run it after each training step."""
        spec = self._spec
        with name_scope(spec.name):
            has_begun = binary.greater_equal(self._global_step, spec.begin_pruning_step)
            goes_on = binary.logical_or(
                binary.less_equal(self._global_step, spec.end_pruning_step),
                binary.less(spec.end_pruning_step, 0),
            )
            in_time = binary.logical_and(has_begun, goes_on)
            next_step = binary.add(self._last_update_step, spec.pruning_frequency)
            due = binary.less_equal(next_step, self._global_step)
            now = binary.logical_and(in_time, due)
        return cond(now, self.mask_update_op, no_operation)

    def add_pruning_summaries(self) -> None:
        """Adds scalar summaries of the sparsity that is wanted and of each mask and threshold."""
        with name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds()):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Logs the hyperparameters."""
        logging.info(self._spec.to_json())
