"""Linear algebra: decompositions, equations, functions of matrices. Factors are compared multiplied back."""

from kit import Close, cases, differentiated, names, normal, product, raises, run, upstream
from matrices import definite_matrices, random_array, square_matrices

_TYPES = ["float32", "float64", "complex64", "complex128"]
_BATCHES = {"one": (), "batch": (2,), "grid": (2, 3), "none": (0,), "some none": (2, 0)}


def _loose(dtype, value):
    """Precision of a chain of operations in a type."""
    return Close(value, 2e-3, 2e-4) if dtype in ("float32", "complex64") else Close(value, 1e-7, 1e-8)


def _by_matrix(tf, np, build, x, dtype):
    """Values, static shapes and gradients."""
    found = differentiated(tf, np, build, x)
    return [_loose(dtype, found["values"]), found["shapes"], _loose(dtype, found["gradients"])]


_OF_ONE = {
    "cholesky": lambda tf, x: tf.cholesky(x),
    "det": lambda tf, x: tf.matrix_determinant(x),
    "linalg det": lambda tf, x: tf.linalg.det(x),
    "inverse": lambda tf, x: tf.matrix_inverse(x),
    "slogdet": lambda tf, x: tf.linalg.slogdet(x)[1],
    "logdet": lambda tf, x: tf.linalg.logdet(x),
    "eigenvalues": lambda tf, x: tf.self_adjoint_eigvals(x),
    "singular values": lambda tf, x: tf.svd(x, compute_uv=False),
    "trace of sqrtm": lambda tf, x: tf.trace(tf.matrix_square_root(x)),
    "sqrtm": lambda tf, x: tf.linalg.sqrtm(x),
}


@cases(*product(_OF_ONE, _TYPES, ["one", "batch", "grid"]))
def of_definite(tf, np, name, dtype, batch):
    x = definite_matrices(np, dtype, *_BATCHES[batch])
    return _by_matrix(tf, np, lambda x: _OF_ONE[name](tf, x), x, dtype)


@cases(*product(["det", "inverse", "slogdet", "singular values"], _TYPES, ["one", "batch"]))
def of_square(tf, np, name, dtype, batch):
    x = square_matrices(np, dtype, *_BATCHES[batch])
    return _by_matrix(tf, np, lambda x: _OF_ONE[name](tf, x), x, dtype)


@cases(*product(["cholesky", "det", "inverse", "slogdet", "eigenvalues"], _BATCHES))
def of_empty(tf, np, name, batch):
    x = tf.constant(definite_matrices(np, "float64", *_BATCHES[batch]))
    y = _OF_ONE[name](tf, x)
    nothing = _OF_ONE[name](tf, tf.zeros([0, 0], tf.float64))
    return [y.shape, run(tf, y), nothing.shape, run(tf, nothing)]


@cases(*product(_TYPES, [(3, 3), (4, 3), (2, 4), (2, 3, 3), (2, 4, 2)]))
def qr(tf, np, dtype, shape):
    x = tf.constant(random_array(np, dtype, *shape))
    made = []
    for full in (False, True):
        q, r = tf.qr(x, full_matrices=full)
        made += [tf.matmul(q, r), tf.matmul(q, q, adjoint_a=True), tf.abs(tf.matrix_diag_part(r))]
        made += [tf.abs(r - tf.matrix_band_part(r, 0, -1))]
    return [[y.shape for y in made], _loose(dtype, run(tf, made))]


@cases(*product(_TYPES, [(3, 3), (4, 3), (2, 4), (2, 3, 3)], [False, True]))
def svd(tf, np, dtype, shape, full):
    x = tf.constant(random_array(np, dtype, *shape))
    s, u, v = tf.svd(x, full_matrices=full)
    k = min(shape[-2:])
    back = tf.matmul(u[..., :k] * tf.cast(s, u.dtype)[..., None, :], v[..., :k], adjoint_b=True)
    made = [s, back, tf.matmul(u, u, adjoint_a=True), tf.matmul(v, v, adjoint_a=True)]
    return [s.dtype, [t.shape for t in (s, u, v)], _loose(dtype, run(tf, made))]


@cases(*product(_TYPES, ["one", "batch"]))
def eigh(tf, np, dtype, batch):
    x = tf.constant(definite_matrices(np, dtype, *_BATCHES[batch]))
    e, v = tf.self_adjoint_eig(x)
    back = tf.matmul(v * e[..., None, :], v, adjoint_b=True)
    made = [e, back, tf.matmul(v, v, adjoint_a=True)]
    return [e, v, _loose(dtype, run(tf, made))]


def eigh_looks_at_the_lower_triangle(tf, np):
    x = tf.constant([[1.0, 100.0], [2.0, 3.0]])
    return run(tf, tf.linalg.eigvalsh(x))


@cases(*product(["float32", "float64"], ["one", "batch"], ["u", "v", "all"]))
def gradient_through_svd(tf, np, dtype, batch, part):
    """Of functions that do not depend on signs."""

    def build(x):
        s, u, v = tf.svd(x)
        if part == "u":
            return tf.matmul(u * s[..., None, :], u, adjoint_b=True)
        if part == "v":
            return tf.matmul(v / s[..., None, :], v, adjoint_b=True)
        return tf.matmul(u * tf.sqrt(s)[..., None, :], v, adjoint_b=True)

    return _by_matrix(tf, np, build, square_matrices(np, dtype, *_BATCHES[batch]), dtype)


@cases((2, 3), (3, 2), (2, 4), (2, 2, 3))
def gradient_through_svd_of_rectangles(tf, np, *shape):
    def build(x):
        s, u, v = tf.svd(x)
        return tf.matmul(u * tf.sqrt(s)[..., None, :], v, adjoint_b=True)

    return _by_matrix(tf, np, build, random_array(np, "float64", *shape), "float64")


@cases((2, 3), (3, 2))
def gradient_through_full_svd(tf, np, *shape):
    def build(x):
        s, u, v = tf.svd(x, full_matrices=True)
        return [tf.square(u), tf.square(v), s]

    return _by_matrix(tf, np, build, random_array(np, "float64", *shape), "float64")


@cases(*product(["float64", "complex128"], ["one", "batch"]))
def gradient_through_eigh(tf, np, dtype, batch):
    def build(x):
        e, v = tf.self_adjoint_eig(x)
        return tf.matmul(v * tf.sqrt(e)[..., None, :], v, adjoint_b=True)

    return _by_matrix(tf, np, build, definite_matrices(np, dtype, *_BATCHES[batch]), dtype)


@cases((3, 3), (4, 3), (2, 4, 3))
def gradient_through_qr(tf, np, *shape):
    def build(x):
        q, r = tf.qr(x)
        return [tf.matmul(q, q, adjoint_b=True), tf.matmul(r, r, adjoint_a=True)]

    return _by_matrix(tf, np, build, random_array(np, "float64", *shape), "float64")


def second_derivatives(tf, np):
    x = tf.constant(definite_matrices(np, "float64"))
    found = []
    for name in ("cholesky", "inverse", "logdet", "eigenvalues"):
        y = _OF_ONE[name](tf, x)
        first = tf.gradients(y, x, tf.constant(upstream(np, y.shape.as_list())))[0]
        found.append(tf.gradients(first, x, tf.constant(np.cos(np.arange(9.0)).reshape(3, 3)))[0])
    return Close(run(tf, found), 1e-7, 1e-8)


# ---------------------------------------------------------------------------------- LU


@cases(*product(_TYPES, ["int32", "int64"], ["one", "batch", "none"]))
def lu(tf, np, dtype, index, batch):
    lu, p = tf.linalg.lu(
        tf.constant(square_matrices(np, dtype, *_BATCHES[batch])), output_idx_type=getattr(tf, index)
    )
    return [lu, p, _loose(dtype, run(tf, lu)), run(tf, p)]


# ---------------------------------------------------------------------------------- equations


@cases(*product(_TYPES, [False, True], ["one", "batch", "none"], [1, 3, 0]))
def solve(tf, np, dtype, adjoint, batch, columns):
    a, b = (
        square_matrices(np, dtype, *_BATCHES[batch]),
        random_array(np, dtype, *(_BATCHES[batch] + (3, columns))),
    )
    found = differentiated(tf, np, lambda a, b: tf.matrix_solve(a, b, adjoint=adjoint), a, b)
    return [_loose(dtype, found["values"]), found["shapes"], _loose(dtype, found["gradients"])]


@cases(*product(_TYPES, [False, True], [False, True], ["one", "batch"]))
def triangular_solve(tf, np, dtype, lower, adjoint, batch):
    a, b = square_matrices(np, dtype, *_BATCHES[batch]), random_array(np, dtype, *(_BATCHES[batch] + (3, 2)))
    options = {"lower": lower, "adjoint": adjoint}
    found = differentiated(tf, np, lambda a, b: tf.matrix_triangular_solve(a, b, **options), a, b)
    return [_loose(dtype, found["values"]), found["shapes"], _loose(dtype, found["gradients"])]


@cases(*product(_TYPES, ["one", "batch"]))
def cholesky_solve(tf, np, dtype, batch):
    a, b = (
        definite_matrices(np, dtype, *_BATCHES[batch]),
        random_array(np, dtype, *(_BATCHES[batch] + (3, 2))),
    )
    found = differentiated(tf, np, lambda a, b: tf.cholesky_solve(tf.cholesky(a), b), a, b)
    return [_loose(dtype, found["values"]), found["shapes"], _loose(dtype, found["gradients"])]


@cases(*product(["float32", "float64"], [(4, 2), (2, 4), (3, 3), (2, 4, 3)], [0.0, 0.3], ["fast", "op"]))
def least_squares(tf, np, dtype, shape, l2, how):
    a, b = random_array(np, dtype, *shape), random_array(np, dtype, *(shape[:-1] + (2,)))

    def build(a, b):
        if how == "fast":
            return tf.matrix_solve_ls(a, b, l2_regularizer=l2)
        return tf.raw_ops.MatrixSolveLs(matrix=a, rhs=b, l2_regularizer=np.float64(l2), fast=True)

    found = differentiated(tf, np, build, a, b)
    return [_loose(dtype, found["values"]), found["shapes"], _loose(dtype, found["gradients"])]


@cases(*product(_TYPES, [(4, 2), (2, 4), (2, 4, 3)]))
def least_squares_slowly(tf, np, dtype, shape):
    a, b = random_array(np, dtype, *shape), random_array(np, dtype, *(shape[:-1] + (2,)))
    x = tf.matrix_solve_ls(a, b, fast=False)
    return [x.shape, _loose(dtype, run(tf, x))]


def least_squares_of_low_rank(tf, np):
    x = tf.linalg.lstsq(np.ones((3, 2)), np.arange(3.0).reshape(3, 1), fast=False)
    return Close(run(tf, x), 1e-7)


def least_squares_of_unknown_shape(tf, np):
    a, b = tf.placeholder(tf.float64), tf.placeholder(tf.float64)
    x = tf.matrix_solve_ls(a, b)
    grads = tf.gradients(x, [a, b])
    with tf.Session() as session:
        found = []
        for shape in ((4, 2), (2, 4)):
            feeds = {a: random_array(np, "float64", *shape), b: random_array(np, "float64", shape[0], 2)}
            found.append(session.run([x] + grads, feeds))
    return Close(found, 1e-7, 1e-8)


@cases(*product(_TYPES, ["compact", "sequence", "matrix"], [True, False]))
def tridiagonal_solve(tf, np, dtype, form, pivoting):
    dense = (random_array(np, dtype, 4, 4) + 4 * np.eye(4)).astype(dtype)
    rhs = random_array(np, dtype, 4, 2)
    diagonals = _tridiagonals(tf, np, dense, form)
    x = tf.linalg.tridiagonal_solve(diagonals, rhs, diagonals_format=form, partial_pivoting=pivoting)
    vector = tf.linalg.tridiagonal_solve(diagonals, rhs[:, 0], diagonals_format=form, conjugate_rhs=True)
    turned = tf.linalg.tridiagonal_solve(diagonals, rhs.T, diagonals_format=form, transpose_rhs=True)
    return [[t.shape for t in (x, vector, turned)], _loose(dtype, run(tf, [x, vector, turned]))]


def _tridiagonals(tf, np, dense, form):
    if form == "matrix":
        return tf.constant(dense)
    upper = np.append(np.diagonal(dense, 1), 7)
    lower = np.append(7, np.diagonal(dense, -1))
    parts = [upper.astype(dense.dtype), np.diagonal(dense).copy(), lower.astype(dense.dtype)]
    if form == "compact":
        return tf.constant(np.stack(parts))
    return [tf.constant(part) for part in parts]


@cases(*product(["float64", "float32"], ["compact", "sequence", "matrix"]))
def tridiagonal_gradients(tf, np, dtype, form):
    dense = (random_array(np, dtype, 4, 4) + 4 * np.eye(4)).astype(dtype)
    rhs = tf.constant(random_array(np, dtype, 4, 2))
    diagonals = _tridiagonals(tf, np, dense, form)
    parts = diagonals if isinstance(diagonals, list) else [diagonals]
    found = []
    for function in (tf.linalg.tridiagonal_solve, tf.linalg.tridiagonal_matmul):
        y = function(diagonals, rhs, diagonals_format=form)
        found.append([y] + tf.gradients(y, parts + [rhs], tf.constant(upstream(np, (4, 2)).astype(dtype))))
    return _loose(dtype, run(tf, found))


def tridiagonal_batches(tf, np):
    three = tf.constant(random_array(np, "float64", 2, 3, 4) + 4 * np.eye(3, 4))
    rhs = tf.constant(random_array(np, "float64", 2, 4, 3))
    made = [tf.linalg.tridiagonal_solve(three, rhs), tf.linalg.tridiagonal_matmul(three, rhs)]
    return [[t.shape for t in made], Close(run(tf, made), 1e-6, 1e-7)]


def tridiagonal_with_short_diagonals(tf, np):
    parts = [tf.constant([1.0, 2.0]), tf.constant([5.0, 6.0, 7.0]), tf.constant([1.0, 0.5])]
    x = tf.linalg.tridiagonal_solve(parts, tf.constant([[1.0], [2.0], [3.0]]), diagonals_format="sequence")
    return [x.shape, run(tf, x)]


# ---------------------------------------------------------------------------------- functions of matrices


_SPECIAL = {
    "jordan": [[1.0, 1, 0], [0, 1, 1], [0, 0, 1]],
    "rotation": [[0.0, 1], [-1, 0]],
    "negative": [[-1.0, 0], [0, 2]],
    "singular triangle": [[1.0, 1], [0, 0]],
    "zero": [[0.0, 0], [0, 0]],
    "nan": [[1.0, float("nan")], [0, 1]],
    "complex eigenvalues": [[1.0, -2, 0], [2, 1, 0], [0, 0, 3]],
    "triangle": [[4.0, 1, 2], [0, 9, 3], [0, 0, 16]],
}


@cases(*product(_SPECIAL, ["float32", "float64", "complex64", "complex128"]))
def square_roots(tf, np, name, dtype):
    return _loose(dtype, run(tf, tf.matrix_square_root(np.array(_SPECIAL[name]).astype(dtype))))


@cases(
    *product(["jordan", "rotation", "zero", "complex eigenvalues", "triangle"], ["complex64", "complex128"])
)
def logarithms(tf, np, name, dtype):
    y = tf.linalg.logm(np.array(_SPECIAL[name]).astype(dtype))
    return [y, _loose(dtype, run(tf, y))]


@cases(*product(["complex64", "complex128"], [1e-3, 1.0, 1e3]))
def logarithms_of_batches(tf, np, dtype, scale):
    x = (definite_matrices(np, dtype, 2, 2) * scale).astype(dtype)
    return _loose(dtype, run(tf, tf.linalg.logm(x)))


@cases(*product(_TYPES, [1e-3, 0.1, 1.0, 4.0], ["one", "batch", "grid"]))
def exponentials(tf, np, dtype, scale, batch):
    x = (random_array(np, dtype, *(_BATCHES[batch] + (3, 3))) * scale).astype(dtype)
    found = differentiated(tf, np, lambda x: tf.linalg.expm(x), x)
    return [_loose(dtype, found["values"]), found["shapes"], _loose(dtype, found["gradients"])]


def exponentials_of_nothing(tf, np):
    made = [tf.linalg.expm(tf.zeros(shape)) for shape in ([0, 0], [0, 2, 2], [2, 2], [2, 0, 0])]
    return [[y.shape for y in made], run(tf, made)]


def exponentials_of_unknown_shape(tf, np):
    x = tf.placeholder(tf.float64, [None, 2, 2])
    with tf.Session() as session:
        return Close(session.run(tf.linalg.expm(x), {x: random_array(np, "float64", 3, 2, 2)}), 1e-9)


# ---------------------------------------------------------------------------------- rank, norm


@cases(*product(["float32", "float64"], [(3, 3), (2, 4, 3), (2, 3, 4)]))
def pseudo_inverse(tf, np, dtype, shape):
    x = random_array(np, dtype, *shape)
    x[..., -1] = x[..., 0]
    y = tf.linalg.pinv(x)
    ranks = [tf.linalg.matrix_rank(x), tf.linalg.matrix_rank(x, tol=100.0)]
    return [y.shape, _loose(dtype, run(tf, y)), ranks, run(tf, ranks)]


def pseudo_inverse_with_cutoff(tf, np):
    x = np.diag([1.0, 0.1, 1e-4])
    found = differentiated(tf, np, lambda x: tf.linalg.pinv(x, rcond=0.01), x + 0.001 * normal(np, 3, 3))
    return Close(found["values"], 1e-8), Close(found["gradients"], 1e-6)


def pseudo_inverse_of_unknown_shape(tf, np):
    x = tf.placeholder(tf.float64)
    with tf.Session() as session:
        feeds = {x: random_array(np, "float64", 2, 3)}
        made = [tf.linalg.pinv(x), tf.linalg.matrix_rank(x), tf.linalg.pinv(x, validate_args=True)]
        return Close(session.run(made, feeds), 1e-9)


@cases(*product(["euclidean", 1, 2, 3.5, "inf"], [None, 0, -1]))
def normalize(tf, np, order, axis):
    order = np.inf if order == "inf" else order
    return differentiated(tf, np, lambda x: tf.linalg.normalize(x, order, axis), normal(np, 2, 3, 4))


@cases(*product([(0, 1), (1, 2), (-1, 0), (2, 1)], [False, True], ["known", "unknown"]))
def spectral_norm(tf, np, axes, keepdims, how):
    x = normal(np, 2, 3, 4)
    given = tf.placeholder(tf.float64, x.shape if how == "known" else None)
    y = tf.norm(given, ord=2, axis=list(axes), keepdims=keepdims)
    with tf.Session() as session:
        return Close(session.run([y] + tf.gradients(y, given), {given: x}), 1e-8)


@cases(*product(["fro", "euclidean", 1, "inf"], [(0, 1), (-1, -2)]))
def matrix_norms(tf, np, order, axes):
    order = np.inf if order == "inf" else order
    return differentiated(tf, np, lambda x: tf.norm(x, order, list(axes)), normal(np, 2, 3, 4))


@cases("float32", "float64", "int32", "int8", "uint16", "float16")
def cross(tf, np, dtype):
    a, b = (normal(np, 2, 4, 3) * 9).astype(dtype), (np.cos(np.arange(24).reshape(2, 4, 3)) * 9).astype(dtype)
    return differentiated(tf, np, lambda a, b: tf.cross(a, b), a, b)


# ---------------------------------------------------------------------------------- the op type Einsum

_EQUATIONS = {
    "ij,jk->ik": [(2, 3), (3, 4)],
    "ij,kj->ik": [(2, 3), (4, 3)],
    "ij,ij->": [(2, 3), (2, 3)],
    "ij,ij->ij": [(2, 3), (2, 3)],
    "i,j->ij": [(2,), (3,)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "ii->i": [(3, 3)],
    "ii->": [(3, 3)],
    "iii->i": [(2, 2, 2)],
    "i->ii": [(3,)],
    "ij->iji": [(2, 3)],
    "...ij,...jk->...ik": [(5, 1, 2, 3), (4, 3, 2)],
    "...i->i...": [(2, 3, 4)],
    "b...i,b...j->b...ij": [(2, 5, 3), (2, 5, 4)],
    "abc,cd->abd": [(2, 3, 4), (4, 2)],
    "aB,Bc->ca": [(2, 3), (3, 4)],
    "abij,abjk->abik": [(2, 2, 3, 4), (2, 2, 4, 3)],
    "ij,jk->ki": [(2, 0), (0, 3)],
}


@cases(*product(_EQUATIONS, ["float32", "complex128"]))
def einsum(tf, np, equation, dtype):
    inputs = [tf.constant(random_array(np, dtype, *shape)) for shape in _EQUATIONS[equation]]
    y = tf.raw_ops.Einsum(inputs=inputs, equation=equation)
    return [y, _loose(dtype, run(tf, y))]


@cases("ij,jk,kl->il", "ij,jk", "ij->ijz", "ijk->ij", "ij,jk->ik->ij", "i...j->ij...k")
def bad_einsum(tf, np, equation):
    count = equation.split("->")[0].count(",") + 1
    return raises(tf.raw_ops.Einsum, inputs=[np.ones((2, 2))] * count, equation=equation)


# ---------------------------------------------------------------------------------- shapes, names, errors

_FUNCTIONS = {
    "cholesky": lambda tf, x: tf.cholesky(x),
    "det": lambda tf, x: tf.matrix_determinant(x),
    "inverse": lambda tf, x: tf.matrix_inverse(x),
    "slogdet": lambda tf, x: tf.linalg.slogdet(x),
    "logdet": lambda tf, x: tf.linalg.logdet(x),
    "eigh": lambda tf, x: tf.self_adjoint_eig(x),
    "eigvalsh": lambda tf, x: tf.self_adjoint_eigvals(x),
    "svd": lambda tf, x: tf.svd(x),
    "full svd": lambda tf, x: tf.svd(x, full_matrices=True),
    "svdvals": lambda tf, x: tf.svd(x, compute_uv=False),
    "qr": lambda tf, x: tf.qr(x),
    "full qr": lambda tf, x: tf.qr(x, full_matrices=True),
    "lu": lambda tf, x: tf.linalg.lu(x),
    "sqrtm": lambda tf, x: tf.matrix_square_root(x),
    "solve": lambda tf, x: tf.matrix_solve(x, tf.placeholder(tf.float32, [None, 2])),
    "solve of unknown": lambda tf, x: tf.matrix_solve(x, tf.placeholder(tf.float32)),
    "triangular": lambda tf, x: tf.matrix_triangular_solve(x, tf.placeholder(tf.float32, [None, None])),
    "lstsq": lambda tf, x: tf.matrix_solve_ls(x, tf.placeholder(tf.float32, [None, 2]), fast=False),
}
_PARTIAL = {
    "unknown": None,
    "rank 2": [None, None],
    "columns": [None, 3],
    "rows": [3, None],
    "batch": [None, 3, 3],
    "oblong": [2, 3],
    "vector": [3],
    "scalar": [],
}


def _shape_of(tf, make):
    try:
        made = make()
    except Exception as error:
        return type(error).__name__
    return [t.shape for t in (made if isinstance(made, (tuple, list)) else [made])]


@cases(*product(_FUNCTIONS, _PARTIAL))
def static_shapes(tf, np, name, partial):
    x = tf.placeholder(tf.float32, _PARTIAL[partial])
    return _shape_of(tf, lambda: _FUNCTIONS[name](tf, x))


@cases(*[name for name in _FUNCTIONS if name not in ("solve of unknown", "sqrtm")], "sqrtm")
def node_names(tf, np, name):
    _FUNCTIONS[name](tf, tf.placeholder(tf.float32, [3, 3]))
    return names(tf)


def named(tf, np):
    x = tf.placeholder(tf.float32, [3, 3])
    tf.cholesky(x, name="a")
    tf.linalg.logdet(x, name="b")
    tf.cholesky_solve(x, x, name="c")
    tf.linalg.pinv(x, name="d")
    tf.linalg.matrix_rank(x, name="e")
    tf.svd(x, name="f")
    tf.linalg.normalize(x, name="g")
    tf.linalg.tridiagonal_solve(x, tf.ones([3, 1]), name="h")
    return names(tf)


@cases("float32", "float64")
def names_of_gradients(tf, np, dtype):
    x = tf.constant(definite_matrices(np, dtype))
    tf.gradients(tf.matrix_inverse(x), x)
    tf.gradients(tf.matrix_determinant(x), x)
    return [(op.type) for op in tf.get_default_graph().get_operations()]


_SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
_FAILURES = {
    "cholesky": lambda tf, p: tf.cholesky(-p),
    "cholesky of zeros": lambda tf, p: tf.cholesky(p * 0),
    "inverse": lambda tf, p: tf.matrix_inverse(p),
    "solve": lambda tf, p: tf.matrix_solve(p, [[1.0], [1.0]]),
    "triangular": lambda tf, p: tf.matrix_triangular_solve(p * 0, [[1.0], [1.0]]),
    "lu": lambda tf, p: tf.linalg.lu(p)[0],
    "ranks of solve": lambda tf, p: tf.matrix_solve(tf.eye(2), p[0]),
    "batches of solve": lambda tf, p: tf.matrix_solve(tf.eye(2, batch_shape=[2]), tf.stack([p, p, p])),
    "oblong inverse": lambda tf, p: tf.matrix_inverse(p[:1]),
    "oblong cholesky": lambda tf, p: tf.cholesky(p[:1]),
    "vector": lambda tf, p: tf.matrix_determinant(p[0]),
    "least squares": lambda tf, p: tf.matrix_solve_ls(p * 0, [[1.0], [1.0]]),
    "tridiagonal": lambda tf, p: tf.linalg.tridiagonal_solve(tf.zeros([3, 2]), tf.ones([2, 1])),
    "tridiagonal number": lambda tf, p: tf.linalg.tridiagonal_solve(tf.zeros([3, 1]), tf.ones([1, 1])),
    "not a number": lambda tf, p: tf.matrix_inverse(p * float("nan")),
    "eigenvalues of not a number": lambda tf, p: tf.self_adjoint_eigvals(p * float("nan")),
    "ranks of cross": lambda tf, p: tf.cross(tf.ones([1, 3]), tf.ones([3]) + p[0, 0]),
}


@cases(*_FAILURES)
def failures(tf, np, name):
    """The same mistakes when the shapes are known, and when they are not."""
    found = []
    for shape in ([2, 2], None):
        p = tf.placeholder(tf.float32, shape)

        def attempt(p=p):
            y = _FAILURES[name](tf, p)
            with tf.Session() as session:
                session.run(y, {p: _SINGULAR})

        found.append(raises(attempt))
    return found


@cases(
    {
        "format": ("x", [[1.0]]),
        "two diagonals": ("sequence", [[1.0], [1.0]]),
        "four diagonals": ("compact", [[1.0]] * 4),
        "rank": ("compact", [1.0]),
    }
)
def bad_tridiagonals(tf, np, form, diagonals):
    given = diagonals if form == "sequence" else tf.constant(diagonals)
    return raises(tf.linalg.tridiagonal_solve, given, tf.constant([[1.0]]), diagonals_format=form)


@cases("int32", "bool", "string")
def refused_types(tf, np, dtype):
    x = tf.zeros([2, 2], getattr(tf, dtype))
    calls = [tf.cholesky, tf.matrix_inverse, tf.svd, tf.linalg.logm, tf.linalg.pinv, tf.linalg.matrix_rank]
    return [raises(call, x) for call in calls]


def values_that_are_no_numbers(tf, np):
    nan, inf = float("nan"), float("inf")
    matrices = [[[nan, 0.0], [0.0, 1.0]], [[inf, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]]
    return run(tf, [[tf.linalg.slogdet(m), tf.linalg.det(m)] for m in matrices] + [tf.cholesky([[nan]])])


def contractions_of_other_ranks(tf, np):
    unknown, matrix = tf.placeholder(tf.float32), tf.zeros([2, 3])
    return [
        type(raises(tf.einsum, "ij,jk->ik", unknown, unknown)).__name__,
        raises(tf.einsum, "ij,k->kji", matrix, matrix),
        raises(tf.einsum, "ij...,jk...->ik...", unknown, unknown),
        raises(tf.tensordot, matrix, matrix, [[5], [0]]),
    ]
