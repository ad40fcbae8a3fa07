# Written by `python -m tideflow.programs.stubs`.

from builtins import bool as _bool
from builtins import dict as _dict
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Callable as _Callable
from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from tideflow.graph.composite import SparseTensor as _SparseTensor
from tideflow.graph.operation import Tensor as _Tensor
from tideflow.graph.typing import InitializerLike as _InitializerLike
from tideflow.graph.typing import RegularizerLike as _RegularizerLike
from tideflow.graph.typing import TensorLike as _TensorLike
from tideflow.graph.typing import TensorOrRagged as _TensorOrRagged
from typing import Any as _Any
from tideflow.contrib.specs.composition import Callable as Callable
from tideflow.contrib.specs.composition import Composable as Composable
from tideflow.contrib.specs.composition import Composition as Composition
from tideflow.contrib.specs.composition import External as External
from tideflow.contrib.specs.composition import Function as Function
from tideflow.contrib.specs.composition import Function as _Fun
from tideflow.contrib.specs.composition import Import as Import
from tideflow.contrib.specs.composition import Operator as Operator
from tideflow.contrib.specs.composition import check_keywords as check_keywords
from tideflow.contrib.specs.composition import debug as debug
from tideflow.contrib.specs.composition import get_positional as get_positional
from tideflow.contrib.specs.evaluation import LocalImport as LocalImport
from tideflow.contrib.specs.evaluation import create_net as create_net
from tideflow.contrib.specs.evaluation import create_net_fun as create_net_fun
from tideflow.contrib.specs.evaluation import eval_params as eval_params
from tideflow.contrib.specs.evaluation import eval_spec as eval_spec
from tideflow.contrib.specs.hyperparameters import Lf as Lf
from tideflow.contrib.specs.hyperparameters import Li as Li
from tideflow.contrib.specs.hyperparameters import Nt as Nt
from tideflow.contrib.specs.hyperparameters import Uf as Uf
from tideflow.contrib.specs.hyperparameters import Ui as Ui
from tideflow.contrib.specs.layers import Conc as Conc
from tideflow.contrib.specs.layers import Dwm as Dwm
from tideflow.contrib.specs.layers import Dws as Dws
from tideflow.contrib.specs.layers import Idx as Idx
from tideflow.contrib.specs.layers import Shared as Shared
from tideflow.contrib.specs.layers import Var as Var
from tideflow.contrib.specs.summaries import tf_left_split as tf_left_split
from tideflow.contrib.specs.summaries import tf_num_params as tf_num_params
from tideflow.contrib.specs.summaries import tf_parameter_iter as tf_parameter_iter
from tideflow.contrib.specs.summaries import tf_parameter_summary as tf_parameter_summary
from tideflow.contrib.specs.summaries import tf_print as tf_print
from tideflow.contrib.specs.summaries import tf_spec_print as tf_spec_print
from tideflow.contrib.specs.summaries import tf_spec_structure as tf_spec_structure
from tideflow.contrib.specs.summaries import tf_spec_summary as tf_spec_summary
from tideflow.contrib.specs.summaries import tf_structure as tf_structure

def Ap(inputs: _TensorLike, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 2, padding: _str = 'VALID', data_format: _str = 'NHWC', outputs_collections: _str | _Sequence[_str] | None = None, scope: _str | None = None) -> _Tensor:
    ...

def Bn(inputs: _TensorLike, decay: _float = 0.999, center: _bool = True, scale: _bool = False, epsilon: _float = 0.001, activation_fn: _Callable | None = None, param_initializers: _dict[_str, _Any] | None = None, param_regularizers: _dict[_str, _Any] | None = None, updates_collections: _str | _Sequence[_str] | None = 'update_ops', is_training: _TensorLike = True, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, batch_weights: _TensorLike | None = None, fused: _bool | None = None, data_format: _str = 'NHWC', zero_debias_moving_mean: _bool = False, scope=None, renorm: _bool = False, renorm_clipping: _dict[_str, _Any] | None = None, renorm_decay: _float = 0.99, adjustment: _Callable | None = None) -> _Tensor:
    ...

def Cl(inputs: _TensorLike, num_outputs: _int, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 1, padding: _str = 'SAME', data_format: _str | None = None, rate: _int | _Sequence[_int] = 1, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Cm(inputs: _TensorLike, num_outputs: _int, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 1, padding: _str = 'SAME', data_format: _str | None = None, rate: _int | _Sequence[_int] = 1, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Cr(inputs: _TensorLike, num_outputs: _int, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 1, padding: _str = 'SAME', data_format: _str | None = None, rate: _int | _Sequence[_int] = 1, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Cs(inputs: _TensorLike, num_outputs: _int, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 1, padding: _str = 'SAME', data_format: _str | None = None, rate: _int | _Sequence[_int] = 1, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Ct(inputs: _TensorLike, num_outputs: _int, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 1, padding: _str = 'SAME', data_format: _str | None = None, rate: _int | _Sequence[_int] = 1, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Cx(inputs: _TensorLike, num_outputs: _int, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 1, padding: _str = 'SAME', data_format: _str | None = None, rate: _int | _Sequence[_int] = 1, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Do(inputs: _TensorLike, keep_prob: _TensorLike = 0.5, noise_shape: _TensorLike | None = None, is_training: _TensorLike = True, outputs_collections: _str | _Sequence[_str] | None = None, scope=None, seed: _int | None = None) -> _Tensor:
    ...

def Expand(input: _TensorOrRagged, axis: _TensorLike | None = None, name: _str | None = None, dim: _TensorLike | None = None) -> _Tensor:
    ...

def Fl(inputs: _TensorLike, num_outputs: _int, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Flat(inputs: _TensorLike, outputs_collections: _str | _Sequence[_str] | None = None, scope: _str | None = None) -> _Tensor:
    ...

def Fm(inputs: _TensorLike, num_outputs: _int, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Fr(inputs: _TensorLike, num_outputs: _int, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Fs(inputs: _TensorLike, num_outputs: _int, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Ft(inputs: _TensorLike, num_outputs: _int, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

Fun = _Fun
def Fx(inputs: _TensorLike, num_outputs: _int, activation_fn: _Callable | None = ..., normalizer_fn: _Callable | None = None, normalizer_params: _dict[_str, _Any] | None = None, weights_initializer: _InitializerLike | None = ..., weights_regularizer: _RegularizerLike | None = None, biases_initializer: _InitializerLike | None = ..., biases_regularizer: _RegularizerLike | None = None, reuse: _bool | None = None, variables_collections: _Sequence[_str] | _Mapping[_str, _Sequence[_str]] | None = None, outputs_collections: _str | _Sequence[_str] | None = None, trainable: _bool = True, scope=None) -> _Tensor:
    ...

def Id(input: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    ...

def Lrn(input: _TensorLike, depth_radius: _int = 5, bias: _float = 1, alpha: _float = 1, beta: _float = 0.5, name: _str | None = None) -> _Tensor:
    ...

def Mp(inputs: _TensorLike, kernel_size: _int | _Sequence[_int], stride: _int | _Sequence[_int] = 2, padding: _str = 'VALID', data_format: _str = 'NHWC', outputs_collections: _str | _Sequence[_str] | None = None, scope: _str | None = None) -> _Tensor:
    ...

def Print(input_: _TensorLike, data: _Sequence[_Any], message: _str | None = None, first_n: _int | None = None, summarize: _int | None = None, name: _str | None = None) -> _Tensor:
    ...

def Relu(features: _TensorLike, name: _str | None = None) -> _Tensor:
    ...

def Reshape(tensor: _TensorLike, shape: _TensorLike, name: _str | None = None) -> _Tensor:
    ...

def Sig(x: _TensorOrRagged, name: _str | None = None) -> _Tensor:
    ...

def Smax(logits: _TensorLike, axis: _int | None = None, name: _str | None = None, dim: _int | None = None) -> _Tensor:
    ...

def Squeeze(input: _TensorLike, axis: _int | _Sequence[_int] | None = None, name: _str | None = None, squeeze_dims: _int | _Sequence[_int] | None = None) -> _Tensor:
    ...

def Tanh(x: _TensorOrRagged | _SparseTensor, name: _str | None = None) -> _Any:
    ...

def Transpose(a: _TensorLike, perm: _TensorLike | None = None, name: _str = 'transpose', conjugate: _bool = False) -> _Tensor:
    ...

def Unit(inputs: _TensorLike, dim: _int, epsilon: _float = 1e-07, scope: _str | None = None) -> _Tensor:
    ...
