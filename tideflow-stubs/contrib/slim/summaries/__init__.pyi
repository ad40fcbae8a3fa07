# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.slim.summaries import add_histogram_summaries as add_histogram_summaries
from tideflow.contrib.slim.summaries import add_histogram_summary as add_histogram_summary
from tideflow.contrib.slim.summaries import add_image_summaries as add_image_summaries
from tideflow.contrib.slim.summaries import add_image_summary as add_image_summary
from tideflow.contrib.slim.summaries import add_scalar_summaries as add_scalar_summaries
from tideflow.contrib.slim.summaries import add_scalar_summary as add_scalar_summary
from tideflow.contrib.slim.summaries import add_zero_fraction_summaries as add_zero_fraction_summaries
from tideflow.contrib.slim.summaries import add_zero_fraction_summary as add_zero_fraction_summary
