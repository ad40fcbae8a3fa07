# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.stat_summarizer import DeleteStatSummarizer as DeleteStatSummarizer
from tideflow.contrib.stat_summarizer import NewStatSummarizer as NewStatSummarizer
from tideflow.contrib.stat_summarizer import StatSummarizer as StatSummarizer
