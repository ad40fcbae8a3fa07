# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.deprecated import audio_summary as audio_summary
from tideflow.contrib.deprecated import histogram_summary as histogram_summary
from tideflow.contrib.deprecated import image_summary as image_summary
from tideflow.contrib.deprecated import merge_all_summaries as merge_all_summaries
from tideflow.contrib.deprecated import merge_summary as merge_summary
from tideflow.contrib.deprecated import scalar_summary as scalar_summary
