"""Small inner modules of TensorFlow that tests and libraries import."""

import gc
import threading
import unittest
from collections import OrderedDict

import numpy as np
import pytest
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

import tideflow as tf
from tideflow.functions.defun import Defun
from tideflow.platform import message_comparison
from tideflow.programs import modules
from tideflow.programs.inner.graph import (
    function_names,
    meta_graph_names,
    registries,
    shape_functions,
    subscriptions,
)
from tideflow.programs.inner.util import object_identity, small_utilities


class Thing:
    def __eq__(self, other):
        raise AssertionError("nobody asks")

    __hash__ = None


def test_objects_without_a_hash_are_keys():
    first, second = Thing(), Thing()
    known = object_identity.ObjectIdentityDictionary([(first, 1)])
    known[second] = 2
    assert [known[first], known[second], len(known)] == [1, 2, 2]
    del known[first]
    assert first not in known and next(iter(known)) is second
    things = object_identity.ObjectIdentitySet([first])
    things.add(first)
    assert len(things) == 1 and second not in things and len(things.intersection([second])) == 0


def test_weak_keys_go_with_their_objects():
    first, second = Thing(), Thing()
    known = object_identity.ObjectIdentityWeakKeyDictionary()
    known[first], known[second] = 1, 2
    things = object_identity.ObjectIdentityWeakSet([first, second])
    del first
    gc.collect()
    assert list(known.values()) == [2] and len(things) == 1


def test_a_registry_takes_a_name_once():
    registry = registries.Registry("gradients")
    registry.register("value", "name")
    assert registry.lookup("name") == "value" and list(registry.list()) == ["name"]
    with pytest.raises(KeyError, match="Registering two gradients with name 'name'"):
        registry.register("other", "name")
    with pytest.raises(LookupError, match="registry has no entry for: other"):
        registry.lookup("other")


def test_a_stack_remembers_who_pushed():
    stack = registries.TraceableStack()
    assert stack.push_obj("a") == registries.TraceableObject.SUCCESS
    stack.push_obj("b")
    assert stack.peek_objs() == ["b", "a"] and stack.peek_top_obj() == "b"
    assert all(each.filename == __file__ for each in stack.peek_traceable_objs())
    assert [stack.pop_obj(), len(stack), stack.copy().pop_obj()] == ["b", 1, "a"]


def test_one_group_at_a_time_has_the_lock():
    lock = small_utilities.GroupLock(2)
    lock.acquire(0)
    lock.acquire(0)  # of the same group
    entered = threading.Event()

    def other():
        with lock.group(1):
            entered.set()

    thread = threading.Thread(target=other)
    thread.start()
    lock.release(0)
    assert not entered.is_set()
    lock.release(0)
    thread.join(60)
    assert entered.is_set()
    with pytest.raises(ValueError, match="should be between"):
        lock.acquire(2)


def test_a_function_is_dispatched_by_type():
    class Money:
        def __init__(self, amount):
            self.amount = amount

    @small_utilities.add_dispatch_support
    def added(x, y):
        if not isinstance(x, int):
            raise TypeError("no number")
        return x + y

    @small_utilities.dispatch_for_types(added, Money)
    def added_money(x, y):
        return Money(x.amount + y.amount)

    assert added(1, 2) == 3 and added(Money(1), Money(2)).amount == 3
    with pytest.raises(TypeError, match="no number"):
        added("a", "b")
    with pytest.raises(AssertionError, match="signature must exactly match"):
        small_utilities.dispatch_for_types(added, Money)(lambda x: x)


def test_small_ones():
    assert small_utilities.keyword_args_only(lambda a: a)(a=1) == 1
    with pytest.raises(ValueError, match="only accepts keyword arguments"):
        small_utilities.keyword_args_only(lambda a: a)(1)
    emptied = OrderedDict(a=1)
    small_utilities.dismantle_ordered_dict(emptied)
    assert not emptied
    assert small_utilities.get_json_type(np.float32(1)) == 1.0
    assert small_utilities.get_json_type(tf.TensorShape([1, None])) == [1, None]
    with pytest.raises(TypeError, match="Not JSON Serializable"):
        small_utilities.get_json_type(object())
    assert small_utilities.extract_stack()[-1].name == "test_small_ones"


def test_messages_are_compared():
    case = unittest.TestCase()
    message_comparison.assertProtoEqual(case, "f: 0.5", AttrValue(f=0.5))
    with pytest.raises(AssertionError):
        message_comparison.assertProtoEqual(case, "f: 0.5", AttrValue(f=0.6))
    close = [AttrValue(list=AttrValue.ListValue(f=[f])) for f in (0.100000001, 0.10000002)]
    message_comparison.assertProtoEqual(case, *close, normalize_numbers=True)
    assert message_comparison.ProtoEq(AttrValue(i=1), AttrValue(i=1))


def test_effects_run_where_a_tensor_is_computed():
    seen = []
    total = tf.constant(1.0) + 2.0
    negative = -total
    effect = lambda tensor: tf.py_func(lambda value: seen.append(float(value)), [tensor], [])
    subscribed = subscriptions.subscribe(total, effect)
    again = subscriptions.subscribe(total, effect)
    assert again is subscribed and negative.op.inputs[0] is subscribed
    with tf.Session() as session:
        assert session.run(negative) == -3.0
    assert seen == [3.0, 3.0]


def test_a_function_def_becomes_a_graph():
    @Defun(tf.float32, func_name="Doubled")
    def doubled(x):
        return x * 2.0

    graph = function_names.function_def_to_graph(doubled.definition, [[3]])
    assert [t.shape.as_list() for t in graph.inputs] == [[3]] == [t.shape.as_list() for t in graph.outputs]
    with pytest.raises(ValueError, match="Length of input_shapes must match"):
        function_names.function_def_to_graph(doubled.definition, [[3], [4]])
    made = function_names.func_graph_from_py_func(
        "f", lambda x: {"y": x + 1.0}, [tf.TensorSpec([2], tf.float32)], {}
    )
    assert made.structured_outputs["y"].shape.as_list() == [2] and len(made.inputs) == 1


def test_scopes_are_copied():
    with tf.name_scope("one"):
        variable = tf.Variable(3.0, name="v")
        tf.multiply(variable, 2.0, name="product")
    copied = meta_graph_names.copy_scoped_meta_graph("one", "two")
    assert {name: v.name for name, v in copied.items()} == {"v:0": "two/v:0"}
    message, exported = meta_graph_names.export_scoped_meta_graph(export_scope="one")
    assert list(exported) == ["v:0"] and "Mul" in meta_graph_names.ops_used_by_graph_def(message.graph_def)
    assert "Mul" in [op.name for op in meta_graph_names.stripped_op_list_for_graph(message.graph_def).op]
    with pytest.raises(ValueError, match="need to be different"):
        meta_graph_names.copy_scoped_meta_graph("one", "one")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run("two/product:0") == 6.0


def test_static_shapes():
    assert shape_functions.broadcast_shape([2, 1], [1, 3]).as_list() == [2, 3]
    assert not shape_functions.is_broadcast_compatible([2], [3])
    assert not shape_functions.is_broadcast_compatible(None, [3])


def test_second_forms_are_those_of_tensorflow_2():
    assert modules.look_up("python.ops.nn_impl", "moments_v2") is tf.compat.v2.nn.moments
    assert modules.look_up("python.ops.sparse_ops", "sparse_concat_v2") is tf.compat.v2.sparse.concat


def test_inner_forms_of_public_functions():
    def inner(module, name):
        return modules.look_up(f"python.ops.{module}", name)

    assert inner("init_ops", "_compute_fans")([3, 3, 4, 5]) == (36, 45)
    assert inner("init_ops_v2", "constant_initializer") is tf.compat.v2.initializers.constant
    assert inner("ragged.ragged_string_ops", "strings_split_v1") is tf.strings.split
    assert inner("sparse_ops", "sparse_eye") is tf.sparse.eye
    assert inner("ragged.ragged_math_ops", "segment_sum") is tf.math.unsorted_segment_sum
    dense = [[1, 2]]
    ragged = inner("ragged.ragged_conversion_ops", "from_tensor")(dense)
    assert ragged.ragged_rank == 1 and inner("ragged.ragged_conversion_ops", "to_tensor")(dense) is dense
    gathered = inner("array_ops", "gather_v2")([[1, 2], [3, 4]], [1], axis=1)
    sparse = tf.SparseTensor([[0, 1]], [5], [1, 2])
    handle = inner("sparse_ops", "_add_sparse_to_tensors_map")(sparse)
    take = inner("sparse_ops", "_take_many_sparse_from_tensors_map")
    with pytest.raises(TypeError, match="sparse_map_op must be one of"):
        take(sparse.op, [0])
    taken = take(handle.op, [handle], rank=3)
    assert taken.shape.ndims == 3
    with tf.Session() as session:
        assert session.run(gathered).tolist() == [[2], [4]]
        assert session.run(taken).indices.tolist() == [[0, 0, 1]]
