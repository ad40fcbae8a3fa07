"""Warm starts: variables begin with the values of an earlier model's checkpoint, matched word by word."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tideflow.export import export
from tideflow.graph.convert import convert_to_tensor
from tideflow.graph.operation import Tensor
from tideflow.graph.scopes import GraphKeys, get_collection
from tideflow.io.object_graph import keys_by_variable_name, read_object_graph
from tideflow.io.old_checkpoints import open_checkpoint
from tideflow.ops.arrays import joining
from tideflow.ops.state import reference_variables
from tideflow.train.checkpoint_utils import init_from_checkpoint, prefix_of
from tideflow.train.remapping import Vocabularies, load_and_remap_matrix
from tideflow.train.saveables import names_of
from tideflow.variables.base import Variable
from tideflow.variables.initializers import Zeros

if TYPE_CHECKING:
    from tideflow.graph.typing import InitializerLike

_log = logging.getLogger("tensorflow")


class _VocabInfo(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: InitializerLike | None = None
    axis: int = 0


@export("train.VocabInfo")
class VocabInfo(_VocabInfo):
    """The vocabularies of a variable before and after a change, for `tf.train.warm_start`.

    Args:
      new_vocab: The file of the new vocabulary, a word in each line.
      new_vocab_size: The number of words of the new vocabulary to use.
      num_oov_buckets: The number of rows for words outside of the vocabulary.
      old_vocab: The file of the old vocabulary.
      old_vocab_size: The number of words of the old vocabulary to use; all if -1.
      backup_initializer: The initializer of rows without an old word; zeros if None.
      axis: The axis of the variable that the words number: 0 for rows, 1 for columns.
    """

    def __new__(
        cls,
        new_vocab: str,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str,
        old_vocab_size: int = -1,
        backup_initializer: InitializerLike | None = None,
        axis: int = 0,
    ):
        if axis not in (0, 1):
            raise ValueError(
                f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}"
            )
        return super().__new__(
            cls,
            new_vocab,
            new_vocab_size,
            num_oov_buckets,
            old_vocab,
            old_vocab_size,
            backup_initializer,
            axis,
        )


@export("train.warm_start")
def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: str | Sequence[Any] | None = ".*",
    var_name_to_vocab_info: dict[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: dict[str, str] | None = None,
) -> None:
    """Makes variables take their initial values from a checkpoint.

    Args:
      ckpt_to_initialize_from: The prefix of a checkpoint, or a directory for its newest checkpoint.
      vars_to_warm_start: The variables: a regular expression or a list of them, a list of variables, or None
        for none but those of the next argument.
      var_name_to_vocab_info: The vocabularies of variables, by the variables' names.
      var_name_to_prev_var_name: The names in the checkpoint, by the variables' names, if they differ.

    Raises:
      ValueError: If the arguments are invalid or name variables that are not warm-started.
    """
    _log.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _grouped(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    earlier = var_name_to_prev_var_name or _object_keys(ckpt_to_initialize_from, grouped)
    plain = {}
    for name, parts in grouped.items():
        if name in vocabularies:
            _start_with_vocabulary(
                parts, vocabularies[name], ckpt_to_initialize_from, earlier.get(name) or name
            )
        elif vars_to_warm_start:
            plain[earlier.get(name) or name] = parts[0] if len(parts) == 1 else parts
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    _log.info("Warm-started %d variables.", len(plain) + len(vocabularies))
    for label, given in (
        ("var_name_to_prev_var_name", earlier),
        ("var_name_to_vocab_info", vocabularies),
    ):
        unknown = set(given) - set(grouped)
        if unknown:
            raise ValueError(
                f"You provided the following variables in {label} that were not used: {unknown}.  Perhaps "
                f"you misspelled them?  Here is the list of viable variable names: {list(grouped)}"
            )


def _grouped(chosen: Any) -> dict[str, list[Variable]]:
    """The variables that are meant, by their names in a checkpoint; parts of one are together."""
    if chosen is None or isinstance(chosen, str):
        _log.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=chosen)
    elif not isinstance(chosen, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(chosen)}")
    elif all(isinstance(one, str) for one in chosen):
        found = [v for scope in chosen for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)]
    elif all(isinstance(one, Variable) for one in chosen):
        found = chosen
    else:
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
            f"{[type(one) for one in chosen]}"
        )
    grouped: dict[str, list[Variable]] = {}
    for variable in found:
        (name,) = names_of([variable])
        grouped.setdefault(name, []).append(variable)
    return grouped


def _object_keys(checkpoint: str, names: Any) -> dict[str, str]:
    """The keys of these names in a checkpoint of objects; none are needed in one that goes by names."""
    with open_checkpoint(prefix_of(checkpoint)) as reader:
        graph = read_object_graph(reader)
    if graph is None:
        return {}
    keys = keys_by_variable_name(graph)
    missing = set(names) - set(keys)
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the checkpoint did not "
            f"contain values for all variables. The following variables were missing: {missing}"
        )
    return {name: keys[name] for name in names}


# ----------------------------------------------------------------------------------- matched word by word


def _start_with_vocabulary(parts: list[Variable], info: VocabInfo, checkpoint: str, key: str) -> None:
    """Sets the initializers of the parts of a matrix, which lie one below the other."""
    if not (info.new_vocab and info.new_vocab_size and checkpoint and info.old_vocab):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
            "prev_vocab_path}."
        )
    rows = sum(part.shape.as_list()[0] for part in parts)
    for part in parts:
        place = part._get_save_slice_info()
        offset = place.var_offset[0] if place else 0
        value = _remapped(part.shape.as_list(), rows, offset, info, prefix_of(checkpoint), key)
        part._initializer_op = reference_variables.assign(part, convert_to_tensor(value))


class _Layout(NamedTuple):
    """Of a part of a matrix: what stands for known words, and the buckets behind for all others."""

    rows: int
    columns: int
    extra_rows: int
    extra_columns: int


def _layout(shape: list[int], all_rows: int, offset: int, info: VocabInfo) -> _Layout:
    by_row = info.axis == 0
    known_rows, row_buckets = (info.new_vocab_size, info.num_oov_buckets) if by_row else (all_rows, 0)
    columns, column_buckets = (shape[-1], 0) if by_row else (info.new_vocab_size, info.num_oov_buckets)
    if len(shape) != 2 or shape[1] != columns + column_buckets:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({columns}) + num_col_oov_buckets "
            f"({column_buckets}) = {columns + column_buckets}, but received shape: {shape}"
        )
    if offset + shape[0] > known_rows + row_buckets:
        raise ValueError(
            f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been "
            f"initialized, which would exceed expected total row count of new_row_vocab_size ({known_rows}) "
            f"+ num_row_oov_buckets ({row_buckets}) = {known_rows + row_buckets}."
        )
    extra_rows = min(shape[0], max(0, offset + shape[0] - known_rows))
    return _Layout(shape[0] - extra_rows, columns, extra_rows, column_buckets)


def _remapped(shape: list[int], all_rows: int, offset: int, info: VocabInfo, path: str, key: str) -> Tensor:
    """A part of the matrix: known words' rows or columns from the checkpoint, others initialized."""
    initializer = info.backup_initializer or Zeros()
    if not callable(initializer):
        raise TypeError(
            f"initializer must be callable, instead of being {initializer} of type {type(initializer)}."
        )
    layout = _layout(shape, all_rows, offset, info)
    if not layout.rows:
        return initializer(shape)
    matrix = _known_words(layout, offset, info, path, key, initializer)
    if layout.extra_rows:
        fresh = convert_to_tensor(initializer([layout.extra_rows, layout.columns]))
        matrix = joining.concat([matrix, fresh], 0)
    if layout.extra_columns:
        fresh = convert_to_tensor(initializer([shape[0], layout.extra_columns]))
        matrix = joining.concat([matrix, fresh], 1)
    return matrix


def _known_words(
    layout: _Layout, offset: int, info: VocabInfo, path: str, key: str, initializer: Callable
) -> Tensor:
    """The rows and columns that the vocabularies tell of."""
    words = Vocabularies(info.new_vocab, info.old_vocab, info.old_vocab_size if info.axis == 0 else -1)
    of_axis = {"rows": words} if info.axis == 0 else {"columns": words}
    return load_and_remap_matrix(
        path, key, (layout.rows, layout.columns), initializer, row_offset=offset, **of_axis
    )
