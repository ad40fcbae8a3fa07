# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.learn.datasets import load_dbpedia as load_dbpedia
