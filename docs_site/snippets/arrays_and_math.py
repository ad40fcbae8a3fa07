"""Examples of functions of tensors that are made of several ops."""

import tideflow as tf

# %% tf.argsort, tf.sort
x = tf.constant([3.0, 1.0, 2.0])
tf.sort(x), tf.argsort(x), tf.sort(x, direction="DESCENDING")

# %% tf.batch_gather
tf.batch_gather(tf.constant([[1, 2, 3], [4, 5, 6]]), tf.constant([[2], [0]]))

# %% tf.batch_to_space, tf.space_to_batch
x = tf.reshape(tf.range(16), [1, 4, 4, 1])
blocks = tf.space_to_batch(x, [[0, 0], [0, 0]], block_size=2)
tf.shape(blocks), tf.reduce_all(tf.equal(tf.batch_to_space(blocks, [[0, 0], [0, 0]], block_size=2), x))

# %% tf.required_space_to_batch_paddings
paddings, crops = tf.required_space_to_batch_paddings(input_shape=[5, 7], block_shape=[2, 2])
paddings, crops

# %% tf.bincount
tf.bincount(tf.constant([1, 1, 3]))

# %% tf.boolean_mask
tf.boolean_mask(tf.constant([[1, 2], [3, 4], [5, 6]]), [True, False, True])

# %% tf.broadcast_static_shape
print(tf.broadcast_static_shape(tf.TensorShape([3, 1]), tf.TensorShape([4])))

# %% tf.cast
tf.cast(tf.constant([1.8, -1.8]), tf.int32)

# %% tf.saturate_cast
tf.saturate_cast(tf.constant([300.0, -5.0]), tf.uint8)

# %% tf.to_bfloat16, tf.to_double, tf.to_float, tf.to_int32, tf.to_int64, tf.to_complex64, tf.to_complex128
x = tf.constant([1, 2])
tf.to_float(x), tf.to_double(x), tf.to_int32(x), tf.to_int64(x), tf.to_complex64(x)

# %% tf.cholesky_solve
a = tf.constant([[4.0, 2.0], [2.0, 3.0]])
tf.cholesky_solve(tf.cholesky(a), tf.constant([[1.0], [2.0]]))

# %% tf.clip_by_value
tf.clip_by_value(tf.constant([-2.0, 0.5, 3.0]), -1.0, 1.0)

# %% tf.clip_by_norm
tf.clip_by_norm(tf.constant([3.0, 4.0]), clip_norm=1.0)

# %% tf.clip_by_average_norm
tf.clip_by_average_norm(tf.constant([3.0, 4.0]), clip_norm=1.0)

# %% tf.clip_by_global_norm, tf.global_norm
gradients = [tf.constant([3.0]), tf.constant([4.0])]
clipped, norm = tf.clip_by_global_norm(gradients, clip_norm=1.0)
clipped, norm, tf.global_norm(clipped)

# %% tf.confusion_matrix
tf.confusion_matrix(labels=[0, 1, 2, 2], predictions=[0, 2, 2, 2])

# %% tf.count_nonzero
tf.count_nonzero(tf.constant([[1, 0], [2, 3]]), axis=1)

# %% tf.div, tf.divide, tf.truediv, tf.floordiv
x, y = tf.constant([7, -7]), tf.constant([2, 2])
tf.div(x, y), tf.divide(x, y), tf.truediv(x, y), tf.floordiv(x, y)

# %% tf.div_no_nan
tf.div_no_nan(tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0]))

# %% tf.pow
tf.pow(tf.constant([2.0, 3.0]), 2.0)

# %% tf.edit_distance
said = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
true = tf.SparseTensor([[0, 0], [0, 1], [0, 2]], ["a", "b", "c"], [1, 3])
tf.edit_distance(said, true, normalize=False)

# %% tf.einsum
tf.einsum("ij,jk->ik", tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]]))

# %% tf.eye
tf.eye(2, 3)

# %% tf.histogram_fixed_width_bins
tf.histogram_fixed_width_bins(tf.constant([0.1, 0.5, 0.9]), [0.0, 1.0], nbins=5)

# %% tf.lbeta
tf.lbeta(tf.constant([1.0, 2.0]))

# %% tf.log_sigmoid
tf.log_sigmoid(tf.constant([-1.0, 0.0, 1.0]))

# %% tf.logical_xor
tf.logical_xor(tf.constant([True, True]), tf.constant([True, False]))

# %% tf.matrix_solve_ls
tf.matrix_solve_ls(tf.constant([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), tf.constant([[1.0], [3.0], [5.0]]))

# %% tf.matrix_transpose, tf.linalg.adjoint
tf.matrix_transpose(tf.constant([[1, 2], [3, 4]])), tf.linalg.adjoint(tf.constant([[1 + 2j]]))

# %% tf.meshgrid
tf.meshgrid(tf.constant([1, 2, 3]), tf.constant([10, 20]))

# %% tf.multinomial, tf.random.categorical
tf.multinomial(tf.log([[0.5, 0.5]]), num_samples=5, seed=1)

# %% tf.random.stateless_categorical, tf.random.stateless_multinomial
tf.random.stateless_categorical(tf.log([[0.5, 0.5]]), num_samples=5, seed=[1, 2])

# %% tf.norm
tf.norm(tf.constant([3.0, 4.0])), tf.norm(tf.constant([3.0, -4.0]), ord=1)

# %% tf.zeros, tf.ones
tf.zeros([2, 3]), tf.ones([2], tf.int32)

# %% tf.zeros_like, tf.ones_like
x = tf.constant([[1.0, 2.0]])
tf.zeros_like(x), tf.ones_like(x, dtype=tf.int32)

# %% tf.parallel_stack
tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])])

# %% tf.quantize_v2
tf.quantize_v2(tf.constant([-1.0, 0.0, 1.0]), -1.0, 1.0, tf.quint8)

# %% tf.random_crop
tf.random_crop(tf.reshape(tf.range(16), [4, 4]), [2, 2], seed=1)

# %% tf.random_poisson
tf.random_poisson(lam=[1.0, 10.0], shape=[2], seed=1)

# %% tf.rank, tf.shape, tf.size
x = tf.zeros([2, 3])
tf.rank(x), tf.shape(x), tf.size(x)

# %% tf.reduce_logsumexp
tf.reduce_logsumexp(tf.constant([0.0, 0.0]))

# %% tf.repeat
tf.repeat(tf.constant(["a", "b"]), repeats=[1, 3])

# %% tf.scalar_mul
tf.scalar_mul(2.0, tf.constant([1.0, 2.0]))

# %% tf.split
tf.split(tf.constant([1, 2, 3, 4]), num_or_size_splits=[1, 3])

# %% tf.tensordot
tf.tensordot(tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]]), axes=1)

# %% tf.timestamp
tf.greater(tf.timestamp(), 0.0)

# %% tf.trace
tf.trace(tf.constant([[1, 2], [3, 4]]))

# %% tf.unsorted_segment_mean, tf.unsorted_segment_sqrt_n
x, rows = tf.constant([1.0, 3.0, 5.0]), tf.constant([0, 0, 1])
tf.unsorted_segment_mean(x, rows, 2), tf.unsorted_segment_sqrt_n(x, rows, 2)

# %% tf.math.bessel_i0, tf.math.bessel_i1
x = tf.constant([0.0, 1.0])
tf.math.bessel_i0(x), tf.math.bessel_i1(x)

# %% tf.math.multiply_no_nan
tf.math.multiply_no_nan(tf.constant([float("inf"), 2.0]), tf.constant([0.0, 3.0]))

# %% tf.math.polyval
tf.math.polyval([2.0, 0.0, 1.0], tf.constant(3.0))  # 2 x² + 1

# %% tf.math.reciprocal_no_nan
tf.math.reciprocal_no_nan(tf.constant([0.0, 4.0]))

# %% tf.math.reduce_std, tf.math.reduce_variance
x = tf.constant([1.0, 2.0, 3.0, 4.0])
tf.math.reduce_std(x), tf.math.reduce_variance(x)

# %% tf.linalg.expm
tf.linalg.expm(tf.constant([[0.0, 1.0], [-1.0, 0.0]]))

# %% tf.linalg.logdet
tf.linalg.logdet(tf.constant([[2.0, 0.0], [0.0, 3.0]]))

# %% tf.linalg.matrix_rank
tf.linalg.matrix_rank(tf.constant([[1.0, 2.0], [2.0, 4.0]]))

# %% tf.linalg.matvec
tf.linalg.matvec(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0, 1.0]))

# %% tf.linalg.normalize
tf.linalg.normalize(tf.constant([3.0, 4.0]))

# %% tf.linalg.pinv
tf.linalg.pinv(tf.constant([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))

# %% tf.linalg.tridiagonal_matmul
above, on, below = [1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]
diagonals = tf.constant([above, on, below])
tf.linalg.tridiagonal_matmul(diagonals, tf.eye(3), diagonals_format="compact")

# %% tf.linalg.LinearOperator, tf.linalg.LinearOperatorFullMatrix
operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 3.0]])
print(operator.shape, isinstance(operator, tf.linalg.LinearOperator))
operator.matvec([1.0, 1.0]), operator.determinant(), operator.solvevec([2.0, 4.0])

# %% tf.linalg.LinearOperatorDiag
operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
operator.to_dense(), operator.solvevec([1.0, 1.0])

# %% tf.linalg.LinearOperatorIdentity, tf.linalg.LinearOperatorScaledIdentity
one, three = tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0)
one.to_dense(), three.to_dense()

# %% tf.linalg.LinearOperatorZeros
tf.linalg.LinearOperatorZeros(2).matvec([1.0, 2.0])

# %% tf.linalg.LinearOperatorLowerTriangular
tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]]).to_dense()

# %% tf.linalg.LinearOperatorAdjoint
tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])).to_dense()

# %% tf.linalg.LinearOperatorInversion
tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorDiag([2.0, 4.0])).to_dense()

# %% tf.linalg.LinearOperatorComposition
left, right = tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorDiag([3.0, 4.0])
tf.linalg.LinearOperatorComposition([left, right]).to_dense()

# %% tf.linalg.LinearOperatorKronecker
tf.linalg.LinearOperatorKronecker(
    [tf.linalg.LinearOperatorDiag([1.0, 2.0]), tf.linalg.LinearOperatorIdentity(2)]
).diag_part()

# %% tf.linalg.LinearOperatorBlockDiag
tf.linalg.LinearOperatorBlockDiag(
    [tf.linalg.LinearOperatorDiag([1.0]), tf.linalg.LinearOperatorIdentity(2)]
).to_dense()

# %% tf.linalg.LinearOperatorHouseholder
tf.linalg.LinearOperatorHouseholder([1.0, 0.0]).to_dense()

# %% tf.linalg.LinearOperatorLowRankUpdate
base = tf.linalg.LinearOperatorDiag([1.0, 1.0])
tf.linalg.LinearOperatorLowRankUpdate(base, u=[[1.0], [2.0]]).to_dense()

# %% tf.linalg.LinearOperatorToeplitz
tf.linalg.LinearOperatorToeplitz(col=[1.0, 2.0, 3.0], row=[1.0, -1.0, -2.0]).to_dense()

# %% tf.linalg.LinearOperatorCirculant
tf.linalg.LinearOperatorCirculant(tf.constant([6.0, 0.0, 0.0], tf.complex64)).to_dense()

# %% tf.linalg.LinearOperatorCirculant2D, tf.linalg.LinearOperatorCirculant3D
operator = tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 2], tf.complex64))
print(operator.shape)
operator.diag_part()

# %% tf.signal.rfft, tf.signal.irfft
x = tf.constant([1.0, 0.0, -1.0, 0.0])
tf.signal.rfft(x), tf.signal.irfft(tf.signal.rfft(x))

# %% tf.signal.rfft2d, tf.signal.irfft2d
x = tf.eye(2)
tf.signal.rfft2d(x), tf.signal.irfft2d(tf.signal.rfft2d(x))

# %% tf.signal.rfft3d, tf.signal.irfft3d
x = tf.ones([2, 2, 2])
tf.shape(tf.signal.rfft3d(x)), tf.reduce_sum(tf.signal.irfft3d(tf.signal.rfft3d(x)))

# %% tf.signal.dct, tf.signal.idct
x = tf.constant([1.0, 2.0, 3.0])
tf.signal.dct(x, norm="ortho"), tf.signal.idct(tf.signal.dct(x, norm="ortho"), norm="ortho")

# %% tf.signal.fftshift, tf.signal.ifftshift
x = tf.constant([0, 1, 2, 3])
tf.signal.fftshift(x), tf.signal.ifftshift(tf.signal.fftshift(x))

# %% tf.signal.frame, tf.signal.overlap_and_add
frames = tf.signal.frame(tf.constant([1.0, 2.0, 3.0, 4.0]), frame_length=2, frame_step=1)
frames, tf.signal.overlap_and_add(frames, frame_step=1)

# %% tf.signal.hann_window, tf.signal.hamming_window
tf.signal.hann_window(4), tf.signal.hamming_window(4)

# %% tf.signal.stft, tf.signal.inverse_stft, tf.signal.inverse_stft_window_fn
x = tf.sin(tf.linspace(0.0, 6.28, 64))
spectrum = tf.signal.stft(x, frame_length=16, frame_step=8)
again = tf.signal.inverse_stft(spectrum, 16, 8, window_fn=tf.signal.inverse_stft_window_fn(8))
tf.shape(spectrum), tf.reduce_max(tf.abs(again[8:-8] - x[8:-8])) < 1e-5

# %% tf.signal.linear_to_mel_weight_matrix
matrix = tf.signal.linear_to_mel_weight_matrix(num_mel_bins=4, num_spectrogram_bins=9, sample_rate=8000)
tf.shape(matrix)

# %% tf.signal.mfccs_from_log_mel_spectrograms
tf.signal.mfccs_from_log_mel_spectrograms(tf.log(tf.constant([[1.0, 2.0, 4.0, 8.0]])))

# %% tf.sets.difference, tf.sets.intersection, tf.sets.size, tf.sets.union
a, b = tf.constant([[1, 2, 3]]), tf.constant([[3, 4, 4]])
both, either, only_a = tf.sets.intersection(a, b), tf.sets.union(a, b), tf.sets.difference(a, b)
both.values, either.values, only_a.values, tf.sets.size(either)

# %% tf.quantization.dequantize
steps = tf.bitcast(tf.constant([0, 128, 255], tf.uint8), tf.quint8)
tf.quantization.dequantize(steps, 0.0, 1.0)

# %% tf.quantization.quantized_concat
a, b = (tf.bitcast(tf.constant(steps, tf.uint8), tf.quint8) for steps in ([1, 2], [3]))
tf.quantization.quantized_concat(0, [a, b], [0.0, 0.0], [1.0, 1.0])
