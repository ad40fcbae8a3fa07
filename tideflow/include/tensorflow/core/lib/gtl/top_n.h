#include "tideflow/kernels/containers.h"
