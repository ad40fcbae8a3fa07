#include "tideflow/kernels/seeded_random.h"
