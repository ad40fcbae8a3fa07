"""A unit test as TensorFlow's own are written: inner modules, decorators of test_util, both modes."""

import numpy as np
from absl.testing import parameterized
from tensorflow.python.data.experimental.ops import batching
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.data.util import nest, structure
from tensorflow.python.framework import constant_op, dtypes, importer, ops, tensor_spec, test_ops, test_util
from tensorflow.python.ops import (
    array_ops,
    cond_v2,
    control_flow_ops,
    control_flow_util,
    control_flow_util_v2,
    gradient_checker_v2,
    math_ops,
    variables,
)
from tensorflow.python.ops.linalg import linear_operator_diag
from tensorflow.python.ops.ragged import ragged_concat_ops, ragged_factory_ops, ragged_tensor
from tensorflow.python.platform import googletest, test


class TestOpsTest(test.TestCase):
    def testTheyStandInGraphs(self):
        with ops.Graph().as_default():
            self.assertLen(test_ops.n_ints_out(N=2), 2)
            self.assertEqual(test_ops.attr_default().get_attr("a"), b"banana")
            self.assertEqual(test_ops.ref_output().dtype, dtypes.int32_ref)
            self.assertLen(test_ops.mixed_struct(n_a=1), 2)
            with self.assertRaises(ValueError):
                test_ops.attr_min(2)

    def testGraphDefsMayHaveThem(self):
        graph_def = ops.Graph().as_graph_def()
        graph_def.node.add(name="A", op="IntOutputFloatOutput")
        with ops.Graph().as_default():
            (b,) = importer.import_graph_def(graph_def, return_elements=["A:1"])
            self.assertEqual(b.dtype, dtypes.float32)

    def testSomeRun(self):
        with self.cached_session():
            self.assertEqual(self.evaluate(test_ops.kernel_label()), b"My label is: default")
            self.assertIn(b"device:CPU:0", self.evaluate(test_ops.device_placement_op()))


class ControlFlowV2Test(test.TestCase):
    @test_util.enable_control_flow_v2
    @test_util.enable_output_all_intermediates
    def testConditionalsAreIfs(self):
        self.assertTrue(control_flow_util_v2._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE)
        with ops.Graph().as_default():
            chosen = control_flow_ops.cond(constant_op.constant(True), lambda: 1.0, lambda: 2.0)
            op = chosen.op.inputs[0].op
            self.assertEqual((op.type, op.name), ("StatelessIf", "cond"))
            self.assertLen(cond_v2.get_func_graphs(op)[0].outputs, 1)

    def testScopesOfXla(self):
        with ops.Graph().as_default() as graph:
            context = control_flow_ops.XLAControlFlowContext()
            context.Enter()
            self.assertTrue(control_flow_util.GraphOrParentsInXlaContext(graph))
            context.Exit()
            self.assertFalse(control_flow_util.GraphOrParentsInXlaContext(graph))


@test_util.run_all_in_graph_and_eager_modes
class BothModesTest(test.TestCase, parameterized.TestCase):
    @parameterized.named_parameters(("One", 1), ("Two", 2))
    def testConstant(self, value):
        self.assertAllEqual(self.evaluate(constant_op.constant(value)), value)

    def testRagged(self):
        ragged = ragged_factory_ops.constant([[1], [2, 3]])
        self.assertTrue(ragged_tensor.is_ragged(ragged))
        self.assertAllEqual(ragged, [[1], [2, 3]])
        self.assertAllEqual(self.evaluate(ragged), ragged)
        self.assertAllClose(ragged, [[1], [2, 3]])
        self.assertNotAllEqual(ragged, [[1], [2, 4]])
        twice = self.evaluate(ragged_concat_ops.concat([ragged, ragged], axis=0))
        self.assertAllEqual(twice.to_list(), [[1], [2, 3], [1], [2, 3]])

    def testGradients(self):
        theoretical, numerical = gradient_checker_v2.compute_gradient(
            lambda x, y: x * x * y, [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
        )
        self.assertLess(gradient_checker_v2.max_error(theoretical, numerical), 1e-3)
        self.assertAllEqual(theoretical[0].shape, (2, 2))

    def testSkipEagerWithName(self):
        self.assertEqual(constant_op.constant(1, name="c").name, "c:0")


@test_util.with_control_flow_v2
class GraphTest(test_util.TensorFlowTestCase):
    @test_util.run_deprecated_v1
    def testVariables(self):
        with self.cached_session():
            variable = variables.VariableV1(1.0)
            variable.initializer.run()
            self.assertEquals(variable.eval(), 1.0)

    @test_util.disable_control_flow_v2("loops of TensorFlow 1")
    @test_util.run_v1_only("graphs")
    def testLoops(self):
        done = control_flow_ops.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        self.assertTrue(control_flow_util.IsLoopExit(done.op))
        self.assertTrue(control_flow_util.IsInWhileLoop(done.op.inputs[0].op))
        self.assertIsNone(control_flow_util.GetOutputContext(done.op))

    @test_util.run_gpu_only
    def testOfGpus(self):
        self.assertTrue(test.is_gpu_available())

    @test_util.run_v2_only
    def testOfTensorFlow2(self):
        self.fail("TensorFlow 2's behaviour is off.")

    @test_util.disable_xla("there is none")
    @test_util.run_in_graph_and_eager_modes(use_gpu=False)
    def testDevices(self):
        with test_util.force_cpu(), test_util.device(use_gpu=True):
            ones = array_ops.ones([2])
        self.assertAllEqual(self.evaluate(math_ops.add(ones, 1)), [2, 2])

    def testLayouts(self):
        self.assertEqual(test_util.NHWCToNCHW([1, 2, 3, 4]), [1, 4, 2, 3])
        vectors = test_util.NHWCToNCHW_VECT_C([1, 2, 3, 8])
        self.assertEqual(vectors, [1, 2, 2, 3, 4])
        self.assertEqual(test_util.NCHW_VECT_CToNHWC(vectors), [1, 2, 3, 8])

    def testDatasets(self):
        dataset = dataset_ops.DatasetV1.range(3).apply(batching.map_and_batch(lambda x: x, 3))
        self.assertEqual(dataset_ops.get_legacy_output_types(dataset), dtypes.int64)
        self.assertEqual(nest.flatten((1, [2, 3])), [1, [2, 3]])
        spec = structure.type_spec_from_value(constant_op.constant(1))
        self.assertTrue(structure.are_compatible(spec, tensor_spec.TensorSpec([], dtypes.int32)))
        with self.session() as session:
            iterator = dataset_ops.make_one_shot_iterator(dataset)
            self.assertAllEqual(session.run(iterator.get_next()), [0, 1, 2])

    @test_util.assert_no_new_tensors
    def testNothingIsLeft(self):
        constant_op.constant(1)

    def testGraphs(self):
        with ops.Graph().as_default() as graph:
            linear_operator_diag.LinearOperatorDiag([1.0, 2.0])
            constant_op.constant(1, name="c")
        test_util.assert_ops_in_graph({"c": "Const"}, graph)
        with self.assertRaisesRegexp(ValueError, "Not all expected ops are present"):
            test_util.assert_ops_in_graph({"d": "Const"}, graph)
        self.assertEqual(ops.prepend_name_scope("^a/b", "s"), "^s/a/b")
        self.assertEqual(ops.strip_name_scope("loc:@s/a", "s"), "loc:@a")

    def testCombinations(self):
        names = [
            case["testcase_name"]
            for case in test_util.generate_combinations_with_testcase_name(b=[1, 2], a="q")
        ]
        self.assertEqual(names, ["_test_a_q_b_1", "_test_a_q_b_2"])


if __name__ == "__main__":
    googletest.main()
