"""tf.load_op_library of shared libraries: ops and kernels in C++, as users wrote them for TensorFlow."""

import gc
import os
import re
import subprocess
import sys
import types
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tensorboard.compat.proto.op_def_pb2 import OpList

import tideflow as tf
from tests.cluster.clusters import cluster_of, processes
from tests.platform.cpp.answers import answers, register_gradient
from tests.platform.cpp.compiling import SOURCES, compiled
from tideflow.graph.op import definitions
from tideflow.platform.kernel_libraries import Library, _add_ops
from tideflow.platform.kernel_schemas import declarations
from tideflow.platform.kernel_specs import parse_attr

FLAGS = [*tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]


@pytest.fixture(scope="session")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    sources = ("zero_out.cc", "interface.cc", "stateful.cc", "windows.cc", "parts.cc", "numeric.cc")
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda name: compiled(SOURCES / name, folder, FLAGS), sources))


@pytest.fixture(scope="session")
def libraries(paths):
    loaded = [tf.load_op_library(path) for path in paths]
    register_gradient(tf)
    return loaded


def test_the_ops_answer_as_in_tensorflow(libraries):
    assert answers(tf, *libraries) == (SOURCES / "answers.txt").read_text().splitlines()


def test_modules_of_libraries(paths, libraries):
    zero_out, interface, *_ = libraries
    assert tf.load_op_library(paths[0]) is zero_out and tf.load_library(os.path.dirname(paths[0])) is None
    assert [op.name for op in zero_out.OP_LIST.op] == [
        "ZeroOut",
        "PolymorphicZeroOut",
        "ZeroLike",
        "MultiplyAdd",
    ]
    assert "Keeps one element" in zero_out.polymorphic_zero_out.__doc__
    assert interface.OP_LIST.op[3].is_stateful
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(zero_out.ZeroOut(to_zero=[3, 4])).tolist() == [3, 0]
        with pytest.raises(LookupError, match="No gradient defined for operation 'ZeroLike'"):
            x = tf.constant([1.0])
            tf.gradients(zero_out.zero_like(x), x)


@pytest.mark.parametrize(
    "how, error, words",
    [
        ("check", tf.errors.InternalError, r"Check failed: num_outputs\(\) == 2 \(1 vs. 2\) outputs"),
        ("throw", tf.errors.InternalError, "thrown in a kernel"),
        ("memory", tf.errors.ResourceExhaustedError, "OOM when allocating"),
        ("anything", tf.errors.InternalError, "no std::exception"),
        ("wrong type", tf.errors.InternalError, "float expected, got int32"),
        ("wrong rank", tf.errors.InternalError, "2 dimensions from a tensor of 1"),
    ],
)
def test_what_would_end_the_process_ends_the_step(libraries, how, error, words):
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(error, match=words) as raised:
            session.run(libraries[1].fail(how, name="here"))
    assert raised.value.op.name == "here"


def test_an_exception_in_a_thread_of_a_kernel_ends_the_step(libraries):
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InternalError, match="thrown by another thread"):
            session.run(libraries[3].later_square([1.0], throws=True))
        assert session.run(libraries[3].later_square([3.0])) == [9.0]


FORKED = """
import os, signal, sys
import tideflow as tf
library = tf.load_op_library(sys.argv[1])
session = tf.Session()
x = tf.placeholder(tf.float32, [None])
y = library.later_square(x)
assert session.run(y, {x: [3.0]}) == [9.0]
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(int(tf.Session().run(y, {x: [2.0]})[0]))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), session.run(y, {x: [5.0]}))
"""


def test_threads_of_kernels_are_there_after_a_fork(paths):
    done = subprocess.run(
        [sys.executable, "-c", FORKED, paths[3]], capture_output=True, text=True, check=False
    )
    assert done.stdout == "4 [25.]\n", done.stderr


SHOUT = """
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
using namespace tensorflow;
REGISTER_OP("Shout").Input("x: string").Output("y: string");
class ShoutOp : public OpKernel {
 public:
  explicit ShoutOp(OpKernelConstruction* context) : OpKernel(context) {}
  void Compute(OpKernelContext* context) override {
    const string& x = context->input(0).scalar<string>()();
    OP_REQUIRES(context, !x.empty(), errors::InvalidArgument("nothing to ", string("shout")));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, TensorShape({}), &y));
    y->scalar<string>()() = x + "!";
  }
};
REGISTER_KERNEL_BUILDER(Name("Shout").Device(DEVICE_CPU), ShoutOp);
"""


def test_the_command_lines_of_makefiles(tmp_path):
    """Folders and TensorFlow's own library, as projects write them, and the older kind of C++'s strings."""
    source = tmp_path / "shout.cc"
    source.write_text(SHOUT)
    include, lib = tf.sysconfig.get_include(), tf.sysconfig.get_lib()
    flags = [f"-I{include}", f"-I{include}/external/nsync/public", "-D_GLIBCXX_USE_CXX11_ABI=0", f"-L{lib}"]
    for name in ("-l:libtensorflow_framework.so.1", "-ltensorflow_framework"):
        library = compiled(source, tmp_path, [*flags, name])
    shout = tf.load_op_library(library).shout
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(shout("hey")) == b"hey!"
        with pytest.raises(tf.errors.InvalidArgumentError, match="nothing to shout"):
            session.run(shout(""))


def test_memory_is_shared_only_where_torch_knows(libraries):
    """A kernel that gives its input out, and one that keeps it, leave variables as they are."""
    interface = libraries[1]
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[[1.0], [2.0], [3.0]], use_resource=True)
        rest, _ = interface.behead(v)
        x = tf.placeholder(tf.float32, [2])
        total, before = interface.running_sum(x)
        session.run(tf.global_variables_initializer())
        with tf.control_dependencies([rest]):
            doubled = v.assign(2.0 * v.read_value())
        got, _ = session.run([rest, doubled])
        np.testing.assert_array_equal(got, [[2.0], [3.0]])
        fed = np.array([1.0, 1.0], np.float32)
        first = session.run(total, {x: fed})
        second, last = session.run([total, before], {x: fed})
        np.testing.assert_array_equal([first, second, last], [[1, 1], [2, 2], [1, 1]])


def test_resources_end_with_their_session_and_when_they_are_destroyed(libraries):
    stateful = libraries[2]
    with tf.Graph().as_default():
        handle = stateful.counter_handle_op(shared_name="clicks")
        start, count = stateful.start_counter(handle, 3), stateful.count(handle)
        there = tf.raw_ops.VarIsInitializedOp(resource=handle)
        destroy = tf.raw_ops.DestroyResourceOp(resource=handle, ignore_lookup_error=False)
        with tf.Session() as session:
            with pytest.raises(tf.errors.NotFoundError, match=r"clicks.*Counter.* does not exist"):
                session.run(destroy)
            session.run(start)
            assert session.run([there, count]) == [True, 4]
            session.run(destroy)
            assert not session.run(there)
            session.run(start)
            kept = weakref.ref(session._resources)
        del session
        gc.collect()
    assert kept() is None


def test_a_reset_container_forgets_its_resources(libraries):
    stateful = libraries[2]
    server = tf.train.Server.create_local_server()
    try:
        with tf.Graph().as_default():
            handle = stateful.counter_handle_op(shared_name="clicks", container="web")
            start, count = stateful.start_counter(handle, 3), stateful.count(handle)
            for _ in range(2):  # a second start would be an error
                with tf.Session(server.target) as session:
                    session.run(start)
                    assert session.run(count) == 4
                with tf.Session(server.target) as session:
                    assert session.run(count) == 5
                tf.Session.reset(server.target, ["web"])
    finally:
        server.stop()


def test_variables_are_whole_while_kernels_write_to_them(libraries):
    """Updates by a kernel in C++ and by Tideflow's own, of both kinds of variables, from many threads."""
    stateful = libraries[2]
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=tf.zeros([1000]), use_resource=True)
        down = stateful.resource_apply_sign_descent(v.handle, 1.0, tf.ones([1000]))
        up = v.assign_add(tf.fill([1000], 3.0), read_value=False)
        session.run(v.initializer)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(session.run, [down, up, v] * 50))
        np.testing.assert_array_equal(session.run(v), np.full([1000], 100.0))


def test_on_a_cluster_whose_tasks_have_loaded_the_library(paths, libraries):
    zero_out, interface, *_ = libraries
    cluster = cluster_of(worker=1)
    with processes(cluster, ("worker", 0), libraries=paths), tf.Graph().as_default():
        with tf.device("/job:worker/task:0"):
            x = tf.placeholder(tf.float32, [3])
            y = zero_out.multiply_add(x, x, x)
            rows, _ = interface.stack_rows([[["a"]], [["b"]]])
            wrong = zero_out.polymorphic_zero_out([1], preserve_index=1)
        with tf.Session(f"grpc://{cluster['worker'][0]}") as session:
            got, texts = session.run([y, rows], {x: [1.0, 2.0, 3.0]})
            np.testing.assert_array_equal(got, [2.0, 6.0, 12.0])
            assert texts.tolist() == [[b"a"], [b"b"]]
            with pytest.raises(tf.errors.InvalidArgumentError, match="preserve_index out of range"):
                session.run(wrong)


BROKEN = {
    "missing": (
        'extern "C" int nowhere(); int f() { return nowhere(); }',
        "NotFoundError",
        "undefined symbol: nowhere",
    ),
    "crash": (
        "int* p; struct S { S() { *p = 1; } } s;",
        "InternalError",
        "by SIGSEGV while its ops were registered",
    ),
    "throw": (
        '#include <stdexcept>\nstruct S { S() { throw std::runtime_error("no luck"); } } s;',
        "InternalError",
        "(?s)by SIGABRT while its ops.*no luck",
    ),
    "leave": ("#include <stdlib.h>\nstruct S { S() { _Exit(3); } } s;", "InternalError", "with exit code 3"),
    "old": (
        'extern "C" { int tideflow_library_version() { return 0; } void* tideflow_library() { return 0; } }',
        "FailedPreconditionError",
        "version 0 of the headers.*compile it again",
    ),
    "tensorflow": (
        'const char* needed() { return "libtensorflow_framework.so.1"; }',
        "NotFoundError",
        "compiled for TensorFlow's own runtime",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_libraries(tmp_path, name):
    source, error, words = BROKEN[name]
    path = tmp_path / f"{name}.cc"
    path.write_text(source)
    with pytest.raises(getattr(tf.errors, error), match=words):
        tf.load_op_library(compiled(path, tmp_path, []))


def test_files_that_are_no_libraries(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match=r"nothing\.so: cannot open shared object file"):
        tf.load_op_library("./nothing.so")
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "empty.so").write_text("")
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xf3\x00"  # of another processor
    (tmp_path / "other.so").write_bytes(header + bytes(4000))
    for name, words in (
        ("text.so", "file too short|invalid ELF header"),
        ("empty.so", "too short"),
        ("other.so", "ELF"),
    ):
        with pytest.raises(tf.errors.NotFoundError, match=words):
            tf.load_op_library(str(tmp_path / name))


def test_an_op_type_is_declared_once(libraries):
    def load(*words):
        _add_ops(
            Library(lambda: [(k.encode(), v.encode()) for k, v in words], *[None] * 4),
            types.SimpleNamespace(OP_LIST=OpList()),
        )
        return list(definitions())

    before = list(definitions())
    other = (("op", "NewOp"), ("op", "ZeroOut"), ("input", "x: float"), ("output", "y: float"))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Op with name ZeroOut"):
        load(*other)
    for words in (("attr", "a: integer"), ("attr", "b int"), ("attr", "c: int = x"), ("input", "x y")):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Op Wrong"):
            load(("op", "Good"), ("op", "Wrong"), words)
    assert list(definitions()) == before
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="<no registered kernels>"):
            load(("op", "LacksAKernel"), ("attr", "role: string = 'x'"), ("output", "y: float"))
            session.run(definitions().pop("LacksAKernel")(role="y"))


def test_specs_of_attributes():
    def spec(text):
        name, found = parse_attr(text)
        return [name, found.kind, found.default, found.allowed, found.minimum]

    assert spec("T: {float, int32} = DT_INT32") == ["T", "type", tf.int32, (tf.float32, tf.int32), None]
    assert spec("N: int >= 2 = 3") == ["N", "int", 3, None, 2]
    assert spec('s : string = "a \' b"')[2] == "a ' b"
    assert spec("p: {'SAME', 'VALID'}")[3] == ("SAME", "VALID")
    assert spec("l: list({int32, int64}) >= 1")[1:] == [
        "list(type)", parse_attr("x: int")[1].default, (tf.int32, tf.int64), 1,
    ]  # fmt: skip
    assert spec("r: list(shape) = [{dim {size: 2}}, {unknown_rank: true}]")[2] == [[2], tf.TensorShape(None)]
    assert spec("f: list(float) = [1e-3, inf]")[2] == [pytest.approx(1e-3), float("inf")]
    assert tf.qint8 in spec("T: numbertype")[3] and tf.complex64 not in spec("T: realnumbertype")[3]


# What an op type declares beside `Attr("T: type")`, `Input("x: T")`, `Output("y: T")`: TensorFlow's words.
WRONG_SPECS = {
    ("input", "a: nonsense"): "Reference to unknown attr 'nonsense' from Input(\"a: nonsense\") for Op Wrong",
    ("input", "a"): "Trouble parsing 'name:' from Input(\"a\") for Op Wrong",
    ("input", "A: int32"): "Trouble parsing 'name:' from",
    ("input", "1a: T"): "Trouble parsing 'name:' from",
    ("input", "a:"): "Trouble parsing either a type or an attr name at '' from",
    ("input", "a: 3 * int32"): "Trouble parsing either a type or an attr name at '3 * int32' from",
    ("input", "a: T extra"): "Extra 'extra' unparsed at the end from",
    ("input", "a: N * T"): "No attr with name 'N' for input 'a'; in OpDef: ",
    ("input", "a: Ref(T"): "Did not find closing ')' for 'Ref(', instead found: '' from",
    ("input", "a: list(T)"): "Reference to unknown attr 'list' from",
    ("input", "x: T"): "Duplicate name: x; in OpDef: ",
    ("output", "x: T"): "Duplicate name: x; in OpDef: ",
    ("attr", "a"): "Trouble parsing '<name>:' from Attr(\"a\") for Op Wrong",
    ("attr", "1a: type"): "Trouble parsing '<name>:' from",
    ("attr", "T: int"): "Duplicate name: T; in OpDef: ",
    ("attr", "a: typ"): "Trouble parsing type string at 'typ' from",
    ("attr", "a: {}"): "Trouble parsing type string at '}' from",
    ("attr", "a: {float, nope}"): "Unrecognized type string 'nope' from",
    ("attr", "a: {float, 'b'}"): "Trouble parsing type string at ''b'}' from",
    ("attr", "a: type = DT_NOPE"): "Could not parse default value 'DT_NOPE' from",
    ("attr", "a: tensor = 3"): "Could not parse default value '3' from",
    ("attr", "a: bool = maybe"): "Could not parse default value 'maybe' from",
    (
        "attr",
        "a: {float} = DT_INT32",
    ): "Value for attr 'a' of int32 is not in the list of allowed",
    ("attr", "a: {'b'} = 'c'"): 'Value for attr \'a\' of "c" is not in the list of allowed values: "b"',
    (
        "attr",
        "a: list(type) >= -1",
    ): "Attr 'a' with list type must have a non-negative minimum, not -1; in OpDef",
    ("attr", "a: type >= 2"): "Extra '>= 2' unparsed at the end from",
    ("attr", "a: int >= b"): "Could not parse integer lower limit after '>=', found ' b' instead from",
}


@pytest.mark.parametrize("wrong", WRONG_SPECS)
def test_specs_that_tensorflow_refuses(wrong):
    words = [("op", "Wrong"), ("attr", "T: type"), ("input", "x: T"), ("output", "y: T"), wrong]
    with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(WRONG_SPECS[wrong])):
        declarations([(key.encode(), value.encode()) for key, value in words])


def test_specs_that_are_unusual():
    assert parse_attr("T: type = 3")[1].default == tf.int32
    assert parse_attr("T:{ float , int32 , }")[1].allowed == (tf.float32, tf.int32)
    words = [
        ("op", "Odd"),
        ("attr", "T: type"),
        ("attr", "N: int"),
        ("input", "x : N*T"),
        ("output", "y: Ref( T )"),
    ]
    declarations([(key.encode(), value.encode()) for key, value in words])


def test_the_library_stays_out_of_import_time():
    code = "import sys, tideflow; print('tideflow.platform.kernel_libraries' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
