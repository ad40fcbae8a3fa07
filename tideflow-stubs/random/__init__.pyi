# Written by `python -m tideflow.programs.stubs`.

from tideflow.graph.scopes import get_seed as get_seed
from tideflow.graph.scopes import set_random_seed as set_random_seed
from tideflow.ops.nn.candidate_sampling import all_candidate_sampler as all_candidate_sampler
from tideflow.ops.nn.candidate_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from tideflow.ops.nn.candidate_sampling import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from tideflow.ops.nn.candidate_sampling import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from tideflow.ops.nn.candidate_sampling import uniform_candidate_sampler as uniform_candidate_sampler
from tideflow.ops.random.choices import categorical as categorical
from tideflow.ops.random.choices import multinomial as multinomial
from tideflow.ops.random.choices import random_shuffle as _shuffle
from tideflow.ops.random.choices import stateless_categorical as stateless_categorical
from tideflow.ops.random.choices import stateless_multinomial as stateless_multinomial
from tideflow.ops.random.distributions import random_gamma as _gamma
from tideflow.ops.random.distributions import random_normal as _normal
from tideflow.ops.random.distributions import random_poisson as _poisson
from tideflow.ops.random.distributions import random_uniform as _uniform
from tideflow.ops.random.distributions import stateless_random_normal as _stateless_normal
from tideflow.ops.random.distributions import stateless_random_uniform as _stateless_uniform
from tideflow.ops.random.distributions import stateless_truncated_normal as stateless_truncated_normal
from tideflow.ops.random.distributions import truncated_normal as truncated_normal
from tideflow.random import experimental as experimental

gamma = _gamma
normal = _normal
poisson = _poisson
shuffle = _shuffle
stateless_normal = _stateless_normal
stateless_uniform = _stateless_uniform
uniform = _uniform
