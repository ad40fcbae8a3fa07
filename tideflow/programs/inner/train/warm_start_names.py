"""`tensorflow.python.training.warm_starting_util`: the steps of `tf.train.warm_start`, one by one."""

from __future__ import annotations

from typing import Any

from tideflow.train import warm_starting
from tideflow.train.saveables import names_of
from tideflow.train.warm_starting import VocabInfo
from tideflow.variables.base import Variable
from tideflow.variables.partitioned import PartitionedVariable

_get_grouped_variables = warm_starting._grouped
_get_object_checkpoint_renames = warm_starting._object_keys


def _infer_var_name(var: list[Any]) -> str:
    """The name under which a checkpoint has a variable, or the parts of one."""
    names = names_of(var)
    if len(names) > 1:
        raise TypeError(f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {names}")
    return next(iter(names))


def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """The name in the checkpoint, and the variable or its parts."""
    parts = _parts_of(var)
    return prev_tensor_name or _infer_var_name(parts), var if isinstance(var, Variable) else parts


def _parts_of(var: Any) -> list[Variable]:
    if isinstance(var, PartitionedVariable):
        return list(var)
    parts = [var] if isinstance(var, Variable) else var
    if isinstance(parts, list) and all(isinstance(part, Variable) for part in parts):
        return parts
    raise TypeError(
        "var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is "
        f"{type(var)}"
    )


def _warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: str,
    current_vocab_size: int,
    prev_ckpt: str,
    prev_vocab_path: str,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Lets a matrix begin with what a checkpoint has for the words that both vocabularies have.

    Args:
      var: The variable, a list of its parts, or a partitioned one.
      current_vocab_path: The file of the words.
      current_vocab_size: How many of them count.
      prev_ckpt: The checkpoint.
      prev_vocab_path: The file of the checkpoint's words.
      previous_vocab_size: How many of those count; -1 for all.
      current_oov_buckets: How many rows follow for unknown words.
      prev_tensor_name: The name in the checkpoint; the variable's if None.
      initializer: What initializes the rest.
      axis: Whether words are rows (0) or columns (1).
    """
    parts = _parts_of(var)
    info = VocabInfo(
        current_vocab_path,
        current_vocab_size,
        current_oov_buckets,
        prev_vocab_path,
        previous_vocab_size,
        initializer,
        axis,
    )
    key = prev_tensor_name or _infer_var_name(parts)
    warm_starting._start_with_vocabulary(parts, info, prev_ckpt, key)
