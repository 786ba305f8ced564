// The whole LibTorch front end: functional forms and modules.
#pragma once

#include "equinorm/torch/alpha_norms.hpp"
#include "equinorm/torch/attention.hpp"
#include "equinorm/torch/context.hpp"
#include "equinorm/torch/functional.hpp"
#include "equinorm/torch/image_modules.hpp"
#include "equinorm/torch/images.hpp"
#include "equinorm/torch/modules.hpp"
#include "equinorm/torch/power_norm.hpp"
#include "equinorm/torch/residual_norm.hpp"
#include "equinorm/torch/token_batch_norm.hpp"
