"""Values as text: what NumPy prints, which indices each line has, where an element stands, and summaries."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tideflow.programs.debugger.cli.rich_text import RichTextLines
from tideflow.programs.debugger.values import InconvertibleTensorProto

BEGIN_INDICES_KEY = "i0"
OMITTED_INDICES_KEY = "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"
_METADATA_KEY = "tensor_metadata"
_OMISSION = "...,"
_EDGE_ITEMS = 3  # of NumPy's, where it leaves elements out
_NUMBER = re.compile(r"[-+]?([0-9][-+0-9eE\.]+|nan|inf)(\s|,|\])")


class HighlightOptions:
    """Which elements of a value stand out.

    Args:
      criterion: A function of the value to booleans of its shape.
      description: What the elements have in common.
      font_attr: How they stand out.
    """

    def __init__(
        self,
        criterion: Callable[[np.ndarray], np.ndarray],
        description: str | None = None,
        font_attr: str = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR,
    ):
        self.criterion, self.description, self.font_attr = criterion, description, font_attr


def format_tensor(
    tensor: Any,
    tensor_label: str | None,
    include_metadata: bool = False,
    auxiliary_message: RichTextLines | None = None,
    include_numeric_summary: bool = False,
    np_printoptions: dict[str, Any] | None = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:
    """A value as lines; notes say which indices each line begins with.

    Args:
      tensor: The value.
      tensor_label: Its name; no title if None.
      include_metadata: Whether its type and shape are said.
      auxiliary_message: Lines between these and the value.
      include_numeric_summary: Whether its numbers are counted.
      np_printoptions: Arguments of `np.set_printoptions`, for this value.
      highlight_options: Which elements stand out.

    Returns:
      `RichTextLines`.
    """
    shown = RichTextLines([])
    if tensor_label is not None:
        shown.append(f'Tensor "{tensor_label}":', _label_attributes(tensor_label))
    if not isinstance(tensor, np.ndarray):
        is_plain = isinstance(tensor, (InconvertibleTensorProto, np.generic))
        text = str(tensor) if is_plain else repr(tensor)
        shown.extend(RichTextLines([*([""] if shown.lines else []), *text.split("\n")]))
        return shown
    if include_metadata:
        shown.append(f"  dtype: {tensor.dtype}")
        shown.append(f"  shape: {tensor.shape}")
    if shown.lines:
        shown.append("")
    if auxiliary_message:
        shown.extend(auxiliary_message)
    if include_numeric_summary:
        shown.append("Numeric summary:")
        shown.extend(numeric_summary(tensor))
        shown.append("")
    with np.printoptions(**(np_printoptions or {})):
        lines = (_without_shape(repr(tensor)) if tensor.size else repr(tensor)).split("\n")
        edge_items = np.get_printoptions()["edgeitems"]
    notes = None if tensor.dtype.kind in "SO" else _line_notes(lines, tensor, edge_items)
    shown.extend(RichTextLines(lines, annotations=notes))
    if highlight_options is not None:
        _highlight(shown, tensor, highlight_options)
    return shown


def _without_shape(text: str) -> str:
    """What NumPy says of an array, without the shape that newer versions add where elements are left out."""
    elements, bracket, rest = text.rpartition("]")
    return elements + bracket + re.sub(r",\s*shape=\([^)]*\)", "", rest)


def _label_attributes(label: str) -> list[tuple[int, int, str]]:
    begin = len('Tensor "')
    name, _, suffix = label.rpartition(":")
    if not name or suffix.isdigit():
        return [(begin, begin + len(label), "bold")]
    middle = begin + len(name)
    return [(begin, middle, "bold"), (middle + 1, middle + 1 + len(suffix), "yellow")]


def _line_notes(lines: Sequence[str], tensor: np.ndarray, edge_items: int) -> dict[Any, Any]:
    """By the number of a line, the indices of its first element, or of the first that is left out."""
    notes: dict[Any, Any] = {_METADATA_KEY: {"dtype": tensor.dtype, "shape": tensor.shape}}
    if not tensor.ndim:
        return notes
    indices, depth = [0] * tensor.ndim, 0
    for number, line in enumerate(map(str.strip, lines)):
        if not line:
            continue
        if line == _OMISSION:
            notes[number] = {OMITTED_INDICES_KEY: list(indices)}
            indices[depth - 1] = tensor.shape[depth - 1] - edge_items
            continue
        closed = line.count("]")
        depth += line.count("[") - closed
        notes[number] = {BEGIN_INDICES_KEY: list(indices)}
        if not closed:
            indices[depth - 1] += line.rpartition("[")[2].count(",")
        elif depth > 0:
            indices[depth - 1] += 1
            indices[depth:] = [0] * (tensor.ndim - depth)
    return notes


def _highlight(shown: RichTextLines, tensor: np.ndarray, options: HighlightOptions) -> None:
    found = [list(map(int, indices)) for indices in np.argwhere(options.criterion(tensor))]
    what = f"({options.description})" if options.description else ""
    share = 100.0 * len(found) / tensor.size
    shown.lines[0] += f" Highlighted{what}: {len(found)} of {tensor.size} element(s) ({share:.2f}%)"
    if not found:
        return
    for is_omitted, row, begin, end in zip(*locate_tensor_element(shown, found), strict=True):
        if not is_omitted and begin is not None:
            shown.font_attr_segs.setdefault(row, []).append((begin, end, options.font_attr))


def locate_tensor_element(formatted: RichTextLines, indices: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """Where elements stand in the lines of a value.

    Args:
      formatted: The lines, as `format_tensor` gives them.
      indices: The indices of an element, or a list of such lists in ascending order.

    Returns:
      Whether the element is left out, the number of its line, and the columns where it begins and ends, or
      None for these where the line does not show it; lists of each for a list of elements.
    """
    if _METADATA_KEY not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    many = isinstance(indices[0], list)
    wanted = list(indices) if many else [list(indices)]
    _check_indices(wanted, formatted.annotations[_METADATA_KEY]["shape"])
    rows = sorted(key for key in formatted.annotations if isinstance(key, int))
    firsts = [next(iter(formatted.annotations[row].values())) for row in rows]
    found = []
    for element in wanted:
        at = bisect.bisect_right(firsts, element) - 1
        row = rows[at]
        columns = _columns(formatted.lines[row], element[-1] - firsts[at][-1])
        found.append((OMITTED_INDICES_KEY in formatted.annotations[row], row, *columns))
    if not many:
        return found[0]
    omitted, lines, begins, ends = map(list, zip(*found, strict=True))
    return omitted, lines, begins, ends


def _check_indices(wanted: Sequence[list[int]], shape: tuple[int, ...]) -> None:
    for number, element in enumerate(wanted):
        if len(element) != len(shape):
            raise ValueError(f"Dimensions mismatch: requested: {len(element)}; actual: {len(shape)}")
        if any(index >= size for index, size in zip(element, shape, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if any(index < 0 for index in element):
            raise ValueError("Indices contain negative value(s).")
        if number and element < wanted[number - 1]:
            raise ValueError("Input indices sets are not in ascending order.")


def _columns(line: str, offset: int) -> tuple[int | None, int | None]:
    """Where the number with an offset begins and ends in a line."""
    before_omission = line.partition(_OMISSION)[0]
    for number, match in enumerate(_NUMBER.finditer(line)):
        if match.start() > len(before_omission):
            break
        if number == offset:
            return match.start(), match.end() - 1
    return None, None


def numeric_summary(tensor: Any) -> RichTextLines:
    """How many elements are negative, zero and so on, and the least, greatest and mean of the finite ones.

    Args:
      tensor: The value.

    Returns:
      `RichTextLines`.
    """
    if not isinstance(tensor, np.ndarray) or not tensor.size:
        return RichTextLines(["No numeric summary available due to empty tensor."])
    if tensor.dtype == np.bool_:
        return _table([("False", np.sum(~tensor)), ("True", np.sum(tensor))], tensor.size)
    if tensor.dtype.kind not in "iufc":
        return RichTextLines([f"No numeric summary available due to tensor dtype: {tensor.dtype}."])
    infinite = np.isinf(tensor)
    counts = [
        ("nan", np.isnan(tensor)),
        ("-inf", infinite & (tensor < 0)),
        ("-", ~infinite & (tensor < 0)),
        ("0", tensor == 0),
        ("+", ~infinite & (tensor > 0)),
        ("+inf", infinite & (tensor > 0)),
    ]
    summary = _table([(name, np.sum(where)) for name, where in counts], tensor.size)
    finite = tensor[np.isfinite(tensor)]
    if finite.size:
        names = ("min", "max", "mean", "std")
        summary.extend(_table([(name, getattr(np, name)(finite)) for name in names]))
    return summary


def _table(columns: Sequence[tuple[str, Any]], total: int | None = None) -> RichTextLines:
    """Names and numbers in two lines; of counts, those above zero and the total."""
    texts = [(name, str(value)) for name, value in columns if total is None or value]
    width = max((max(len(name), len(value)) + 1 for name, value in texts), default=0)
    names = "|" + "".join(name.rjust(width) for name, _ in texts) + " |"
    values = "|" + "".join(value.rjust(width) for _, value in texts) + " |"
    if total is not None:
        width = max(len("total") + 1, len(str(total)))
        names += "total".rjust(width) + " |"
        values += str(total).rjust(width) + " |"
    return RichTextLines([names, values])
