"""`tf.compat.v2`: TensorFlow 2's names, as TensorFlow 1.15 has them."""

from tideflow.compat_v2.names import ROOT
from tideflow.export import expose

expose(ROOT, "compat.v2")
