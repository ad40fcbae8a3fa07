# Written by `python -m tideflow.programs.stubs`.

from tideflow.linalg.circulant import LinearOperatorCirculant as LinearOperatorCirculant
from tideflow.linalg.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from tideflow.linalg.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from tideflow.linalg.circulant import LinearOperatorToeplitz as LinearOperatorToeplitz
from tideflow.linalg.compounds import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from tideflow.linalg.compounds import LinearOperatorComposition as LinearOperatorComposition
from tideflow.linalg.compounds import LinearOperatorKronecker as LinearOperatorKronecker
from tideflow.linalg.dense import LinearOperatorDiag as LinearOperatorDiag
from tideflow.linalg.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from tideflow.linalg.dense import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from tideflow.linalg.householder import LinearOperatorHouseholder as LinearOperatorHouseholder
from tideflow.linalg.identities import LinearOperatorIdentity as LinearOperatorIdentity
from tideflow.linalg.identities import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from tideflow.linalg.identities import LinearOperatorZeros as LinearOperatorZeros
from tideflow.linalg.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from tideflow.linalg.operator import LinearOperator as LinearOperator
from tideflow.linalg.wrapped import LinearOperatorAdjoint as LinearOperatorAdjoint
from tideflow.linalg.wrapped import LinearOperatorInversion as LinearOperatorInversion
from tideflow.nn.functions import l2_normalize as l2_normalize
from tideflow.ops.arrays.creation import eye as eye
from tideflow.ops.arrays.diagonals import diag as _tensor_diag
from tideflow.ops.arrays.diagonals import diag_part as _tensor_diag_part
from tideflow.ops.arrays.diagonals import matrix_band_part as _band_part
from tideflow.ops.arrays.diagonals import matrix_diag as _diag
from tideflow.ops.arrays.diagonals import matrix_diag_part as _diag_part
from tideflow.ops.arrays.diagonals import matrix_set_diag as _set_diag
from tideflow.ops.arrays.shapes import adjoint as adjoint
from tideflow.ops.arrays.shapes import matrix_transpose as _transpose
from tideflow.ops.arrays.shapes import matrix_transpose as matrix_transpose
from tideflow.ops.linalg.contraction import einsum as einsum
from tideflow.ops.linalg.contraction import tensordot as tensordot
from tideflow.ops.linalg.contraction import trace as trace
from tideflow.ops.linalg.decompositions import cholesky as cholesky
from tideflow.ops.linalg.decompositions import lu as lu
from tideflow.ops.linalg.decompositions import qr as qr
from tideflow.ops.linalg.matmul import matmul as matmul
from tideflow.ops.linalg.matmul import matvec as matvec
from tideflow.ops.linalg.matrix_functions import logdet as logdet
from tideflow.ops.linalg.matrix_functions import matrix_determinant as _det
from tideflow.ops.linalg.matrix_functions import matrix_exponential as _expm
from tideflow.ops.linalg.matrix_functions import matrix_inverse as _inv
from tideflow.ops.linalg.matrix_functions import matrix_logarithm as _logm
from tideflow.ops.linalg.matrix_functions import matrix_square_root as _sqrtm
from tideflow.ops.linalg.matrix_functions import slogdet as slogdet
from tideflow.ops.linalg.norms import norm as norm
from tideflow.ops.linalg.norms import normalize as normalize
from tideflow.ops.linalg.products import cross as cross
from tideflow.ops.linalg.solvers import cholesky_solve as cholesky_solve
from tideflow.ops.linalg.solvers import matrix_solve as _solve
from tideflow.ops.linalg.solvers import matrix_solve_ls as _lstsq
from tideflow.ops.linalg.solvers import matrix_triangular_solve as _triangular_solve
from tideflow.ops.linalg.spectra import matrix_rank as matrix_rank
from tideflow.ops.linalg.spectra import pinv as pinv
from tideflow.ops.linalg.spectra import self_adjoint_eig as _eigh
from tideflow.ops.linalg.spectra import self_adjoint_eigvals as _eigvalsh
from tideflow.ops.linalg.spectra import svd as svd
from tideflow.ops.linalg.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from tideflow.ops.linalg.tridiagonal import tridiagonal_solve as tridiagonal_solve
from tideflow.ops.math.clipping import global_norm as global_norm

band_part = _band_part
det = _det
diag = _diag
diag_part = _diag_part
eigh = _eigh
eigvalsh = _eigvalsh
expm = _expm
inv = _inv
logm = _logm
lstsq = _lstsq
set_diag = _set_diag
solve = _solve
sqrtm = _sqrtm
tensor_diag = _tensor_diag
tensor_diag_part = _tensor_diag_part
transpose = _transpose
triangular_solve = _triangular_solve
