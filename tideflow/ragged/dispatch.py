"""Public functions and operators that take ragged tensors too.

A function listed here is replaced in the public namespace by one that looks for ragged arguments first.
Inside the package nothing changes: modules call each other's functions, not the public names.
"""

from __future__ import annotations

from collections.abc import Callable

from tideflow.dispatch import dispatching
from tideflow.export import symbols
from tideflow.ops.math import binary, powers, unary
from tideflow.ragged.elementwise import on_broadcast_values, on_values
from tideflow.ragged.tensor import RaggedTensor

_UNARY = """
    abs acos acosh add_n angle as_string asin asinh atan atanh bitwise.invert cast ceil check_numerics
    clip_by_value cos cosh debugging.is_finite decode_base64 decode_compressed digamma encode_base64 erf
    erfc exp expm1 floor identity is_inf is_nan lgamma log log1p log_sigmoid logical_not math.conj
    math.imag math.real negative ones_like reciprocal rint round rsqrt saturate_cast sign sin sinh sqrt
    square strings.join strings.length strings.lower strings.regex_full_match strings.regex_replace
    strings.strip strings.substr strings.to_hash_bucket strings.to_hash_bucket_fast
    strings.to_hash_bucket_strong strings.to_number strings.unicode_script strings.unicode_transcode
    strings.upper substr tan zeros_like
""".split()
_BINARY = """
    add atan2 bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift
    bitwise.right_shift complex div_no_nan equal floordiv floormod greater greater_equal less less_equal
    logical_and logical_or logical_xor math.divide maximum minimum multiply not_equal pow realdiv
    squared_difference subtract truediv truncatediv truncatemod
""".split()


_FORMS = {
    **dict.fromkeys(_UNARY, "values"),
    **dict.fromkeys(_BINARY, "broadcast_values"),
    **{
        name: name
        for name in (
            "batch_gather concat expand_dims gather one_hot rank size stack tile where reduce_sum "
            "reduce_prod reduce_min reduce_max reduce_mean reduce_any reduce_all reduce_join"
        ).split()
    },
    **{
        f"math.unsorted_segment_{name}": "segments"
        for name in ("sum", "prod", "min", "max", "mean", "sqrt_n")
    },
}


def install() -> None:
    """Puts the functions that look for ragged arguments into the public namespace, under all their names."""
    made = {id(symbols[path]): dispatching(symbols[path], {"ragged": form}) for path, form in _FORMS.items()}
    for path, function in list(symbols.items()):
        if id(function) in made:
            symbols[path] = made[id(function)]


# ------------------------------------------------------------------------------------------------ operators

_OPERATORS = {
    "add": binary.add,
    "sub": binary.subtract,
    "mul": binary.multiply,
    "truediv": binary.truediv,
    "div": binary.div,
    "floordiv": binary.floordiv,
    "mod": binary.floormod,
    "pow": powers.pow,
    "and": binary.logical_and,
    "or": binary.logical_or,
    "xor": binary.logical_xor,
}
_COMPARISONS = {
    "lt": binary.less,
    "le": binary.less_equal,
    "gt": binary.greater,
    "ge": binary.greater_equal,
}
_OF_ONE = {"neg": unary.negative, "abs": unary.abs, "invert": unary.logical_not}


def _reflected(function: Callable) -> Callable:
    return lambda y, x: function(x, y)


for _name, _function in {**_OPERATORS, **_COMPARISONS}.items():
    RaggedTensor._override_operator(f"__{_name}__", on_broadcast_values(_function))
for _name, _function in _OPERATORS.items():
    RaggedTensor._override_operator(f"__r{_name}__", _reflected(on_broadcast_values(_function)))
for _name, _function in _OF_ONE.items():
    RaggedTensor._override_operator(f"__{_name}__", on_values(_function))
