# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.testing import FakeSummaryWriter as FakeSummaryWriter
from tideflow.contrib.testing import assert_summary as assert_summary
from tideflow.contrib.testing import latest_event_file as latest_event_file
from tideflow.contrib.testing import latest_events as latest_events
from tideflow.contrib.testing import latest_summaries as latest_summaries
from tideflow.contrib.testing import simple_values_from_events as simple_values_from_events
from tideflow.contrib.testing import to_summary_proto as to_summary_proto
