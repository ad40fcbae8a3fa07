# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.text import skip_gram_sample as skip_gram_sample
from tideflow.contrib.text import skip_gram_sample_with_text_vocab as skip_gram_sample_with_text_vocab
