"""Times of operations, and sums of them."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any


class ProfileDatum:
    """The times of one run of an operation.

    Args:
      device_name: The device that ran it.
      node_exec_stats: The times, a `NodeExecStats`.
      file_path: The file of the program that has made the operation.
      line_number: The line in it.
      func_name: The function in it.
      op_type: The type of the operation.
    """

    def __init__(
        self,
        device_name: str,
        node_exec_stats: Any,
        file_path: str,
        line_number: int,
        func_name: str,
        op_type: str,
    ):
        self.device_name, self.node_exec_stats = device_name, node_exec_stats
        self.file_path, self.line_number, self.func_name = file_path, line_number, func_name
        name = os.path.basename(file_path) if file_path else ""
        self.file_line_func = f"{name}:{line_number}({func_name})" if file_path else ""
        self.op_type = op_type
        self.start_time = node_exec_stats.all_start_micros
        self.op_time = node_exec_stats.op_end_rel_micros - node_exec_stats.op_start_rel_micros

    @property
    def exec_time(self) -> int:
        """The microseconds of all of it, what is before and after the computation included."""
        return self.node_exec_stats.all_end_rel_micros


class AggregateProfile:
    """Times of several runs, added up.

    Args:
      profile_datum: The first of them.
    """

    def __init__(self, profile_datum: ProfileDatum):
        self.total_op_time = self.total_exec_time = 0
        self._runs: Counter[str] = Counter()
        self.add(profile_datum)

    def add(self, profile_datum: ProfileDatum) -> None:
        """Adds the times of a run.

        Args:
          profile_datum: The run.
        """
        self.total_op_time += profile_datum.op_time
        self.total_exec_time += profile_datum.exec_time
        self._runs[f"{profile_datum.device_name}:{profile_datum.node_exec_stats.node_name}"] += 1

    @property
    def node_count(self) -> int:
        """How many operations there are."""
        return len(self._runs)

    @property
    def node_exec_count(self) -> int:
        """How often they ran in all."""
        return self._runs.total()
