# Written by `python -m tideflow.programs.stubs`.

from tideflow.keras.datasets import boston_housing as boston_housing
from tideflow.keras.datasets import cifar10 as cifar10
from tideflow.keras.datasets import cifar100 as cifar100
from tideflow.keras.datasets import fashion_mnist as fashion_mnist
from tideflow.keras.datasets import imdb as imdb
from tideflow.keras.datasets import mnist as mnist
from tideflow.keras.datasets import reuters as reuters
