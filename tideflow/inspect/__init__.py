"""What is in a file: checkpoints, models, graphs, logs and records, as tables for people.

`report_of(path)` finds out what a path is and describes it. The readers are those of `io/`; nothing of a file
is executed, and a damaged one is an error that names the byte.
"""

from tideflow.inspect.diff import diff_of
from tideflow.inspect.kinds import report_of
from tideflow.inspect.report import Report, Table, show

__all__ = ["Report", "Table", "diff_of", "report_of", "show"]
