// The whole LibTorch front end: functional forms and modules.
#pragma once

#include "equinorm/torch/context.hpp"
#include "equinorm/torch/functional.hpp"
#include "equinorm/torch/modules.hpp"
