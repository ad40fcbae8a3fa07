"""The differences between two encoded results, said one by one."""

import numpy as np

# Per dtype: how far two correct kernels may lie apart (relative, absolute).
TOLERANCES = {
    "float16": (4e-3, 2e-3),
    "bfloat16": (3e-2, 2e-2),
    "float32": (3e-5, 3e-6),
    "float64": (1e-9, 1e-10),
    "complex64": (3e-5, 3e-6),
    "complex128": (1e-9, 1e-10),
}

# Classes that TensorFlow raises but does not show: the class above them is what programs can catch.
HIDDEN_ERRORS = {"InaccessibleTensorError", "OperatorNotAllowedInGraphError"}


def differences(expected, actual, path="result", tolerance=None):
    """Every way in which `actual` is not `expected`, each as one line that says where."""
    kind = expected.get("kind") if isinstance(expected, dict) else None
    if kind == "close":
        inner = actual["value"] if isinstance(actual, dict) and actual.get("kind") == "close" else actual
        return differences(expected["value"], inner, path, (expected["rtol"], expected["atol"]))
    if isinstance(expected, float) and isinstance(actual, float):
        same = np.isclose(expected, actual, *(tolerance or TOLERANCES["float32"]), equal_nan=True)
        return [] if same else [f"{path}: {expected!r} expected, {actual!r} found"]
    if isinstance(expected, (list, tuple)):
        return _of_sequences(expected, actual, path, tolerance)
    if kind is None:
        same = type(expected) is type(actual) and expected == actual
        return [] if same else [f"{path}: {shown(expected)} expected, {shown(actual)} found"]
    if not isinstance(actual, dict) or actual.get("kind") != kind:
        return [f"{path}: {shown(expected)} expected, {shown(actual)} found"]
    if kind == "raised":
        return _of_errors(expected, actual, path)
    if kind == "array":
        return _of_arrays(expected, actual, path, tolerance)
    if kind == "graph":
        return _of_graphs(expected["nodes"], actual["nodes"], path)
    return [
        line
        for key, value in expected.items()
        for line in (
            _of_mappings(value, actual[key], path, tolerance)
            if key in ("items", "fields")
            else differences(value, actual[key], f"{path}.{key}", tolerance)
        )
    ]


def _of_sequences(expected, actual, path, tolerance):
    if type(expected) is not type(actual) or len(expected) != len(actual):
        return [f"{path}: {shown(expected)} expected, {shown(actual)} found"]
    pairs = enumerate(zip(expected, actual))
    return [line for i, (e, a) in pairs for line in differences(e, a, f"{path}[{i}]", tolerance)]


def _of_mappings(expected, actual, path, tolerance=None):
    lines = [f"{path}: no {key!r}" for key in expected if key not in actual]
    lines += [f"{path}: an unexpected {key!r}" for key in actual if key not in expected]
    for key in expected:
        if key in actual:
            lines += differences(expected[key], actual[key], f"{path}[{key!r}]", tolerance)
    return lines


def _of_errors(expected, actual, path):
    wanted = next(t for t in expected["types"] if t not in HIDDEN_ERRORS)
    if wanted in actual["types"]:
        return []
    return [f"{path}: {wanted} expected, {actual['types'][0]} found: {actual['message'][:300]}"]


def _of_graphs(expected, actual, path):
    """By node; a graph with other names is told by the names alone, the rest would only repeat it."""
    missing = [n for n in expected if n not in actual]
    extra = [n for n in actual if n not in expected]
    lines = [f"{path}: no node {n} ({expected[n]['op']})" for n in missing]
    lines += [f"{path}: an unexpected node {n} ({actual[n]['op']})" for n in extra]
    for name, node in expected.items():
        if name in actual:
            other = actual[name]
            wanted, found = _without_counter(node["attrs"]), _without_counter(other["attrs"])
            lines += _of_mappings(wanted, found, f"{path}: {name} ({node['op']})")
            for key in ("op", "inputs", "control", "device"):
                lines += differences(node[key], other[key], f"{path}: {name}.{key}")
    return lines


def _without_counter(attrs):
    """A custom gradient's name ends in how many the process has made: that says nothing of the graph."""
    name = attrs.get("_gradient_op_type", b"")
    return {**attrs, "_gradient_op_type": b"CustomGradient"} if name.startswith(b"CustomGradient-") else attrs


def _of_arrays(expected, actual, path, tolerance):
    lines = [
        f"{path}: {key} {expected[key]} expected, {actual[key]} found"
        for key in ("dtype", "shape")
        if expected[key] != actual[key]
    ]
    if lines or "stored" not in expected:
        return lines or ([] if expected["data"] == actual["data"] else [_mismatch(expected, actual, path)])
    e, a = decoded(expected), decoded(actual)
    rtol, atol = tolerance or TOLERANCES.get(expected["dtype"], (0, 0))
    with np.errstate(all="ignore"):
        same = np.isclose(e, a, rtol, atol, equal_nan=True) if e.dtype.kind in "fc" else e == a
    if np.all(same):
        return []
    where = tuple(int(i) for i in np.argwhere(~same)[0])
    worst = f"{e[where]} expected, {a[where]} found at {list(where)}"
    return [
        f"{path}: {np.sum(~same)} of {e.size} {expected['dtype']} values differ; {worst}\n"
        + _mismatch(expected, actual, "")
    ]


def _mismatch(expected, actual, path):
    return f"{path}  expected {shown(expected)}\n{path}  found    {shown(actual)}"


def decoded(array):
    """The NumPy array of an encoded one."""
    if "stored" not in array:
        return np.array(array["data"], dtype=object).reshape(array["shape"])
    return np.frombuffer(array["data"], dtype=array["stored"]).reshape(array["shape"])


def shown(value):
    """A result as a person would write it, on one line and not too long."""
    if isinstance(value, dict) and value.get("kind") == "array":
        with np.printoptions(precision=7, threshold=40, linewidth=10_000):
            text = f"{value['dtype']}{list(value['shape'])} " + str(decoded(value)).replace("\n", "")
    elif isinstance(value, dict) and value.get("kind") == "raised":
        text = f"{value['types'][0]}({value['message'][:200]!r})"
    else:
        text = repr(value)
    return text if len(text) < 600 else text[:600] + " …"
