"""`tf.test.Benchmark`: how long an operation takes in a session, measured and reported."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from tideflow.export import export
from tideflow.graph.operation import Operation, Tensor
from tideflow.graph.scopes import get_default_session
from tideflow.session.timeline import Timeline

if TYPE_CHECKING:
    from tideflow.graph.typing import SessionLike


@export("test.benchmark_config")
def benchmark_config() -> ConfigProto:
    """Makes a ConfigProto under which no optimization removes what is measured.

    Returns:
      The message.
    """
    config = ConfigProto()
    config.graph_options.rewrite_options.dependency_optimization = RewriterConfig.OFF
    return config


@export("test.Benchmark")
class Benchmark:
    """A base class for benchmarks, which are methods whose names begin with `benchmark`."""

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether the class has no benchmarks of its own."""
        return not any(name.startswith("benchmark") for name in vars(cls))

    def _get_name(self, overwrite_name: str | None = None) -> str:
        if overwrite_name is None:
            overwrite_name = next(
                (
                    frame.f_code.co_name
                    for frame in _callers()
                    if frame.f_locals.get("self") is self and frame.f_code.co_name.startswith("benchmark")
                ),
                "",
            )
        return f"{type(self).__name__}.{overwrite_name}"

    def run_op_benchmark(
        self,
        sess: SessionLike,
        op_or_tensor: Tensor | Operation,
        feed_dict: dict | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Runs an operation repeatedly and reports the median of its times.

        Args:
          sess: The session.
          op_or_tensor: The operation or tensor.
          feed_dict: Values to feed.
          burn_iters: The number of runs at the start that do not count.
          min_iters: The least number of runs that count.
          store_trace: Whether a trace is stored with the report.
          store_memory_usage: Whether the use of memory is stored with the report.
          name: The name of the benchmark; that of the calling method if None.
          extras: Further values to report.
          mbs: The number of megabytes that a run processes, for the throughput.

        Returns:
          The reported values.
        """
        op = op_or_tensor.op if isinstance(op_or_tensor, Tensor) else op_or_tensor
        if not isinstance(op, Operation):
            raise TypeError(f"run_op_benchmark takes an operation or a tensor, not {op_or_tensor!r}")
        for _ in range(burn_iters):
            sess.run(op, feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op, feed_dict)
            times.append(time.perf_counter() - start)
        extras = dict(extras or {})
        if store_trace or store_memory_usage:
            extras.update(_traced(sess, op, feed_dict, store_trace, store_memory_usage))
        median = float(np.median(times))
        result = {
            "iters": min_iters,
            "wall_time": median,
            "extras": extras,
            "name": name,
            "throughput": mbs / median if median else 0.0,
        }
        self.report_benchmark(**result)
        return result

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Prints the results of a benchmark, and writes them to a file if TEST_REPORT_FILE_PREFIX is set.

        Args:
          iters: The number of runs.
          cpu_time: The CPU time of a run in seconds.
          wall_time: The time of a run in seconds.
          throughput: The throughput in megabytes per second.
          extras: Further values to report.
          name: The name of the benchmark; that of the calling method if None.
        """
        full_name = self._get_name(name)
        figures = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
        entry = {
            "name": full_name,
            **{k: v for k, v in figures.items() if v is not None},
            "extras": extras or {},
        }
        text = json.dumps(entry, default=str)
        print(text)
        prefix = os.environ.get("TEST_REPORT_FILE_PREFIX")
        if prefix:
            with open(prefix + full_name.replace("/", "__"), "w", encoding="utf-8") as file:
                file.write(text)

    def evaluate(self, tensors: Any) -> Any:
        """Computes the values of tensors in the default session.

        Args:
          tensors: A structure of tensors.

        Returns:
          The values.
        """
        session = get_default_session()
        if session is None:
            raise ValueError("Benchmark.evaluate needs a default session: `with tf.Session():` around it.")
        return session.run(tensors)


def _callers() -> Any:
    frame = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _traced(sess: Any, op: Operation, feed_dict: Any, trace: bool, memory: bool) -> dict[str, Any]:
    """What a run under trace shows: the timeline, and the most memory of each device's allocator."""
    metadata = RunMetadata()
    sess.run(op, feed_dict, RunOptions(trace_level=RunOptions.FULL_TRACE), metadata)
    found: dict[str, Any] = {}
    if trace:
        found["full_trace_chrome_format"] = Timeline(metadata.step_stats).generate_chrome_trace_format()
    if memory:
        for device in metadata.step_stats.dev_stats:
            for node in device.node_stats:
                for used in node.memory:
                    key = f"allocator_maximum_num_bytes_{used.allocator_name}"
                    found[key] = max(found.get(key, 0), used.peak_bytes)
    return found
