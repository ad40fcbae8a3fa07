"""TensorFlow's debugger (`tensorflow.python.debug`): the values of all operations of a step, kept and shown.

A session that is wrapped, or a hook, watches steps: each operation runs for itself, and what it gives is
written to a folder, loops and branches included. A terminal shows it, and `DebugDumpDir` reads it.
Two things are shorter where they will do: `tf.Session(check_finite=True)` stops at the first operation that
makes a NaN or an infinity and names it, and `session.explain(fetches)` shows what a step does.
"""

from tideflow.programs.debugger.dumps import DebugDumpDir, WatchKeyDoesNotExistInDebugDumpDirError
from tideflow.programs.debugger.gradients import GradientsDebugger, clear_gradient_debuggers
from tideflow.programs.debugger.graphs import reconstruct_non_debug_graph_def
from tideflow.programs.debugger.hooks import DumpingDebugHook, LocalCLIDebugHook
from tideflow.programs.debugger.local_cli import LocalCLIDebugWrapperSession
from tideflow.programs.debugger.values import (
    DebugTensorDatum,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from tideflow.programs.debugger.watch_options import (
    add_debug_tensor_watch,
    watch_graph,
    watch_graph_with_blacklists,
)
from tideflow.programs.debugger.wrappers import DumpingDebugWrapperSession, WatchOptions

__all__ = [
    "DebugDumpDir",
    "DebugTensorDatum",
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "GradientsDebugger",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "WatchOptions",
    "add_debug_tensor_watch",
    "clear_gradient_debuggers",
    "has_inf_or_nan",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
    "reconstruct_non_debug_graph_def",
    "watch_graph",
    "watch_graph_with_blacklists",
]
