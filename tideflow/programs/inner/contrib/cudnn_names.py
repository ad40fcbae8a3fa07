"""`tensorflow.contrib.cudnn_rnn`: the words and sizes of cuDNN's recurrent layers."""

CUDNN_RNN_UNIDIRECTION = "unidirectional"
CUDNN_RNN_BIDIRECTION = "bidirectional"
CUDNN_LSTM = "lstm"
CUDNN_GRU = "gru"
CUDNN_RNN_RELU = "rnn_relu"
CUDNN_RNN_TANH = "rnn_tanh"

# How many matrices a layer has.
CUDNN_LSTM_PARAMS_PER_LAYER = 8
CUDNN_GRU_PARAMS_PER_LAYER = 6
CUDNN_RNN_TANH_PARAMS_PER_LAYER = 2
CUDNN_RNN_RELU_PARAMS_PER_LAYER = 2

CUDNN_INPUT_LINEAR_MODE = "linear_input"
CUDNN_INPUT_SKIP_MODE = "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"


def check_direction(direction: str) -> None:
    """ValueError unless it is one of the two directions."""
    if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
        either = f"{CUDNN_RNN_UNIDIRECTION} or {CUDNN_RNN_BIDIRECTION}"
        raise ValueError(f"Invalid direction: {direction}, expecting {either}")


def check_input_mode(input_mode: str) -> None:
    """ValueError unless it is one of the three ways of using inputs."""
    modes = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)
    if input_mode not in modes:
        raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({', '.join(modes)})")
