// Everything in the core library; include single headers where compile time matters.
#pragma once

#include "equinorm/context.hpp"
#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"
#include "equinorm/row_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"
