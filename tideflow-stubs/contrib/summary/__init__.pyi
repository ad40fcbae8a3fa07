# Written by `python -m tideflow.programs.stubs`.

from tideflow.summary.functions import all_v2_summary_ops as _all_summary_ops
from tideflow.summary.recording import SummaryWriter as SummaryWriter
from tideflow.summary.recording import always_record_summaries as always_record_summaries
from tideflow.summary.recording import audio as audio
from tideflow.summary.recording import create_file_writer as _create_summary_file_writer
from tideflow.summary.recording import create_file_writer as create_file_writer
from tideflow.summary.recording import eval_dir as eval_dir
from tideflow.summary.recording import flush as flush
from tideflow.summary.recording import generic as generic
from tideflow.summary.recording import histogram as histogram
from tideflow.summary.recording import image as image
from tideflow.summary.recording import import_event as import_event
from tideflow.summary.recording import initialize as initialize
from tideflow.summary.recording import never_record_summaries as never_record_summaries
from tideflow.summary.recording import record_summaries_every_n_global_steps as record_summaries_every_n_global_steps
from tideflow.summary.recording import scalar as scalar
from tideflow.summary.recording import should_record_summaries as should_record_summaries
from tideflow.summary.recording import summary_writer_initializer_op as summary_writer_initializer_op
from tideflow.summary.recording import write_graph as _graph

all_summary_ops = _all_summary_ops
create_summary_file_writer = _create_summary_file_writer
graph = _graph
