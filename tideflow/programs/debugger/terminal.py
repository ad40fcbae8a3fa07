"""The terminal of the debugger: commands that show the values of a step, and go on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import Any

import numpy as np

from tideflow.graph.partial import constant_value
from tideflow.programs.debugger.dumps import Dump

_HELP = """Commands:
  lt [-f FILTER] [-n NAMES] [-t TYPES]   list the tensors of the step, in the order of their times
  pt NAME[:OUTPUT][[SLICE]]              print the values of a tensor: pt hidden/add:0[0, :5]
  ni NODE                                show an operation: type, inputs, users, and the line that made it
  li NODE, lo NODE                       list what an operation takes, and what takes its values
  pf NAME                                print a value that was fed
  ri                                     show what the step fetches and feeds
  run (r)                                go on: make the step, or go to the next one
  run -n, run -t N                       make a step, or N steps, without stopping
  run -f FILTER                          make steps until a filter finds a value, such as has_inf_or_nan
  exit (quit)                            end the program"""
_TENSOR = re.compile(r"^(?P<name>[^\[:]+)(:(?P<slot>\d+))?(?P<slice>\[.*\])?$")
_SLICE = re.compile(r"^\[[\d\s:,\-.]*\]$")


class Leave(Exception):
    """The user has said how the program goes on: `words` of the command `run`, or None to end it."""

    def __init__(self, words: list[str] | None):
        super().__init__(words)
        self.words = words


class Terminal:
    """Reads commands and prints answers, about one step at a time."""

    def __init__(self, filters: dict[str, Callable]):
        self._filters = filters

    def talk(self, opening: str, dump: Dump, graph: Any, fetches: Any, feed_dict: Any) -> list[str] | None:
        """Answers until the user goes on; gives the words behind `run`, or None for the end."""
        self._dump, self._graph, self._fetches, self._feeds = dump, graph, fetches, feed_dict or {}
        print(opening)
        while True:
            try:
                words = shlex.split(input("tfdbg> "), posix=False)
                if words:
                    self._answer(words)
            except Leave as leave:
                return leave.words
            except EOFError:
                return None
            except (ValueError, KeyError, IndexError, re.error) as error:
                print(f"ERROR: {error}")

    def _answer(self, words: list[str]) -> None:
        command, *rest = words
        commands = {
            "lt": self._list_tensors,
            "list_tensors": self._list_tensors,
            "pt": self._print_tensor,
            "print_tensor": self._print_tensor,
            "ni": self._node_info,
            "node_info": self._node_info,
            "li": lambda rest: print("\n".join(self._dump.node_inputs(rest[0])) or "(none)"),
            "list_inputs": lambda rest: print("\n".join(self._dump.node_inputs(rest[0])) or "(none)"),
            "lo": lambda rest: print("\n".join(self._dump.node_recipients(rest[0])) or "(none)"),
            "list_outputs": lambda rest: print("\n".join(self._dump.node_recipients(rest[0])) or "(none)"),
            "pf": self._print_feed,
            "print_feed": self._print_feed,
            "ri": lambda rest: print(run_info(self._fetches, self._feeds)),
            "run_info": lambda rest: print(run_info(self._fetches, self._feeds)),
            "help": lambda rest: print(_HELP),
            "h": lambda rest: print(_HELP),
        }
        if command in ("run", "r"):
            self._check_run(rest)
            raise Leave(rest)
        if command in ("exit", "quit", "q"):
            raise Leave(None)
        if command not in commands:
            raise ValueError(f'Invalid command "{command}"; "help" lists the commands.')
        commands[command](rest)

    def _check_run(self, words: list[str]) -> None:
        """ValueError for a `run` that makes no sense, before anything runs."""
        if words[:1] == ["-f"]:
            self._filter(words[1])
        elif words[:1] == ["-t"]:
            int(words[1])
        elif words not in ([], ["-n"]):
            raise ValueError(f"run takes -n, -t N or -f FILTER, but got: {' '.join(words)}")

    def _filter(self, name: str) -> Callable:
        if name not in self._filters:
            raise ValueError(f'There is no tensor filter named "{name}". There are: {sorted(self._filters)}')
        return self._filters[name]

    def _list_tensors(self, words: list[str]) -> None:
        options = dict(zip(words[::2], words[1::2], strict=True))
        data = self._dump.dumped_tensor_data
        if "-f" in options:
            data = self._dump.find(self._filter(options["-f"]))
        if "-n" in options:
            data = [datum for datum in data if re.match(options["-n"], datum.node_name)]
        if "-t" in options:
            data = [d for d in data if re.match(options["-t"], self._dump.node_op_type(d.node_name))]
        lines = [f"{len(data)} tensor(s)"]
        for datum in data:
            when = (datum.timestamp - self._dump.t0) / 1000
            kind = self._dump.node_op_type(datum.node_name)
            lines.append(f"[{when:.3f}ms]  {datum.dump_size_bytes:>8}  {kind:<20} {datum.tensor_name}")
        print("\n".join(lines))

    def _print_tensor(self, words: list[str]) -> None:
        text = " ".join(words)
        found = _TENSOR.match(text)
        if found is None:
            raise ValueError(f"pt takes the name of a tensor, but got: {text}")
        name, slot = found["name"], int(found["slot"] or 0)
        data = self._dump.watch_key_to_data(f"{name}:{slot}:DebugIdentity")
        values = [datum.get_tensor() for datum in data]
        if not values:  # constants are not computed in a step
            constant = constant_value(self._graph.get_tensor_by_name(f"{name}:{slot}"))
            if constant is None:
                raise ValueError(f'"{name}:{slot}" was not computed in this step.')
            values = [constant]
        for number, value in enumerate(values):
            title = f'Tensor "{name}:{slot}"' + (f" (value {number} of {len(values)})" if number else "")
            print(f"{title}:\n  dtype: {value.dtype}\n  shape: {value.shape}\n")
            print(np.array2string(_sliced(value, found["slice"]), separator=", "))

    def _node_info(self, words: list[str]) -> None:
        name = words[0].partition(":")[0]
        op = self._graph.get_operation_by_name(name) if self._dump.node_exists(name) else None
        lines = [
            f"Node {name}",
            "",
            f"  Op: {self._dump.node_op_type(name)}",
            f"  Device: {op.device or '(any)'}",
        ]
        for title, names in (
            ("input(s)", self._dump.node_inputs(name)),
            ("control input(s)", self._dump.node_inputs(name, is_control=True)),
            ("recipient(s)", self._dump.node_recipients(name)),
            ("control recipient(s)", self._dump.node_recipients(name, is_control=True)),
        ):
            lines += ["", f"  {len(names)} {title}:", *(f"    {other}" for other in names)]
        lines += ["", f"  made at {op.user_line}"]
        print("\n".join(lines))

    def _print_feed(self, words: list[str]) -> None:
        for key, value in self._feeds.items():
            if words[0] in (getattr(key, "name", key), str(getattr(key, "name", key)).partition(":")[0]):
                print(np.array2string(np.asarray(value), separator=", "))
                return
        raise ValueError(f'"{words[0]}" is not fed in this step.')


def _sliced(value: np.ndarray, index: str | None) -> np.ndarray:
    if index is None:
        return value
    if not _SLICE.match(index):
        raise ValueError(f"{index} is not a slice")
    parts = []
    for part in index[1:-1].split(","):
        numbers = [int(n) if n.strip() else None for n in part.split(":")]
        parts.append(Ellipsis if part.strip() == "..." else slice(*numbers) if ":" in part else numbers[0])
    return np.asarray(value[tuple(parts)])


def run_info(fetches: Any, feeds: Any) -> str:
    """What a step fetches and feeds, in two lines."""
    names = [str(getattr(key, "name", key)) for key in feeds or {}]
    return f"Fetch(es): {_names(fetches)}\nFeed(s): {', '.join(names) or '(none)'}"


def _names(fetches: Any) -> str:
    if isinstance(fetches, dict):
        fetches = list(fetches.values())
    if isinstance(fetches, (list, tuple)):
        return ", ".join(map(_names, fetches))
    return str(getattr(fetches, "name", fetches))
