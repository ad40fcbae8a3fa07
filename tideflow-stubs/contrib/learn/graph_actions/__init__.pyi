# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.graph_actions import clear_summary_writers as clear_summary_writers
from tideflow.contrib.learn.graph_actions import evaluate as evaluate
from tideflow.contrib.learn.graph_actions import get_summary_writer as get_summary_writer
from tideflow.contrib.learn.graph_actions import infer as infer
from tideflow.contrib.learn.graph_actions import run_feeds as run_feeds
from tideflow.contrib.learn.graph_actions import run_feeds_iter as run_feeds_iter
from tideflow.contrib.learn.graph_actions import run_n as run_n
from tideflow.contrib.learn.graph_actions import train as train
