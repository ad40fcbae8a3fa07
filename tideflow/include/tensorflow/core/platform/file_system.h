#include "tideflow/kernels/files.h"
