"""Looking into checkpoints, waiting for new ones, and initializing variables from them."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tideflow.export import export
from tideflow.graph import dtypes
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import device, get_default_graph
from tideflow.io.checkpoint_state import latest_checkpoint
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.arrays import constants
from tideflow.ops.files import checkpoints
from tideflow.ops.state import reference_variables, resource_variables
from tideflow.train.saveables import on_cpu
from tideflow.variables.base import Variable
from tideflow.variables.partitioned import PartitionedVariable
from tideflow.variables.store import store_of_default_graph

_log = logging.getLogger("tensorflow")
_DTYPE_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}


# ---------------------------------------------------------------------------------------------------- looking


class CheckpointReader:
    """Reads the tensors of a checkpoint.

    Args:
      filepattern: The prefix of the checkpoint.
    """

    def __init__(self, filepattern: str):
        self._reader = open_checkpoint(filepattern)

    def has_tensor(self, name: str) -> bool:
        """Whether the checkpoint has a tensor of this name."""
        return name in self._reader

    def get_tensor(self, name: str) -> np.ndarray:
        """Reads a tensor.

        Args:
          name: The name of the tensor.

        Returns:
          An array, or a number for a scalar.

        Raises:
          NotFoundError: If there is no such tensor.
        """
        dtype = self._reader.entry(name).dtype
        value = self._reader.read(name)
        value = value.view(dtype.as_numpy_dtype) if dtype.is_quantized else value
        return value[()] if value.ndim == 0 else value

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes of all tensors, by name."""
        return {name: list(self._reader.entry(name).shape) for name in self._reader}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """The types of all tensors, by name."""
        return {name: self._reader.entry(name).dtype for name in self._reader}

    def debug_string(self) -> bytes:
        """A text with a line for each tensor, as bytes."""
        return "".join(map(self._line, self._reader)).encode(errors="surrogateescape")

    def _line(self, name: str) -> str:
        entry = self._reader.entry(name)
        kind = _DTYPE_NAMES.get(entry.dtype.name, entry.dtype.name.upper())
        return f"{name} (DT_{kind}) [{','.join(map(str, entry.shape))}]\n"


@export("train.NewCheckpointReader", "pywrap_tensorflow.NewCheckpointReader")
def NewCheckpointReader(filepattern: str) -> CheckpointReader:
    """Makes a reader for a checkpoint.

    Args:
      filepattern: The prefix of the checkpoint.

    Returns:
      A reader with the methods `has_tensor`, `get_tensor`, `get_variable_to_shape_map` and
      `get_variable_to_dtype_map`.

    Raises:
      ValueError: If there is no such checkpoint.
    """
    return CheckpointReader(os.fspath(filepattern))


def prefix_of(ckpt_dir_or_file: str) -> str:
    """The prefix itself, or that of a directory's newest checkpoint."""
    path = os.fspath(ckpt_dir_or_file)
    if not os.path.isdir(path):
        return path
    newest = latest_checkpoint(path)
    if newest is None:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return newest


@export("train.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """Makes a reader for a checkpoint.

    Args:
      ckpt_dir_or_file: The prefix of a checkpoint, or a directory for its newest checkpoint.

    Returns:
      The reader, as of `tf.train.NewCheckpointReader`.

    Raises:
      ValueError: If there is no checkpoint.
    """
    return NewCheckpointReader(prefix_of(ckpt_dir_or_file))


@export("train.load_variable")
def load_variable(ckpt_dir_or_file: str, name: str) -> np.ndarray:
    """Reads the value of a variable from a checkpoint.

    Args:
      ckpt_dir_or_file: The prefix of a checkpoint, or a directory for its newest checkpoint.
      name: The name of the variable.

    Returns:
      The value as an array.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@export("train.list_variables")
def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Lists the variables of a checkpoint.

    Args:
      ckpt_dir_or_file: The prefix of a checkpoint, or a directory for its newest checkpoint.

    Returns:
      A list of pairs of name and shape, sorted by name.
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


# ---------------------------------------------------------------------------------------------------- waiting


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """Waits for a new checkpoint in a directory.

    Args:
      checkpoint_dir: The directory.
      last_checkpoint: The prefix of the last checkpoint, which is not new.
      seconds_to_sleep: The seconds from one check to the next.
      timeout: How many seconds to wait; without end if None.

    Returns:
      The prefix of the new checkpoint, or None at the timeout.
    """
    _log.info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = time.monotonic() + (float("inf") if timeout is None else timeout)
    while (path := latest_checkpoint(checkpoint_dir)) in (None, last_checkpoint):
        if time.monotonic() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)
    _log.info("Found new checkpoint at %s", path)
    return path


@export("train.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Waits for new checkpoints in a directory.

    Args:
      checkpoint_dir: The directory.
      min_interval_secs: The least time between two checkpoints that are yielded.
      timeout: How many seconds to wait for the next checkpoint; without end if None.
      timeout_fn: Called at a timeout. The iteration ends if it returns True, and goes on otherwise.

    Yields:
      The prefix of each new checkpoint.
    """
    last = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is None:
            if timeout_fn is None:
                _log.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        start, last = time.time(), found
        yield found
        time.sleep(max(0.0, start + min_interval_secs - time.time()))


# ----------------------------------------------------------------------------------------------- initializing


@export("train.init_from_checkpoint")
def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Mapping[str, Any]) -> None:
    """Makes variables take their initial values from a checkpoint.

    The variables' initializers are replaced, so that running them reads the checkpoint.

    Args:
      ckpt_dir_or_file: The prefix of a checkpoint, or a directory for its newest checkpoint.
      assignment_map: A dictionary from names in the checkpoint to variables or their names in the current
        graph. `"scope/"` stands for all variables in a scope, `"/"` for all variables.

    Raises:
      ValueError: If a variable is not in the checkpoint or in the graph, or has another shape.
    """
    prefix = prefix_of(ckpt_dir_or_file)
    shapes = load_checkpoint(prefix).get_variable_to_shape_map()
    pairs = assignment_map.items() if isinstance(assignment_map, dict) else assignment_map
    for name, target in sorted(pairs, key=lambda pair: str(pair[0])):
        parts = _parts_of(target)
        if parts is not None:
            _check_shape(name, parts, shapes, prefix)
            _initialize(parts, prefix, name)
            continue
        for whole, parts in _scoped(name, target, shapes, prefix):
            _check_shape(whole, parts, shapes, prefix)
            _initialize(parts, prefix, whole)


def _parts_of(target: Any) -> list[Variable] | None:
    """The variable, or the parts of it, that a value of the map means; None for a name that is none."""
    if isinstance(target, Variable):
        return [target]
    if isinstance(target, PartitionedVariable) or (
        isinstance(target, (list, tuple)) and all(isinstance(part, Variable) for part in target)
    ):
        return list(target)
    if isinstance(target, Tensor) and target.op.definition.role == "variable":
        return _parts_of(target.op.name)
    if not isinstance(target, str):
        raise TypeError(f"A variable, the parts of one, or a name is expected, not {target!r}")
    known = store_of_default_graph()._vars
    if target in known:
        return [known[target]]
    parts, count = [], 0
    while f"{target}/part_{count}" in known:
        parts.append(known[f"{target}/part_{count}"])
        count += 1
    return parts or None


def _scoped(name: str, target: str, shapes: dict, prefix: str) -> Iterator[tuple[str, list[Variable]]]:
    """The variables of a scope, each with the name that it has in the checkpoint."""
    if "/" in name[:-1] and not name.endswith("/") or not (name.endswith("/") and target.endswith("/")):
        raise ValueError(
            f"Assignment map with scope only name {target.rpartition('/')[0] or target} should map to scope "
            f"only {name}. Should be 'scope/': 'other_scope/'."
        )
    known = store_of_default_graph()._vars
    there, here = name.removesuffix("/"), target.removeprefix("/")  # "/" is the scope around all
    for variable in sorted({var.partition("/part_")[0] for var in known if var.startswith(here)}):
        local = variable.removeprefix(here)
        whole = f"{there}/{local}" if there else local
        if whole not in shapes:
            raise ValueError(f"Tensor {whole} ({local} in {name}) is not found in {prefix} checkpoint")
        yield whole, _parts_of(variable)


def _check_shape(name: str, parts: list[Variable], shapes: dict, prefix: str) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {prefix} checkpoint {shapes}")
    info = parts[0]._get_save_slice_info()
    wanted = parts[0].shape if info is None else info.full_shape
    if not parts[0].shape.is_compatible_with(shapes[name]) if info is None else wanted != shapes[name]:
        label = parts[0].name if info is None else info.full_name
        raise ValueError(
            f"Shape of variable {label} ({wanted}) doesn't match with shape of tensor {name} "
            f"({shapes[name]}) from checkpoint reader."
        )


def _initialize(parts: list[Variable], prefix: str, name: str) -> None:
    whole = {part._get_save_slice_info().full_name for part in parts if part._get_save_slice_info()}
    if len(whole) > 1:
        raise ValueError(f"Slices must all be from the same tensor: {' != '.join(sorted(whole))}")
    for part in parts:
        info = part._get_save_slice_info()
        for copy in getattr(part, "values", [part]):  # a mirrored variable has one on each device
            _set_initializer(copy, prefix, name, info.spec if info else "")
        _log.debug("Initialize variable %s from checkpoint %s with %s", part.name, prefix, name)


def _set_initializer(variable: Variable, prefix: str, name: str, slice_spec: str) -> None:
    with get_default_graph().as_default(), device(on_cpu(variable.device)):
        (value,) = checkpoints.restore_v2_op(
            prefix,
            [name],
            [slice_spec],
            dtypes=[variable.dtype.base_dtype],
            name="checkpoint_initializer",
        )
    value.set_shape(variable.shape)
    if hasattr(variable, "handle"):
        with device(variable.device):
            assigned = resource_variables.assign_variable_op(variable.handle, constants.identity(value))
    else:
        assigned = reference_variables.assign(variable._ref(), value).op
    variable._initializer_op = assigned
    variable._initial_value = value
