// Strides of rows from strides of images.
#include "arrangements.h"

namespace equinorm {
namespace {

/// Columns (a, b), b fastest: one run where the strides allow it.
void set_columns(Arrangement& at, std::int64_t a, std::int64_t a_stride, std::int64_t b,
                 std::int64_t b_stride) noexcept {
  at.cols = a * b;
  at.column_stride = b_stride;
  if (b == 1) {
    at.column_stride = a_stride;
  } else if (a != 1 && a_stride != b * b_stride) {
    at.run = b;
    at.run_stride = a_stride;
  }
}

Status check_shape(const ConstImages& v, const ConstImages& x, const ViewNames& names) noexcept {
  if (v.samples != x.samples) {
    return invalid(names.groups, Value(v.samples), "must equal x.samples");
  }
  if (v.channels != x.channels) {
    return invalid(names.rows, Value(v.channels), "must equal x.channels");
  }
  if (v.positions != x.positions) {
    return invalid(names.cols, Value(v.positions), "must equal x.positions");
  }
  return {};
}

}  // namespace

Arrangement as_they_are(const ConstImages& i) noexcept {
  return {i.samples,        i.channels,        i.positions, i.sample_stride,
          i.channel_stride, i.position_stride, 0,           0};
}

Arrangement by_channel_group(const ConstImages& i, std::int64_t groups) noexcept {
  Arrangement at;
  const std::int64_t channels = groups > 0 ? i.channels / groups : 0;
  at.groups = groups;
  at.rows = i.samples;
  at.group_stride = channels * i.channel_stride;
  at.row_stride = i.sample_stride;
  set_columns(at, channels, i.channel_stride, i.positions, i.position_stride);
  return at;
}

Arrangement by_position(const ConstImages& i) noexcept {
  return {i.samples,         i.positions,      i.channels, i.sample_stride,
          i.position_stride, i.channel_stride, 0,          0};
}

Arrangement by_sample(const ConstImages& i) noexcept {
  Arrangement at;
  at.rows = i.samples;
  at.row_stride = i.sample_stride;
  set_columns(at, i.channels, i.channel_stride, i.positions, i.position_stride);
  return at;
}

Arrangement by_channel(const ConstImages& i, bool per_position) noexcept {
  Arrangement at;
  at.groups = i.channels;
  at.rows = 1;
  at.group_stride = i.channel_stride;
  if (per_position) {
    at.rows = i.positions;
    at.row_stride = i.position_stride;
    set_columns(at, i.samples, i.sample_stride, 1, 1);
  } else {
    set_columns(at, i.samples, i.sample_stride, i.positions, i.position_stride);
  }
  return at;
}

Status check_images(const ConstImages& x, const ViewNames& names) noexcept {
  return check_rows({x.data, x.dtype, as_they_are(x)}, names);
}

Status check_images(const Images& y, const ConstImages& x, const ViewNames& names) noexcept {
  if (Status s = check_output_rows({y.data, y.dtype, as_they_are(y)}, names); !s.ok()) return s;
  return check_shape(y, x, names);
}

Status check_images(const ConstImages& dy, const ConstImages& x, const ViewNames& names) noexcept {
  if (Status s = check_images(dy, names); !s.ok()) return s;
  return check_shape(dy, x, names);
}

}  // namespace equinorm
