"""TensorFlow's debugger (`tensorflow.python.debug`): the values of all operations of a step, kept and shown.

A session that is wrapped, or a hook, watches steps: each operation runs for itself, and what it gives is
kept, loops and branches included. A terminal shows it; or it is written to files, which `DebugDumpDir` reads.
Two things are shorter where they will do: `tf.Session(check_finite=True)` stops at the first operation that
makes a NaN or an infinity and names it, and `session.explain(fetches)` shows what a step does.
"""

from tideflow.programs.debugger.dumps import (
    DebugDumpDir,
    DebugTensorDatum,
    WatchKeyDoesNotExistInDebugDumpDirError,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
)
from tideflow.programs.debugger.sessions import (
    DumpingDebugHook,
    DumpingDebugWrapperSession,
    LocalCLIDebugHook,
    LocalCLIDebugWrapperSession,
    WatchOptions,
)
from tideflow.programs.debugger.watched_graphs import (
    add_debug_tensor_watch,
    watch_graph,
    watch_graph_with_blacklists,
)

__all__ = [
    "DebugDumpDir",
    "DebugTensorDatum",
    "DumpingDebugHook",
    "DumpingDebugWrapperSession",
    "LocalCLIDebugHook",
    "LocalCLIDebugWrapperSession",
    "WatchKeyDoesNotExistInDebugDumpDirError",
    "WatchOptions",
    "add_debug_tensor_watch",
    "has_inf_or_nan",
    "load_tensor_from_event",
    "load_tensor_from_event_file",
    "watch_graph",
    "watch_graph_with_blacklists",
]
