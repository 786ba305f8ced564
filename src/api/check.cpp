#include "check.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "equinorm/row_norm.hpp"

namespace equinorm {
namespace {

bool is_known(DType dtype) noexcept { return size_of(dtype) != 0; }

Status check_dtype(DType dtype, const char* argument) noexcept {
  if (is_known(dtype)) return {};
  return invalid(argument, Value(static_cast<int>(dtype)), "must be f64, f32, f16 or bf16");
}

Status check_data(const void* data, DType dtype, const char* argument) noexcept {
  if (data == nullptr) {
    return invalid(argument, Value("null"), "must point to data unless the shape is empty");
  }
  if (reinterpret_cast<std::uintptr_t>(data) % size_of(dtype) != 0) {
    return invalid(argument, Value("misaligned"), "must be aligned to its element size");
  }
  return {};
}

constexpr const char* kTooFar = "must keep every element within 64-bit byte addresses";
constexpr const char* kNoOverlap =
    "must step over what lies inside, so that no two elements share a place";

/// One axis of an arrangement.
struct Axis {
  std::int64_t count;
  std::int64_t stride;
  const char* count_name;
  const char* stride_name;
};
struct Axes {
  Axis axis[4];

  Axes(const Arrangement& at, const ViewNames& names) noexcept {
    const std::int64_t run = at.run > 0 && at.run < at.cols ? at.run : at.cols;
    const std::int64_t runs = run > 0 ? (at.cols - 1) / run + 1 : 0;
    axis[0] = {run, at.column_stride, names.cols, names.column_stride};
    axis[1] = {runs, at.run_stride, names.cols, names.run_stride};
    axis[2] = {at.rows, at.row_stride, names.rows, names.row_stride};
    axis[3] = {at.groups, at.group_stride, names.groups, names.group_stride};
  }
};

/// Byte counts, offsets and addresses fit; the argument that is named makes them too large.
Status check_extent(const ConstGroupedRows& r, const ViewNames& names) noexcept {
  const std::int64_t size = static_cast<std::int64_t>(size_of(r.dtype));
  std::int64_t elements = size;
  std::int64_t first = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(r.data));
  std::int64_t last = first;
  for (const Axis& a : Axes(r.at, names).axis) {
    if (__builtin_mul_overflow(elements, a.count, &elements)) {
      return invalid(a.count_name, Value(a.count), kTooFar);
    }
    if (a.count == 1) continue;
    std::int64_t step, reach;
    std::int64_t& side = a.stride < 0 ? first : last;
    const bool far = __builtin_mul_overflow(a.stride, size, &step) ||
                     __builtin_mul_overflow(a.count - 1, step, &reach) ||
                     __builtin_add_overflow(side, reach, &side);
    if (far || side < 0) {
      // A stride of 1 is the number of elements.
      const bool count = a.stride == 1;
      return invalid(count ? a.count_name : a.stride_name, Value(count ? a.count : a.stride),
                     kTooFar);
    }
  }
  if (__builtin_add_overflow(last, size, &last)) {
    return invalid(names.data, Value("too high"), kTooFar);
  }
  return {};
}

}  // namespace

Value::Value(std::int64_t number) noexcept {
  *std::to_chars(text, text + sizeof(text) - 1, number).ptr = '\0';
}

Value::Value(double number) noexcept {
  *std::to_chars(text, text + sizeof(text) - 1, number).ptr = '\0';
}

Value::Value(const char* words) noexcept { std::strncpy(text, words, sizeof(text) - 1); }

Value::Value(const char* words, const char* more) noexcept : Value(words) {
  std::strncat(text, more, sizeof(text) - 1 - std::strlen(text));
}

Status invalid(const char* argument, const Value& value, const char* rule) noexcept {
  Status status;
  status.code = StatusCode::invalid_argument;
  status.argument = argument;
  status.rule = rule;
  std::memcpy(status.value, value.text, sizeof(status.value));
  return status;
}

bool is_plain(const Arrangement& at) noexcept {
  const bool in_one_run = at.run == 0 || at.run >= at.cols;
  return at.groups == 1 && in_one_run && (at.column_stride == 1 || at.cols <= 1);
}

Extent extent_of(const ConstGroupedRows& r) noexcept {
  const auto size = static_cast<std::int64_t>(size_of(r.dtype));
  Extent extent{0, size};
  for (const Axis& a : Axes(r.at, {}).axis) {
    const std::int64_t reach = a.count > 1 ? (a.count - 1) * a.stride * size : 0;
    (reach < 0 ? extent.first : extent.end) += reach;
  }
  return extent;
}

Status check_rows(const ConstGroupedRows& r, const ViewNames& names) noexcept {
  if (Status s = check_dtype(r.dtype, names.dtype); !s.ok()) return s;
  const Arrangement& at = r.at;
  if (at.groups < 0) return invalid(names.groups, Value(at.groups), "must be at least 0");
  if (at.rows < 0) return invalid(names.rows, Value(at.rows), "must be at least 0");
  if (at.cols < 0) return invalid(names.cols, Value(at.cols), "must be at least 0");
  if (at.run < 0) return invalid(names.run, Value(at.run), "must be at least 0");
  if (at.groups == 0 || at.rows == 0 || at.cols == 0) return {};
  if (Status s = check_data(r.data, r.dtype, names.data); !s.ok()) return s;
  return check_extent(r, names);
}

Status check_output_rows(const GroupedRows& r, const ViewNames& names) noexcept {
  if (Status s = check_rows(r, names); !s.ok()) return s;
  const Arrangement& at = r.at;
  if (at.groups == 0 || at.rows == 0 || at.cols == 0) return {};
  if (is_plain(at)) {
    if (at.rows > 1 && at.row_stride < at.cols && at.row_stride > -at.cols) {
      return invalid(names.row_stride, Value(at.row_stride),
                     "must be at least cols in magnitude, so that rows do not overlap");
    }
    return {};
  }
  Axes axes(at, names);
  std::sort(std::begin(axes.axis), std::end(axes.axis),
            [](const Axis& a, const Axis& b) { return magnitude(a.stride) < magnitude(b.stride); });
  std::uint64_t span = 1;
  for (const Axis& a : axes.axis) {
    if (a.count <= 1) continue;
    if (magnitude(a.stride) < span) return invalid(a.stride_name, Value(a.stride), kNoOverlap);
    span += magnitude(a.stride) * static_cast<std::uint64_t>(a.count - 1);
  }
  return {};
}

Status check_same_shape(const ConstGroupedRows& r, const ConstGroupedRows& x,
                        const ViewNames& names) noexcept {
  if (r.at.groups != x.at.groups) {
    return invalid(names.groups, Value(r.at.groups), "must equal x.groups");
  }
  if (r.at.rows != x.at.rows) return invalid(names.rows, Value(r.at.rows), "must equal x.rows");
  if (r.at.cols != x.at.cols) return invalid(names.cols, Value(r.at.cols), "must equal x.cols");
  return {};
}

Status check_vector(const ConstVector& v, std::int64_t size, const char* size_rule,
                    const ViewNames& names) noexcept {
  if (v.data == nullptr) return {};
  if (Status s = check_dtype(v.dtype, names.dtype); !s.ok()) return s;
  if (v.size != size) return invalid(names.size, Value(v.size), size_rule);
  if (size == 0) return {};
  if (Status s = check_data(v.data, v.dtype, names.data); !s.ok()) return s;
  std::int64_t bytes;
  if (__builtin_mul_overflow(v.size, static_cast<std::int64_t>(size_of(v.dtype)), &bytes)) {
    return invalid(names.size, Value(v.size), kTooFar);
  }
  return {};
}

Status check_parameter_type(const void* data, DType dtype, DType c,
                            const ViewNames& names) noexcept {
  if (data != nullptr && dtype == DType::f64 && c != DType::f64) {
    return invalid(names.dtype, Value(name_of(dtype)),
                   "must fit the compute type: f64 needs x or y in f64");
  }
  return {};
}

Status check_form(const RowForm& form) noexcept {
  if (form.spread > Spread::length) {
    return invalid("form.spread", Value(static_cast<int>(form.spread)),
                   "must be root, added, clamped or length");
  }
  if (form.gain > Gain::adaptive) {
    return invalid("form.gain", Value(static_cast<int>(form.gain)),
                   "must be none, vector, one_plus, scalar or adaptive");
  }
  if (!std::isfinite(form.eps) || form.eps < 0) {
    return invalid("eps", Value(form.eps), "must be finite and at least 0");
  }
  if (form.spread == Spread::length && form.eps != 0) {
    return invalid("eps", Value(form.eps), "must be 0 where the spread is a length");
  }
  if (!(form.part > 0 && form.part <= 1)) {
    return invalid("form.part", Value(form.part), "must be above 0 and at most 1");
  }
  if (!std::isfinite(form.scale)) return invalid("form.scale", Value(form.scale), "must be finite");
  if (!std::isfinite(form.slope) || !std::isfinite(form.scale * form.slope)) {
    return invalid("form.slope", Value(form.slope), "must be finite, and so must scale * slope");
  }
  if (form.centered && (form.spread == Spread::length || form.part < 1)) {
    return invalid("form.centered", Value("true"), "must be false with length or part below 1");
  }
  if (!form.centered && (form.unbiased || form.gain == Gain::adaptive)) {
    return invalid("form.centered", Value("false"), "must be true with unbiased or adaptive");
  }
  return {};
}

}  // namespace equinorm
