"""Linear operators: what they compute, their hints, shapes, names and refusals."""

from kit import Close, cases, names, normal, product, raises, run
from matrices import definite_matrices, random_array, square_matrices

_DTYPES = ["float64", "complex128"]


def _kinds(tf, np, dtype, given):
    """Makers of operators; `given(array)` is the array as the operator gets it."""
    lin, kind = tf.linalg, getattr(tf, dtype)

    def full(*batch):
        return lin.LinearOperatorFullMatrix(given(square_matrices(np, dtype, *batch)))

    def diag(*shape):
        return lin.LinearOperatorDiag(given(random_array(np, dtype, *shape) + 2))

    def definite():
        matrix = given(definite_matrices(np, dtype, 2))
        return lin.LinearOperatorFullMatrix(matrix, is_self_adjoint=True, is_positive_definite=True)

    def real_diag():
        values = given((np.abs(normal(np, 3)) + 1).astype(dtype))
        return lin.LinearOperatorDiag(values, is_self_adjoint=True, is_positive_definite=True)

    return {
        "diag": lambda: diag(3),
        "batch of diag": lambda: diag(2, 3),
        "real diag": real_diag,
        "full": full,
        "batch of full": lambda: full(2),
        "definite": definite,
        "triangular": lambda: lin.LinearOperatorLowerTriangular(given(square_matrices(np, dtype, 2))),
        "householder": lambda: lin.LinearOperatorHouseholder(given(random_array(np, dtype, 2, 3))),
        "identity": lambda: lin.LinearOperatorIdentity(3, dtype=kind),
        "batch of identity": lambda: lin.LinearOperatorIdentity(3, [2], dtype=kind),
        "scaled identity": lambda: lin.LinearOperatorScaledIdentity(3, given(random_array(np, dtype, 2) + 2)),
        "adjoint": lambda: lin.LinearOperatorAdjoint(full(2)),
        "inversion": lambda: lin.LinearOperatorInversion(full(2)),
        "composition": lambda: lin.LinearOperatorComposition([full(2), diag(3)]),
        "block diag": lambda: lin.LinearOperatorBlockDiag([full(2), diag(2), full()]),
        "kronecker": lambda: lin.LinearOperatorKronecker([full(2), diag(2)]),
        "kronecker of three": lambda: lin.LinearOperatorKronecker([diag(2), full(), diag(2)]),
        "low rank": lambda: lin.LinearOperatorLowRankUpdate(
            real_diag(), given(random_array(np, dtype, 2, 3, 2))
        ),
        "low rank with diagonal": lambda: lin.LinearOperatorLowRankUpdate(
            full(), given(random_array(np, dtype, 3, 2)), given(random_array(np, dtype, 2) + 2)
        ),
        "low rank of two": lambda: lin.LinearOperatorLowRankUpdate(
            full(), given(random_array(np, dtype, 3, 2)), v=given(random_array(np, dtype, 2, 3, 2)[0])
        ),
        "toeplitz": lambda: lin.LinearOperatorToeplitz(
            given(np.array([4, 2, 1]).astype(dtype)), given(np.array([4, -1, 0.5]).astype(dtype))
        ),
        "circulant": lambda: lin.LinearOperatorCirculant(
            given(random_array(np, "complex128", 2, 4) + 2), kind
        ),
        "circulant 2d": lambda: lin.LinearOperatorCirculant2D(
            given(random_array(np, "complex128", 2, 3) + 2), kind
        ),
        "circulant 3d": lambda: lin.LinearOperatorCirculant3D(
            given(random_array(np, "complex128", 2, 2, 3) + 2), kind
        ),
    }


_KINDS = [
    "diag",
    "batch of diag",
    "real diag",
    "full",
    "batch of full",
    "definite",
    "triangular",
    "householder",
    "identity",
    "batch of identity",
    "scaled identity",
    "adjoint",
    "inversion",
    "composition",
    "block diag",
    "kronecker",
    "kronecker of three",
    "low rank",
    "low rank with diagonal",
    "low rank of two",
    "toeplitz",
    "circulant",
    "circulant 2d",
    "circulant 3d",
]


def _arguments(np, dtype, operator, side):
    """Matrices and vectors that the operator can be multiplied with."""
    batch = operator.batch_shape.as_list() if operator.batch_shape.ndims is not None else []
    matrix = random_array(np, dtype, *(batch + [side, 2]))
    return matrix, matrix[..., 0], np.swapaxes(matrix, -1, -2).conj()


def _skip(kind, dtype):
    """Real vectors need a Hermitian spectrum, which these have not."""
    return "circulant" in kind and dtype == "float64"


_PAIRS = [(kind, dtype) for kind in _KINDS for dtype in _DTYPES if not _skip(kind, dtype)]


@cases(*_PAIRS)
def products(tf, np, kind, dtype):
    operator = _kinds(tf, np, dtype, tf.constant)[kind]()
    side = operator.domain_dimension.value
    matrix, vector, turned = _arguments(np, dtype, operator, side)
    made = [operator.matmul(matrix), operator.matmul(matrix, adjoint=True), operator.matvec(vector)]
    made += [
        operator.matmul(turned, adjoint_arg=True),
        operator.matmul(turned, adjoint=True, adjoint_arg=True),
    ]
    made += [
        operator.matvec(vector, adjoint=True),
        operator.to_dense(),
        operator.add_to_tensor(operator.to_dense()),
    ]
    made += [tf.matmul(operator, matrix), tf.matmul(turned, operator)]
    return [[t.shape for t in made], Close(run(tf, made), 1e-7, 1e-8)]


@cases(*_PAIRS)
def equations(tf, np, kind, dtype):
    operator = _kinds(tf, np, dtype, tf.constant)[kind]()
    side = operator.domain_dimension.value
    matrix, vector, turned = _arguments(np, dtype, operator, side)
    made = [operator.solve(matrix), operator.solve(matrix, adjoint=True), operator.solvevec(vector)]
    made += [operator.solve(turned, adjoint_arg=True), operator.solvevec(vector, adjoint=True)]
    made += [tf.linalg.solve(operator, matrix)]
    return [[t.shape for t in made], Close(run(tf, made), 1e-6, 1e-7)]


@cases(*_PAIRS)
def numbers(tf, np, kind, dtype):
    operator = _kinds(tf, np, dtype, tf.constant)[kind]()
    made = [
        operator.determinant(),
        tf.exp(operator.log_abs_determinant()),
        operator.trace(),
        operator.diag_part(),
    ]
    made += [tf.linalg.det(operator), tf.linalg.trace(operator), tf.linalg.diag_part(operator)]
    return [[t.shape for t in made], Close(run(tf, made), 1e-6, 1e-7)]


# There TensorFlow takes the inverse of a complex multiple for self-adjoint, and forgets a circulant's type.
_MISTAKEN = [("scaled identity", "complex128"), ("circulant", "complex128")]


@cases(*[pair for pair in _PAIRS if pair not in _MISTAKEN])
def other_operators(tf, np, kind, dtype):
    operator = _kinds(tf, np, dtype, tf.constant)[kind]()
    made = [
        operator.adjoint(),
        operator.H,
        operator.inverse(),
        operator.matmul(operator),
        operator.solve(operator),
    ]
    made += [tf.linalg.adjoint(operator), tf.linalg.inv(operator)]
    dense = [other.to_dense() for other in made]
    return [[type(other).__name__ for other in made], _hints(made), Close(run(tf, dense), 1e-6, 1e-7)]


def _hints(operators):
    return [[o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square] for o in operators]


@cases(*_PAIRS)
def hints_and_shapes(tf, np, kind, dtype):
    o = _kinds(tf, np, dtype, tf.constant)[kind]()
    known = [o.name, o.dtype, o.shape, o.batch_shape, o.tensor_rank, o.domain_dimension, o.range_dimension]
    made = [o.shape_tensor(), o.batch_shape_tensor(), o.tensor_rank_tensor()]
    made += [o.domain_dimension_tensor(), o.range_dimension_tensor()]
    return [known, _hints([o]), made, run(tf, made), len(o.graph_parents)]


_SIZED = ("identity", "batch of identity", "scaled identity", "block diag", "toeplitz")


@cases(*[kind for kind in _KINDS if kind not in _SIZED and "circulant" not in kind])
def of_unknown_shape(tf, np, kind):
    """Everything fed, nothing known before."""
    feeds = {}

    def given(array):
        tensor = tf.placeholder(array.dtype, [None] * array.ndim)
        feeds[tensor] = array
        return tensor

    o = _kinds(tf, np, "float64", given)[kind]()
    fixed = _kinds(tf, np, "float64", tf.constant)[kind]()
    matrix, vector, _ = _arguments(np, "float64", fixed, fixed.domain_dimension.value)
    made = [o.matmul(matrix), o.matvec(vector), o.solve(matrix), o.to_dense(), o.determinant(), o.trace()]
    made += [o.diag_part(), o.shape_tensor(), o.batch_shape_tensor(), o.domain_dimension_tensor()]
    with tf.Session() as session:
        return [o.shape, o.is_square, Close(session.run(made, feeds), 1e-6, 1e-7)]


@cases(*[(kind, "float64") for kind in _KINDS if "circulant" not in kind])
def gradients(tf, np, kind, dtype):
    parents = []

    def given(array):
        parents.append(tf.constant(array))
        return parents[-1]

    operator = _kinds(tf, np, dtype, given)[kind]()
    matrix, _, _ = _arguments(np, dtype, operator, operator.domain_dimension.value)
    ys = [operator.matmul(matrix), operator.solve(matrix), operator.log_abs_determinant(), operator.trace()]
    grads = [tf.gradients(tf.sin(y), parents) for y in ys] if parents else []
    return Close(run(tf, [[g for g in row if g is not None] for row in grads]), 1e-6, 1e-7)


@cases("definite", "real diag", "identity", "batch of identity", "low rank")
def cholesky(tf, np, kind):
    operator = _kinds(tf, np, "float64", tf.constant)[kind]()
    factor = operator.cholesky()
    made = [factor.to_dense(), tf.linalg.cholesky(operator).to_dense(), tf.linalg.logdet(operator)]
    return [type(factor).__name__, _hints([factor]), Close(run(tf, made), 1e-8)]


@cases("diag", "full", "triangular", "householder")
def no_cholesky(tf, np, kind):
    operator = _kinds(tf, np, "float64", tf.constant)[kind]()
    return [raises(operator.cholesky), raises(tf.linalg.logdet, operator)]


@cases("block diag", "kronecker")
def cholesky_of_parts(tf, np, kind):
    lin = tf.linalg
    hints = {"is_self_adjoint": True, "is_positive_definite": True}
    parts = [lin.LinearOperatorFullMatrix(definite_matrices(np, "float64", 2), **hints)] * 2
    cls = lin.LinearOperatorBlockDiag if kind == "block diag" else lin.LinearOperatorKronecker
    operator = cls(parts)
    return [_hints([operator, operator.cholesky()]), Close(run(tf, operator.cholesky().to_dense()), 1e-8)]


_COMBINED = "diag real_diag scaled triangular identity zeros circulant full".split()


def _small(tf, np, name):
    lin = tf.linalg
    return {
        "diag": lambda: lin.LinearOperatorDiag([1.0, 2.0, 3.0]),
        "real_diag": lambda: lin.LinearOperatorDiag([3.0, 1.0, 2.0], is_positive_definite=True),
        "scaled": lambda: lin.LinearOperatorScaledIdentity(3, 2.0, is_positive_definite=True),
        "triangular": lambda: lin.LinearOperatorLowerTriangular(
            square_matrices(np, "float32"), is_non_singular=True
        ),
        "identity": lambda: lin.LinearOperatorIdentity(3),
        "zeros": lambda: lin.LinearOperatorZeros(3),
        "circulant": lambda: lin.LinearOperatorCirculant([1.0, 2.0, 2.0], input_output_dtype=tf.float32),
        "full": lambda: lin.LinearOperatorFullMatrix(square_matrices(np, "float32")),
    }[name]()


@cases(*[(a, b) for a, b in product(_COMBINED, _COMBINED) if (a, b) != ("circulant", "circulant")])
def pairs(tf, np, first, second):
    """Which kind the product and the quotient are."""
    a, b = _small(tf, np, first), _small(tf, np, second)
    made = [a.matmul(b), tf.matmul(a, b, adjoint_a=True)]
    if first != "zeros":
        made.append(a.solve(b))
    found = [[type(o).__name__, o.name] for o in made]
    return [found, _hints(made), Close(run(tf, [o.to_dense() for o in made]), 1e-4, 1e-5)]


# ---------------------------------------------------------------------------------- zeros


@cases({"square": (3, None, None), "oblong": (2, 3, None), "batch": (3, None, [2])})
def zeros(tf, np, rows, columns, batch):
    square = columns is None
    o = tf.linalg.LinearOperatorZeros(rows, columns, batch, is_square=square, is_self_adjoint=square)
    x = np.ones(((batch or []) + [columns or rows, 2]), np.float32)
    made = [
        o.matmul(x),
        o.to_dense(),
        o.diag_part(),
        o.add_to_tensor(tf.ones((batch or []) + [rows, columns or rows])),
    ]
    made += [o.determinant(), o.trace()] if square else []
    return [_hints([o]), o.shape, run(tf, made), raises(o.solve, x), raises(o.inverse)]


# ---------------------------------------------------------------------------------- checks


_CHECKS = ["assert_non_singular", "assert_positive_definite", "assert_self_adjoint"]
_CHECKED = {
    "good diag": lambda tf: tf.linalg.LinearOperatorDiag([1.0, 2.0]),
    "zero diag": lambda tf: tf.linalg.LinearOperatorDiag([0.0, 2.0]),
    "negative diag": lambda tf: tf.linalg.LinearOperatorDiag([-1.0, 2.0]),
    "complex diag": lambda tf: tf.linalg.LinearOperatorDiag([1.0 + 1j, 2.0]),
    "identity": lambda tf: tf.linalg.LinearOperatorIdentity(2),
    "scaled": lambda tf: tf.linalg.LinearOperatorScaledIdentity(2, -2.0),
    "scaled by zero": lambda tf: tf.linalg.LinearOperatorScaledIdentity(2, 0.0),
    "triangular": lambda tf: tf.linalg.LinearOperatorLowerTriangular(
        [[1.0, 0.0], [2.0, 0.0]], is_self_adjoint=True
    ),
    "full": lambda tf: tf.linalg.LinearOperatorFullMatrix([[2.0, 1.0], [1.0, 2.0]], is_self_adjoint=True),
    "singular": lambda tf: tf.linalg.LinearOperatorFullMatrix([[1.0, 1.0], [1.0, 1.0]], is_self_adjoint=True),
    "indefinite": lambda tf: tf.linalg.LinearOperatorFullMatrix(
        [[1.0, 2.0], [2.0, 1.0]], is_self_adjoint=True
    ),
    "skew": lambda tf: tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [0.0, 1.0]], is_self_adjoint=True),
    "householder": lambda tf: tf.linalg.LinearOperatorHouseholder([1.0, 2.0]),
    "zeros": lambda tf: tf.linalg.LinearOperatorZeros(2),
    "circulant": lambda tf: tf.linalg.LinearOperatorCirculant([1.0, 0.0, 2.0]),
    "block": lambda tf: tf.linalg.LinearOperatorBlockDiag(
        [tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperatorDiag([-1.0])]
    ),
    "adjoint": lambda tf: tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorDiag([1.0, 0.0])),
}


@cases(*product(_CHECKED, _CHECKS))
def checks(tf, np, name, check):
    def attempt():
        run(tf, getattr(_CHECKED[name](tf), check)())

    return raises(attempt)


# ---------------------------------------------------------------------------------- refusals


_REFUSED = {
    "definite and singular": lambda tf, d: tf.linalg.LinearOperatorDiag(
        d, is_positive_definite=True, is_non_singular=False
    ),
    "oblong diag": lambda tf, d: tf.linalg.LinearOperatorDiag(d, is_square=False),
    "asymmetric diag": lambda tf, d: tf.linalg.LinearOperatorDiag(d, is_self_adjoint=False),
    "scalar diag": lambda tf, d: tf.linalg.LinearOperatorDiag(1.0),
    "vector": lambda tf, d: tf.linalg.LinearOperatorFullMatrix(d),
    "integers": lambda tf, d: tf.linalg.LinearOperatorFullMatrix([[1, 2], [3, 4]]),
    "oblong triangle": lambda tf, d: tf.linalg.LinearOperatorLowerTriangular([d, d], is_square=False),
    "vector triangle": lambda tf, d: tf.linalg.LinearOperatorLowerTriangular(d),
    "identity": lambda tf, d: tf.linalg.LinearOperatorIdentity(2, is_positive_definite=False),
    "negative identity": lambda tf, d: tf.linalg.LinearOperatorIdentity(-2),
    "fractional identity": lambda tf, d: tf.linalg.LinearOperatorIdentity(2.0),
    "vector identity": lambda tf, d: tf.linalg.LinearOperatorIdentity([2]),
    "batch identity": lambda tf, d: tf.linalg.LinearOperatorIdentity(2, 3),
    "negative batch": lambda tf, d: tf.linalg.LinearOperatorIdentity(2, [-3]),
    "scaled identity": lambda tf, d: tf.linalg.LinearOperatorScaledIdentity(2, 1.0, is_square=False),
    "zeros": lambda tf, d: tf.linalg.LinearOperatorZeros(2, is_non_singular=True),
    "zeros of sizes": lambda tf, d: tf.linalg.LinearOperatorZeros(2, 3),
    "householder": lambda tf, d: tf.linalg.LinearOperatorHouseholder(d, is_positive_definite=True),
    "no composition": lambda tf, d: tf.linalg.LinearOperatorComposition([]),
    "no block": lambda tf, d: tf.linalg.LinearOperatorBlockDiag([]),
    "no product": lambda tf, d: tf.linalg.LinearOperatorKronecker([]),
    "types": lambda tf, d: tf.linalg.LinearOperatorComposition(
        [tf.linalg.LinearOperatorDiag(d), tf.linalg.LinearOperatorIdentity(2, dtype=tf.float64)]
    ),
    "sizes": lambda tf, d: (
        tf.linalg.LinearOperatorComposition(
            [tf.linalg.LinearOperatorDiag(d), tf.linalg.LinearOperatorIdentity(3)]
        ).shape
    ),
    "singular composition": lambda tf, d: tf.linalg.LinearOperatorComposition(
        [tf.linalg.LinearOperatorIdentity(2)], is_non_singular=False
    ),
    "oblong block": lambda tf, d: tf.linalg.LinearOperatorBlockDiag(
        [tf.linalg.LinearOperatorFullMatrix([d])]
    ),
    "inverse of singular": lambda tf, d: tf.linalg.LinearOperatorInversion(
        tf.linalg.LinearOperatorDiag(d, is_non_singular=False)
    ),
    "inverse of oblong": lambda tf, d: tf.linalg.LinearOperatorInversion(
        tf.linalg.LinearOperatorFullMatrix([d])
    ),
    "adjoint": lambda tf, d: tf.linalg.LinearOperatorAdjoint(
        tf.linalg.LinearOperatorDiag(d, is_non_singular=True), is_non_singular=False
    ),
    "low rank": lambda tf, d: tf.linalg.LinearOperatorLowRankUpdate(
        tf.linalg.LinearOperatorIdentity(2), [[1.0]]
    ),
    "negative update": lambda tf, d: tf.linalg.LinearOperatorLowRankUpdate(
        tf.linalg.LinearOperatorIdentity(2), [[1.0], [2.0]], is_diag_update_positive=False
    ),
    "toeplitz": lambda tf, d: tf.linalg.LinearOperatorToeplitz(d, [1.0]),
    "circulant": lambda tf, d: tf.linalg.LinearOperatorCirculant(1.0),
    "asymmetric circulant": lambda tf, d: tf.linalg.LinearOperatorCirculant(d, is_self_adjoint=False),
    "product": lambda tf, d: tf.linalg.LinearOperatorDiag(d).matmul([[1.0]]),
    "product of types": lambda tf, d: tf.linalg.LinearOperatorDiag(d).matmul(tf.ones([2, 1], tf.float64)),
    "product of operators": lambda tf, d: tf.linalg.LinearOperatorDiag(d).matmul(
        tf.linalg.LinearOperatorIdentity(3)
    ),
    "equation": lambda tf, d: tf.linalg.LinearOperatorDiag(d, is_non_singular=False).solve([d]),
    "oblong equation": lambda tf, d: tf.linalg.LinearOperatorFullMatrix([d]).solve([d]),
    "oblong determinant": lambda tf, d: tf.linalg.LinearOperatorFullMatrix([d]).determinant(),
    "not oblong": lambda tf, d: tf.linalg.LinearOperatorFullMatrix([d, d], is_square=False).is_square,
    "transposed": lambda tf, d: tf.matmul(tf.linalg.LinearOperatorDiag(d), [d, d], transpose_a=True),
    "tensor by operator": lambda tf, d: tf.linalg.solve([d, d], tf.linalg.LinearOperatorDiag(d)),
    "abstract": lambda tf, d: tf.linalg.LinearOperator(tf.float32),
}


@cases(*_REFUSED)
def refused(tf, np, name):
    return raises(_REFUSED[name], tf, [1.0, 2.0])


# ---------------------------------------------------------------------------------- names and subclasses


@cases("diag", "full", "triangular", "identity", "householder", "zeros")
def node_names(tf, np, kind):
    lin = tf.linalg
    o = {
        "diag": lambda: lin.LinearOperatorDiag([1.0, 2.0, 3.0]),
        "full": lambda: lin.LinearOperatorFullMatrix(np.eye(3)),
        "triangular": lambda: lin.LinearOperatorLowerTriangular(np.eye(3)),
        "identity": lambda: lin.LinearOperatorIdentity(3),
        "householder": lambda: lin.LinearOperatorHouseholder([1.0, 2.0, 3.0]),
        "zeros": lambda: lin.LinearOperatorZeros(3),
    }[kind]()
    o.matmul(np.ones((3, 1), o.dtype.as_numpy_dtype))
    return [name for name, _ in names(tf)][:3]


def names_in_scopes(tf, np):
    with tf.name_scope("here"):
        a = tf.linalg.LinearOperatorDiag([1.0, 2.0], name="mine")
        b = tf.linalg.LinearOperatorDiag([1.0, 2.0], name="mine")
    made = [
        a.matvec([1.0, 2.0]),
        b.matvec([1.0, 2.0]),
        a.matmul([[1.0], [2.0]]),
        a.to_dense(),
        a.determinant(),
    ]
    return [a.name, b.name, [t.name.split("/")[0] for t in made], a.adjoint().name, a.inverse().name]


def of_variables(tf, np):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    o = tf.linalg.LinearOperatorDiag(v)
    y = o.matvec([1.0, 1.0])
    change = tf.assign(v, [3.0, 4.0])
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(y)
        session.run(change)
        return [
            before,
            session.run(y),
            session.run(o.log_abs_determinant()),
            session.run(o.inverse().to_dense()),
        ]


def of_ones_own(tf, np):
    """An operator that only says its shape and how it multiplies."""

    class Swap(tf.linalg.LinearOperator):
        def __init__(self):
            super(Swap, self).__init__(tf.float32, is_self_adjoint=True, is_non_singular=True, name="Swap")

        def _shape(self):
            return tf.TensorShape([2, 2])

        def _shape_tensor(self):
            return tf.constant([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            x = tf.linalg.adjoint(x) if adjoint_arg else x
            return tf.reverse(x, [-2])

    o = Swap()
    made = [o.to_dense(), o.determinant(), o.solvevec([1.0, 2.0]), o.trace(), o.matvec([1.0, 2.0])]
    made += [
        o.matmul(o).to_dense(),
        o.inverse().to_dense(),
        o.diag_part(),
        o.add_to_tensor([[1.0, 2.0], [3.0, 4.0]]),
    ]
    return [_hints([o, o.inverse()]), o.adjoint() is o, Close(run(tf, made), 1e-5, 1e-6)]


@cases(*product(["matmul", "solve"], ["full", "triangular", "diag"]))
def broadcast(tf, np, method, kind):
    """Batches of the operator and of its argument that fit by broadcasting."""
    maker = {
        "full": tf.linalg.LinearOperatorFullMatrix,
        "triangular": tf.linalg.LinearOperatorLowerTriangular,
        "diag": lambda x: tf.linalg.LinearOperatorDiag(np.diagonal(x, axis1=-2, axis2=-1).copy()),
    }[kind]
    found = []
    for batch, other in (((), (2,)), ((2,), ()), ((2, 1), (3,)), ((3,), (2, 3))):
        operator = maker(square_matrices(np, "float64", *batch))
        y = getattr(operator, method)(random_array(np, "float64", *(other + (3, 2))))
        found += [y.shape, Close(run(tf, y), 1e-8)]
    return found


def circulant_extras(tf, np):
    o = tf.linalg.LinearOperatorCirculant2D(np.arange(1.0, 7.0).reshape(2, 3))
    made = [o.convolution_kernel(), o.block_shape_tensor(), o.matvec(np.arange(6.0).astype(np.complex64))]
    return [o.block_depth, o.block_shape, o.spectrum.shape, Close(run(tf, made), 1e-4, 1e-5)]


def circulant_of_real_vectors(tf, np):
    kernel = np.array([1.0, 2.0, 1.0, -1.0], np.float32)
    o = tf.linalg.LinearOperatorCirculant(
        tf.fft(tf.cast(kernel, tf.complex64)), input_output_dtype=tf.float32
    )
    return Close(run(tf, [o.matvec(kernel), o.to_dense(), o.trace(), o.determinant()]), 1e-4, 1e-5)
