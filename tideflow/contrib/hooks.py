"""tf.contrib.hooks: the profiler's hook, by its first name."""

from __future__ import annotations

from tideflow.export import expose
from tideflow.train.saving_hooks import ProfilerHook

expose(ProfilerHook, "contrib.hooks.ProfilerHook")
