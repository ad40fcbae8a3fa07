# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.monitors import BaseMonitor as BaseMonitor
from tideflow.contrib.learn.monitors import EveryN as EveryN
from tideflow.contrib.learn.monitors import RunHookAdapterForMonitors as RunHookAdapterForMonitors
from tideflow.contrib.learn.monitors import replace_monitors_with_hooks as replace_monitors_with_hooks
from tideflow.contrib.learn.saving_monitors import CheckpointSaver as CheckpointSaver
from tideflow.contrib.learn.saving_monitors import ExportMonitor as ExportMonitor
from tideflow.contrib.learn.saving_monitors import GraphDump as GraphDump
from tideflow.contrib.learn.saving_monitors import StepCounter as StepCounter
from tideflow.contrib.learn.saving_monitors import SummarySaver as SummarySaver
from tideflow.contrib.learn.watching_monitors import CaptureVariable as CaptureVariable
from tideflow.contrib.learn.watching_monitors import LoggingTrainable as LoggingTrainable
from tideflow.contrib.learn.watching_monitors import NanLoss as NanLoss
from tideflow.contrib.learn.watching_monitors import PrintTensor as PrintTensor
from tideflow.contrib.learn.watching_monitors import StopAtStep as StopAtStep
from tideflow.contrib.learn.watching_monitors import ValidationMonitor as ValidationMonitor
from tideflow.contrib.learn.watching_monitors import get_default_monitors as get_default_monitors
