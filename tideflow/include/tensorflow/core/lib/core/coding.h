#include "tideflow/kernels/hashes.h"
