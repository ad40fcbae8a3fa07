#include "tideflow/kernels/registration.h"
