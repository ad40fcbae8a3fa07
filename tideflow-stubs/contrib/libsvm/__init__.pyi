# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.libsvm import decode_libsvm as decode_libsvm
