# Written by `python -m tideflow.programs.stubs`.

from tideflow.random.generator import Generator as Generator
from tideflow.random.generator import create_rng_state as create_rng_state
from tideflow.random.generator import get_global_generator as get_global_generator
from tideflow.random.generator import set_global_generator as set_global_generator
