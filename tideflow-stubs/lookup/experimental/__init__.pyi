# Written by `python -m tideflow.programs.stubs`.

from tideflow.lookup.mutable import DenseHashTable as DenseHashTable
