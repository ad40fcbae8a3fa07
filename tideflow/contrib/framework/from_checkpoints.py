"""Variables set from checkpoints: what fine-tuning programs begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

from tideflow.contrib.framework.model_variables import get_variable_full_name
from tideflow.export import export
from tideflow.graph.operation import Operation
from tideflow.ops.arrays import constants
from tideflow.ops.control_flow import grouping
from tideflow.platform import logging
from tideflow.train import checkpoint_utils
from tideflow.train.saver import Saver

if TYPE_CHECKING:
    from tideflow.graph.typing import VariableLike


@export("contrib.framework.assign_from_checkpoint")
def assign_from_checkpoint(
    model_path: str,
    var_list: Sequence[VariableLike] | Mapping[str, VariableLike | Sequence[VariableLike]],
    ignore_missing_vars: bool = False,
) -> tuple[Operation, dict]:
    """Makes an operation that sets variables to the values of a checkpoint.

    Args:
      model_path: The path of the checkpoint.
      var_list: A list of variables, or a dictionary from names in the checkpoint to a variable or a list of
        its parts.
      ignore_missing_vars: Whether variables that the checkpoint lacks are left out; if not, they are an
        error.

    Returns:
      The operation and the dictionary to feed it.

    Raises:
      ValueError: If the checkpoint lacks a variable and `ignore_missing_vars` is False, or shapes differ.
    """
    reader = checkpoint_utils.NewCheckpointReader(model_path)
    assignments, feeds = [], {}
    for name, variables in _by_checkpoint_name(var_list).items():
        if not reader.has_tensor(name):
            missing = f"Checkpoint is missing variable [{name}]"
            if not ignore_missing_vars:
                raise ValueError(missing)
            logging.warning(missing)
            continue
        value = reader.get_tensor(name)
        for variable in variables:
            fed = constants.placeholder(
                variable.dtype.base_dtype, variable.shape, name=f"placeholder/{variable.op.name}"
            )
            assignments.append(variable.assign(fed))
            feeds[fed] = _part_for(variable, value, name)
    return grouping.group(*assignments), feeds


def _by_checkpoint_name(var_list: Any) -> dict[str, Sequence[Any]]:
    if isinstance(var_list, dict):
        return {
            name: value if isinstance(value, (tuple, list)) else [value] for name, value in var_list.items()
        }
    grouped: dict[str, list[Any]] = {}
    for variable in var_list:
        grouped.setdefault(get_variable_full_name(variable), []).append(variable)
    return grouped


def _part_for(variable: Any, value: Any, name: str) -> Any:
    """The value, or of a partitioned variable the part that is this slice's."""
    info = variable._save_slice_info
    if info is not None:
        ends = zip(info.var_offset, info.var_shape)
        return value[tuple(slice(start, start + size) for start, size in ends)]
    if variable.shape.as_list() != list(value.shape):
        raise ValueError(
            f"Total size of new array must be unchanged for {name} lh_shape: [{value.shape}], "
            f"rh_shape: [{variable.shape}]"
        )
    return value


@export("contrib.framework.assign_from_checkpoint_fn")
def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Sequence[VariableLike] | Mapping[str, VariableLike | Sequence[VariableLike]],
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """Makes a function that restores variables in a session.

    Args:
      model_path: The path of the checkpoint.
      var_list: A list of variables, or a dictionary from names in the checkpoint to variables.
      ignore_missing_vars: Whether variables that the checkpoint lacks are left out; if not, they are an
        error.
      reshape_variables: Whether values of another shape and the same size are reshaped.

    Returns:
      A function of a session; None where the checkpoint has none of the variables.

    Raises:
      ValueError: If `var_list` is empty.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        var_list = _available(model_path, var_list)
    if not var_list:
        logging.warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables, write_version=SaverDef.V1)
    return lambda session: saver.restore(session, model_path)


def _available(model_path: str, var_list: Any) -> dict[str, Any]:
    """The variables that the checkpoint has, by their names in it."""
    reader = checkpoint_utils.NewCheckpointReader(model_path)
    wanted = var_list if isinstance(var_list, dict) else {variable.op.name: variable for variable in var_list}
    for name in wanted:
        if not reader.has_tensor(name):
            logging.warning("Variable %s missing in checkpoint %s", name, model_path)
    return {name: variable for name, variable in wanted.items() if reader.has_tensor(name)}


@export("contrib.framework.load_checkpoint")
def load_checkpoint(filepattern: str) -> Any:
    """Opens a checkpoint to read it.

    Args:
      filepattern: The prefix of the checkpoint, or a directory, of which its newest is meant.

    Returns:
      The reader.
    """
    return checkpoint_utils.load_checkpoint(filepattern)


@export("contrib.framework.load_variable")
def load_variable(checkpoint_dir: str, name: str) -> Any:
    """Reads a variable of a checkpoint.

    Args:
      checkpoint_dir: A directory, of which the newest checkpoint is meant, or a checkpoint's prefix.
      name: The name of the variable.

    Returns:
      Its value, an array.
    """
    return checkpoint_utils.load_variable(checkpoint_dir, name)


@export("contrib.framework.list_variables")
def list_variables(checkpoint_dir: str) -> list[tuple[str, list[int]]]:
    """Lists the variables of a checkpoint.

    Args:
      checkpoint_dir: A directory, of which the newest checkpoint is meant, or a checkpoint's prefix.

    Returns:
      Pairs of a name and a shape.
    """
    return checkpoint_utils.list_variables(checkpoint_dir)


@export("contrib.framework.init_from_checkpoint")
def init_from_checkpoint(checkpoint_dir: str, assignment_map: Mapping[str, Any]) -> None:
    """Has variables initialized with values of a checkpoint; see `tf.train.init_from_checkpoint`.

    Args:
      checkpoint_dir: A directory, of which the newest checkpoint is meant, or a checkpoint's prefix.
      assignment_map: Names and scopes of the checkpoint, and the variables and scopes that get their values.
    """
    checkpoint_utils.init_from_checkpoint(checkpoint_dir, assignment_map)
