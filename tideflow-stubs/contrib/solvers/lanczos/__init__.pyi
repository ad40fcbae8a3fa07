# Written by `python -m tideflow.programs.stubs`.

from tideflow.contrib.solvers.lanczos import bidiag_matmul as bidiag_matmul
from tideflow.contrib.solvers.lanczos import lanczos_bidiag as lanczos_bidiag
