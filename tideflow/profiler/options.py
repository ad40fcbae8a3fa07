"""What to show of a profile, and how."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from tideflow.export import export
from tideflow.platform.compat import as_str_any

TRAINABLE_VARIABLES = "_trainable_variables"

_MINIMA = (
    "min_bytes min_peak_bytes min_residual_bytes min_output_bytes min_micros min_accelerator_micros "
    "min_cpu_micros min_params min_float_ops min_occurrence"
).split()


def _options(**given: Any) -> dict[str, Any]:
    return {
        "max_depth": 10000,
        "min_bytes": 0,
        "min_micros": 0,
        "min_params": 0,
        "min_float_ops": 0,
        "min_occurrence": 0,
        "order_by": "name",
        "account_type_regexes": [".*"],
        "start_name_regexes": [".*"],
        "trim_name_regexes": [],
        "show_name_regexes": [".*"],
        "hide_name_regexes": [],
        "account_displayed_op_only": True,
        "select": ["micros"],
        "step": -1,
        "output": "stdout",
        **given,
    }


@export("profiler.ProfileOptionBuilder")
class ProfileOptionBuilder:
    """Builds the options of a profile; each `with_…` returns the builder.

    Args:
      options: The options to begin with; those that show everything if None.
    """

    def __init__(self, options: dict[str, Any] | None = None):
        default = _options(max_depth=100, account_displayed_op_only=False)
        self._options = copy.deepcopy(default if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """How many parameters the trainable variables have."""
        return _options(account_type_regexes=[TRAINABLE_VARIABLES], select=["params"])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """How many floating point operations the ops take."""
        return _options(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """How long the ops took, and how much memory.

        Args:
          min_micros: The least microseconds.
          min_bytes: The least bytes.
          min_accelerator_micros: The least microseconds on accelerators.
          min_cpu_micros: The least microseconds on the CPU.
          min_peak_bytes: The least bytes at the peak.
          min_residual_bytes: The least bytes that remain.
          min_output_bytes: The least bytes of outputs.

        Returns:
          The options.
        """
        return _options(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            order_by="micros",
            select=["micros", "bytes"],
        )

    def build(self) -> dict[str, Any]:
        """The options."""
        return copy.deepcopy(self._options)

    def _set(self, **options: Any) -> ProfileOptionBuilder:
        self._options.update(copy.deepcopy(options))
        return self

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Shows no more levels than this, or op types.

        Args:
          max_depth: The number of levels.

        Returns:
          The builder.
        """
        return self._set(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> ProfileOptionBuilder:
        """Shows what takes at least so much memory.

        Args:
          min_bytes: The least bytes.
          min_peak_bytes: The least bytes at the peak.
          min_residual_bytes: The least bytes that remain.
          min_output_bytes: The least bytes of outputs.

        Returns:
          The builder.
        """
        return self._set(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Shows what takes at least so long.

        Args:
          min_micros: The least microseconds.
          min_accelerator_micros: The least microseconds on accelerators.
          min_cpu_micros: The least microseconds on the CPU.

        Returns:
          The builder.
        """
        return self._set(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Shows what has at least so many parameters.

        Args:
          min_params: The number.

        Returns:
          The builder.
        """
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Shows what stands for at least so many nodes of the graph.

        Args:
          min_occurrence: The number.

        Returns:
          The builder.
        """
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Shows what takes at least so many floating point operations.

        Args:
          min_float_ops: The number.

        Returns:
          The builder.
        """
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Counts nodes only that have one of these types: their op type, their device, a logged type.

        Args:
          account_type_regexes: Regular expressions of types.

        Returns:
          The builder.
        """
        return self._set(account_type_regexes=list(account_type_regexes))

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Where to begin, what to show, what to hide, and below what to stop.

        Args:
          start_name_regexes: Regular expressions of the names to begin with.
          show_name_regexes: Of those to show.
          hide_name_regexes: Of those to hide.
          trim_name_regexes: Of those below which nothing is shown.

        Returns:
          The builder.
        """
        given = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._set(**{key: list(value) for key, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:
        """Whether sums are over what is shown, and not over everything.

        Args:
          is_true: Whether they are.

        Returns:
          The builder.
        """
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Prints nothing."""
        return self._set(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Prints the profile."""
        return self._set(output="stdout")

    def with_file_output(self, outfile: str) -> ProfileOptionBuilder:
        """Writes the profile to a file.

        Args:
          outfile: The path of the file.

        Returns:
          The builder.
        """
        return self._set(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> ProfileOptionBuilder:
        """Writes the profile to a file that Chrome shows.

        Args:
          timeline_file: The path of the file.

        Returns:
          The builder.
        """
        return self._set(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> ProfileOptionBuilder:
        """Writes the profile of the program's lines to a file that pprof shows.

        Args:
          pprof_file: The path of the file.

        Returns:
          The builder.
        """
        return self._set(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sorts by an attribute, the largest first.

        Args:
          attribute: The attribute, such as `"micros"` or `"bytes"`.

        Returns:
          The builder.
        """
        return self._set(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Shows these attributes.

        Args:
          attributes: The attributes, such as `"micros"` and `"bytes"`.

        Returns:
          The builder.
        """
        return self._set(select=list(attributes))

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Shows one step, or with -1 the average of all.

        Args:
          step: The number of the step, or -1.

        Returns:
          The builder.
        """
        return self._set(step=step)


class Options:
    """A dictionary of options, read: what is left out is at its default."""

    def __init__(self, given: dict[str, Any]):
        options = {**_options(max_depth=10, account_displayed_op_only=False, select=[]), **given}
        self.minima = {name: options.get(name, 0) for name in _MINIMA}
        self.max_depth, self.step, self.order_by = options["max_depth"], options["step"], options["order_by"]
        self.displayed_only = options["account_displayed_op_only"]
        self.select = [as_str_any(name) for name in options["select"]]
        self.kind, _, rest = as_str_any(options["output"]).partition(":")
        self.outfile = rest.partition("outfile=")[2]
        self.patterns = {
            name: [as_str_any(pattern) for pattern in options[f"{name}_regexes"]]
            for name in ("account_type", "start_name", "trim_name", "show_name", "hide_name")
        }

    def matches(self, kind: str, *names: str) -> bool:
        """Whether one of the names is, as a whole, what one of the patterns of a kind says."""
        patterns = self.patterns[kind]
        return patterns == [".*"] or any(re.fullmatch(p, name) for p in patterns for name in names)

    def shows_name(self, name: str) -> bool:
        return self.matches("show_name", name) and not self.matches("hide_name", name)
