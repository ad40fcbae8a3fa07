"""tf.contrib.specs: texts that are networks."""

import pytest

import tideflow as tf

specs = tf.contrib.specs


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_a_text_is_a_network():
    net = specs.create_net(
        "net = Cr(4, [3, 3]) | Mp([2, 2]) | Flat | Fm(size)", tf.zeros([2, 8, 8, 1]), {"size": 3}
    )
    assert net.shape.as_list() == [2, 3]
    assert specs.tf_num_params(net) == 4 * 9 + 4 + 64 * 3 + 3


def test_what_stands_in_quotes_is_no_keyword():
    specs.check_keywords("""net = Var("import", shape=[1]) | Var('while', shape=[1])""")
    with pytest.raises(ValueError, match="keyword 'def' found in spec"):
        specs.check_keywords("def f(): pass")


def test_a_spec_leaves_the_names_of_the_library_alone():
    first = specs.eval_spec("Fr = Id; net = Fr")
    second = specs.eval_spec("net = Fr(3)")
    assert first["net"] is specs.Id and second["net"].f is specs.Fr.f


def test_shared_layers_have_one_set_of_variables():
    specs.create_net("f = Shared(Fr(5)); net = f | f | f", tf.zeros([2, 5]))
    assert len(tf.global_variables()) == 2


def test_debugging_prints_calls(capsys):
    specs.debug()
    try:
        specs.Function(abs).funcall(-1)
    finally:
        specs.debug(False)
    specs.Function(abs).funcall(-1)
    assert capsys.readouterr().out == f"DEBUG: {abs} -1 [] {{}}\n"


def test_borrowed_names_are_given_back():
    global kept
    kept = 1
    with specs.LocalImport({"kept": 2, "borrowed": 3}):
        assert kept == 2 and borrowed == 3  # noqa: F821
    assert kept == 1 and "borrowed" not in globals()
