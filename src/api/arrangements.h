// Images and heads as grouped rows: which elements make a row is all that tells these norms apart.
#pragma once

#include "check.h"
#include "equinorm/heads.hpp"
#include "equinorm/images.hpp"
#include "norm_call.h"

namespace equinorm {

#define EQUINORM_IMAGE_NAMES(name)                                                    \
  ViewNames {                                                                         \
    name, name ".data", name ".dtype", name ".channels", name ".positions",           \
        name ".channel_stride", name ".size", name ".samples", name ".sample_stride", \
        name ".position_stride", name ".position_stride", name ".position_stride"     \
  }
#define EQUINORM_HEAD_NAMES(name)                                                           \
  ViewNames {                                                                               \
    name, name ".data", name ".dtype", name ".tokens", name ".width", name ".token_stride", \
        name ".size", name ".heads", name ".head_stride", name ".width", name ".width",     \
        name ".width"                                                                       \
  }

/// Rows of an image norm: which arrangement `at` of its elements.
template <class Images>
auto arranged(const Images& images, const Arrangement& at) noexcept {
  using Result =
      std::conditional_t<std::is_same_v<Images, equinorm::Images>, GroupedRows, ConstGroupedRows>;
  return Result{images.data, images.dtype, at};
}

/// One group per sample, one row per channel: the elements as they are.
Arrangement as_they_are(const ConstImages& images) noexcept;
/// A row per group of channels and sample, numbered by group first.
Arrangement by_channel_group(const ConstImages& images, std::int64_t groups) noexcept;
/// A row per position of a sample.
Arrangement by_position(const ConstImages& images) noexcept;
/// A row per sample.
Arrangement by_sample(const ConstImages& images) noexcept;
/// A row per channel, or per channel and position.
Arrangement by_channel(const ConstImages& images, bool per_position) noexcept;

/// Sizes, data and strides of x.
Status check_images(const ConstImages& x, const ViewNames& names) noexcept;
/// The same for an output, and that it has x's shape.
Status check_images(const Images& y, const ConstImages& x, const ViewNames& names) noexcept;
/// That `dy` has x's shape.
Status check_images(const ConstImages& dy, const ConstImages& x, const ViewNames& names) noexcept;

}  // namespace equinorm
