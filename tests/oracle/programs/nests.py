"""Structures in which composite tensors and specs count as their components, and what is refused of them."""

import collections

from kit import raises

_Pair = collections.namedtuple("_Pair", "x y")


class _Row(list):
    """A list of its own type."""


def _composites(tf):
    sparse = tf.SparseTensor([[0, 1]], [2.0], [3, 4])
    ragged = tf.ragged.constant([[1], [2, 3]])
    return sparse, ragged, tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))


def paths_of_components(tf, np):
    nest = tf.contrib.framework.nest
    sparse, ragged, slices = _composites(tf)
    values = {"a": sparse, "b": [ragged, slices]}
    specs = {"a": sparse._type_spec, "b": [ragged._type_spec]}
    return [
        list(nest.yield_flat_paths(values, expand_composites=True)),
        list(nest.yield_flat_paths(specs, expand_composites=True)),
        list(nest.yield_flat_paths(values)),
        [path for path, _ in nest.flatten_with_joined_string_paths(values, expand_composites=True)],
        [nest.is_sequence_or_composite(each) for each in (sparse, sparse._type_spec, ragged, 1, [1])],
    ]


def functions_of_components(tf, np):
    nest = tf.contrib.framework.nest
    sparse, _, _ = _composites(tf)
    upper = nest.get_traverse_shallow_structure(
        lambda part: not isinstance(part, tf.SparseTensor), [sparse, [1, 2]], expand_composites=True
    )
    doubled = nest.map_structure_with_paths(
        lambda path, leaf, suffix: tf.identity(leaf, name=path.replace("/", "_") + suffix),
        {"s": sparse},
        suffix="_end",
        expand_composites=True,
    )
    return [upper, doubled["s"].indices, doubled["s"].values]


def containers_of_one_kind(tf, np):
    nest = tf.contrib.framework.nest
    sparse, ragged, slices = _composites(tf)
    same, check = nest.assert_same_structure, nest.assert_shallow_structure
    return [
        same([1], _Row([2])),
        same({"a": 1}, {"b": 2}, check_types=False),
        same([sparse], [sparse._type_spec], expand_composites=True),
        same(sparse, slices),
        check([1], _Row([2])),
        check((1, 2), _Pair(1, 2)),
        check([sparse], [sparse._type_spec], expand_composites=True),
        raises(same, (1,), [1]),
        raises(same, {"a": 1}, {"b": 2}),
        raises(same, [sparse], [ragged], expand_composites=True),
        raises(same, [sparse], [ragged], check_types=False, expand_composites=True),
        raises(same, [sparse], [[1, 2, 3]], expand_composites=True),
        raises(same, [sparse], [[1, 2, 3]], check_types=False, expand_composites=True),
        raises(check, _Row([1]), [2]),
        raises(check, _Pair(1, 2), (1, 2)),
        raises(check, {"a": 1, "c": 2}, {"a": 1, "b": 2}),
    ]


def maps_up_to_a_structure(tf, np):
    nest = tf.contrib.framework.nest

    def paths(*structures, **options):
        return nest.map_structure_with_paths(lambda path, *leaves: (path, leaves), *structures, **options)

    return [
        paths([1, 2], [3, [4]]),
        paths([1, 2], (3, 4), check_types=False),
        nest.map_structure_up_to([1], lambda part: part, [3, 4], check_subtrees_length=False),
        nest.pack_sequence_as([1, 2], collections.deque([3, 4])),
        raises(paths, [1, 2], [3]),
        raises(paths, [1, 2], (3, 4)),
        raises(paths, [1, [2]], [3, 4]),
        raises(nest.map_structure_up_to, [1], str),
        raises(nest.map_structure_up_to, [1, 2, 3], str, [1, 2], check_subtrees_length=False),
        raises(nest.pack_sequence_as, [1, 2], [1]),
    ]
