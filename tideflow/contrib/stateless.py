"""tf.contrib.stateless: the first names of the random numbers that depend on their seed alone."""

from __future__ import annotations

from tideflow.export import expose
from tideflow.ops.random import choices, distributions

expose(choices.stateless_multinomial, "contrib.stateless.stateless_multinomial")
expose(distributions.stateless_random_normal, "contrib.stateless.stateless_random_normal")
expose(distributions.stateless_random_uniform, "contrib.stateless.stateless_random_uniform")
expose(distributions.stateless_truncated_normal, "contrib.stateless.stateless_truncated_normal")
