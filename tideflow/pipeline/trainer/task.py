"""A task of a cluster that trains: `task.py FILE FUNCTION ARGUMENTS`, started by `run_trainer`."""

import sys

from tideflow.pipeline.trainer.run import run_function_of_file

if __name__ == "__main__":
    run_function_of_file(*sys.argv[1:4])
