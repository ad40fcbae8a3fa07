"""What is typed behind a command: words, slices, ranges, intervals of sizes and times, files for output."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A part in brackets or quotes, whose spaces end no word, or the spaces between words.
_TOKEN = re.compile(r"\[[^\]]*\]|\"[^\"]*\"|'[^']*'|\s+")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_SLICE = re.compile(r"^\[(\d|,|\s|:)+\]$")
_BYTES = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(eq=True)
class Interval:
    """The numbers between two.

    Args:
      start: The lower one.
      start_included: Whether it belongs to the interval.
      end: The upper one.
      end_included: Whether it belongs to the interval.
    """

    start: Any
    start_included: bool
    end: Any
    end_included: bool

    def contains(self, value: float) -> bool:
        """Whether a number is in the interval."""
        above = value > self.start or (self.start_included and value == self.start)
        return above and (value < self.end or (self.end_included and value == self.end))


def command_parser(description: str) -> argparse.ArgumentParser:
    """A parser of what is typed behind a command, whose help has TensorFlow's titles.

    Args:
      description: What the command does.

    Returns:
      The parser.
    """
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    parser._optionals.title = "optional arguments"
    return parser


def parse_command(command: str) -> list[str]:
    """The words of a command: those in quotes lose these, and parts in brackets stay together.

    Args:
      command: The command.

    Returns:
      The words.
    """
    command = command.strip()
    words, begin = [], 0
    for token in _TOKEN.finditer(command):
        if token.group().isspace():
            words.append(command[begin : token.start()])
            begin = token.end()
    words.append(command[begin:])
    return [_unquoted(word) for word in words] if len(words) > 1 else words if command else []


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word


def extract_output_file_path(args: list[str]) -> tuple[list[str], str | None]:
    """Separates `> path` from the words of a command.

    Args:
      args: The words.

    Returns:
      The other words, and the path or None.
    """
    *others, last = args or [""]
    if last.endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if last.startswith(">"):
        if _is_interval(last) and others and others[-1].startswith("-"):
            return args, None  # the value of an option, such as -e >100ms
        return others, last[1:]
    if others and others[-1] == ">":
        return others[:-1], last
    if last.count(">") == 1:
        word, _, path = last.partition(">")
        return (args, None) if word.endswith("=") else ([*others, word], path)
    if others and others[-1].endswith(">"):
        return [*others[:-1], others[-1][:-1]], last
    return args, None


def _is_interval(text: str) -> bool:
    try:
        _parse_interval(text)
    except ValueError:
        return False
    return True


def parse_tensor_name_with_slicing(in_str: str) -> tuple[str, str]:
    """Separates the slice from a name: `hidden/add:0[0, :]`.

    Args:
      in_str: The name, with a slice or without.

    Returns:
      The name and the slice, which is empty where there is none.
    """
    if in_str.count("[") == 1 and in_str.endswith("]"):
        begin = in_str.index("[")
        return in_str[:begin], in_str[begin:]
    return in_str, ""


def validate_slicing_string(slicing_string: str) -> bool:
    """Whether a text is a slice: `[0, :]`."""
    return bool(_SLICE.match(slicing_string))


def _slices(text: str) -> tuple[Any, ...]:
    parts: list[Any] = []
    for part in text[1:-1].split(","):
        numbers = [int(number) if number.strip() else None for number in part.split(":")]
        if len(numbers) > 3 or numbers == [None]:
            raise ValueError("Invalid tensor-slicing string.")
        parts.append(numbers[0] if len(numbers) == 1 else slice(*numbers))
    return tuple(parts)


def evaluate_tensor_slice(tensor: Any, tensor_slicing: str) -> Any:
    """A part of a tensor.

    Args:
      tensor: The tensor.
      tensor_slicing: Which part: `[0, :]`.

    Returns:
      The part.
    """
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[_slices(tensor_slicing)]


def parse_indices(indices_string: str) -> list[int]:
    """Numbers between commas, with brackets around them or without.

    Args:
      indices_string: The text.

    Returns:
      The numbers.
    """
    text = re.sub(r"\s+", "", indices_string)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [int(number) for number in text.split(",")]


def parse_ranges(range_string: str) -> list[Any]:
    """Ranges of numbers: `[-0.1, 0.1]`, or a list of these; `inf` is the largest number.

    Args:
      range_string: The text.

    Returns:
      A list of pairs.
    """
    range_string = range_string.strip()
    if not range_string:
        return []
    ranges: Any = ast.literal_eval(range_string.replace("inf", repr(sys.float_info.max)))
    if isinstance(ranges, list) and not isinstance(ranges[0], list):
        ranges = [ranges]
    for item in ranges:
        if len(item) != 2:
            raise ValueError("Incorrect number of elements in range")
        for which, bound in zip(("1st", "2nd"), item, strict=True):
            if not isinstance(bound, (int, float)):
                raise ValueError(f"Incorrect type in the {which} element of range: {type(bound)}")
    return ranges


def parse_memory_interval(interval_str: str) -> Interval:
    """An interval of sizes: `[100k, 1M]`, `>=10k`.

    Args:
      interval_str: The text.

    Returns:
      The interval, in bytes.
    """
    order = "Start of interval must be less than or equal to end of interval."
    return _interval_of(interval_str, parse_readable_size_str, f"Invalid interval {interval_str}. {order}")


def parse_time_interval(interval_str: str) -> Interval:
    """An interval of times: `[100us, 1ms]`, `<2s`.

    Args:
      interval_str: The text.

    Returns:
      The interval, in microseconds.
    """
    refusal = f"Invalid interval {interval_str}. Start must be before end of interval."
    return _interval_of(interval_str, parse_readable_time_str, refusal)


def _interval_of(text: str, parse: Callable[[str], int], refusal: str) -> Interval:
    found = _parse_interval(text)
    start = parse(found.start) if found.start else 0
    end = parse(found.end) if found.end else float("inf")
    if start > end:
        raise ValueError(refusal)
    return Interval(start, found.start_included, end, found.end_included)


def _parse_interval(text: str) -> Interval:
    """An interval whose bounds are texts yet, or None where it has no bound."""
    text = text.strip()
    for sign in ("<=", "<", ">=", ">"):
        if text.startswith(sign):
            bound = text[len(sign) :].strip()
            if not _NUMBER.match(bound):
                raise ValueError(f"Invalid value string after {sign} in '{text}'")
            included = sign.endswith("=")
            if sign[0] == "<":
                return Interval(None, False, bound, included)
            return Interval(bound, included, None, False)
    if not text.startswith(("[", "(")) or not text.endswith(("]", ")")):
        raise ValueError(
            f"Invalid interval format: {text}. Valid formats are: [min, max], (min, max), <max, >min"
        )
    bounds = [bound.strip() for bound in text[1:-1].split(",")]
    if len(bounds) != 2:
        raise ValueError(
            f"Incorrect interval format: {text}. Interval should specify two values: "
            "[min, max] or (min, max)."
        )
    for which, bound in zip(("first", "second"), bounds, strict=True):
        if not _NUMBER.match(bound):
            raise ValueError(f"Invalid {which} item in interval: '{bound}'")
    return Interval(bounds[0], text[0] == "[", bounds[1], text[-1] == "]")


def parse_readable_size_str(size_str: str) -> int:
    """The bytes of a size such as `100`, `4.5k`, `2MB`.

    Args:
      size_str: The size.

    Returns:
      The number of bytes.
    """
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] not in _BYTES:
        raise ValueError(f'Failed to parsed human-readable byte size str: "{size_str}"')
    return int(float(text[:-1]) * _BYTES[text[-1]])


def parse_readable_time_str(time_str: str) -> int:
    """The microseconds of a time such as `100`, `10us`, `1.5ms`, `2s`.

    Args:
      time_str: The time.

    Returns:
      The number of microseconds.
    """
    text = time_str.strip()
    unit = next((unit for unit in _MICROSECONDS if text.endswith(unit)), "")
    number = text.removesuffix(unit)
    value = float(number)
    if value < 0:
        raise ValueError(f"Invalid time {number}. Time value must be positive.")
    return int(value * _MICROSECONDS.get(unit, 1.0))


def get_print_tensor_argparser(description: str) -> argparse.ArgumentParser:
    """The parser of commands that show a value.

    Args:
      description: What the command does.

    Returns:
      The parser.
    """
    parser = command_parser(description)
    parser.add_argument(
        "tensor_name",
        help="Name of the tensor, followed by any slicing indices, e.g., hidden1/Wx_plus_b/MatMul:0, "
        "hidden1/Wx_plus_b/MatMul:0[1, :]",
    )
    parser.add_argument(
        "-n",
        "--number",
        type=int,
        default=-1,
        help="0-based dump number for the specified tensor. Required for tensor with multiple dumps.",
    )
    parser.add_argument(
        "-r",
        "--ranges",
        default="",
        help="Numerical ranges to highlight tensor elements in. Examples: -r 0,1e-8, -r [-0.1,0.1], "
        '-r "[[-inf, -0.1], [0.1, inf]]"',
    )
    parser.add_argument(
        "-a",
        "--all",
        dest="print_all",
        action="store_true",
        help="Print the tensor in its entirety, i.e., do not use ellipses.",
    )
    parser.add_argument(
        "-s",
        "--numeric_summary",
        action="store_true",
        help="Include summary for non-empty tensors of numeric (int*, float*, complex*) and Boolean types.",
    )
    parser.add_argument(
        "-w",
        "--write_path",
        default="",
        help="Path of the numpy file to write the tensor data to, using numpy.save().",
    )
    return parser
