# Written by `python -m tideflow.programs.stubs`.

from tideflow.train.saving_hooks import ProfilerHook as ProfilerHook
