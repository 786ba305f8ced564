// Everything in the core library; include single headers where compile time matters.
#pragma once

#include "equinorm/blended_norm.hpp"
#include "equinorm/context.hpp"
#include "equinorm/dynamic_tanh.hpp"
#include "equinorm/fused_norm.hpp"
#include "equinorm/grouped_norm.hpp"
#include "equinorm/heads.hpp"
#include "equinorm/images.hpp"
#include "equinorm/layer_norm.hpp"
#include "equinorm/modulation.hpp"
#include "equinorm/rms_norm.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"
