"""Everything of `contrib.layers` and `contrib.framework`, and the losses and metrics, as slim has them."""

from tideflow.contrib import framework, layers, losses, metrics  # noqa: F401 - what is gathered
from tideflow.export import expose, symbols

# slim's own name for a namespace -> where it is.
_SPACES = {
    "contrib.slim.": ("contrib.layers.", "contrib.framework."),
    "contrib.slim.layers.": ("contrib.layers.",),
    "contrib.slim.losses.": ("contrib.losses.",),
    "contrib.slim.metrics.": ("contrib.metrics.",),
    "contrib.slim.utils.": ("contrib.layers.utils.",),
    "contrib.slim.variables.": ("contrib.framework.",),
    "contrib.slim.nest.": ("contrib.framework.nest.",),
    "contrib.slim.initializers.": ("contrib.layers.",),
    "contrib.slim.regularizers.": ("contrib.layers.",),
}

for _ours, _sources in _SPACES.items():
    for _path, _value in list(symbols.items()):
        for _source in _sources:
            _name = _path.removeprefix(_source)
            if _path.startswith(_source) and "." not in _name and _ours + _name not in symbols:
                expose(_value, _ours + _name)
