#include "check.h"

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

/// Byte counts, offsets and addresses fit; the argument that is named makes them too large.
Status check_extent(const ConstRows& r, const ViewNames& names) noexcept {
  const std::int64_t size = static_cast<std::int64_t>(size_of(r.dtype));
  std::int64_t row_bytes, total, step, reach, first, last, end;
  if (__builtin_mul_overflow(r.cols, size, &row_bytes)) {
    return invalid(names.cols, Value(r.cols), kTooFar);
  }
  if (__builtin_mul_overflow(r.rows, row_bytes, &total)) {
    return invalid(names.rows, Value(r.rows), kTooFar);
  }
  const std::int64_t base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(r.data));
  const std::int64_t row_stride = r.rows > 1 ? r.row_stride : 0;  // a single row needs none
  if (base < 0 || __builtin_mul_overflow(row_stride, size, &step) ||
      __builtin_mul_overflow(r.rows - 1, step, &reach) ||
      __builtin_add_overflow(base, reach < 0 ? reach : 0, &first) || first < 0 ||
      __builtin_add_overflow(base, reach > 0 ? reach : 0, &last) ||
      __builtin_add_overflow(last, row_bytes, &end)) {
    return invalid(names.row_stride, Value(r.row_stride), kTooFar);
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

Status check_rows(const ConstRows& r, const ViewNames& names) noexcept {
  if (Status s = check_dtype(r.dtype, names.dtype); !s.ok()) return s;
  if (r.rows < 0) return invalid(names.rows, Value(r.rows), "must be at least 0");
  if (r.cols < 0) return invalid(names.cols, Value(r.cols), "must be at least 0");
  if (r.rows == 0 || r.cols == 0) return {};
  if (Status s = check_data(r.data, r.dtype, names.data); !s.ok()) return s;
  return check_extent(r, names);
}

Status check_output_rows(const Rows& r, const ViewNames& names) noexcept {
  if (Status s = check_rows(r, names); !s.ok()) return s;
  if (r.rows > 1 && r.row_stride < r.cols && r.row_stride > -r.cols) {
    return invalid(names.row_stride, Value(r.row_stride),
                   "must be at least cols in magnitude, so that rows do not overlap");
  }
  return {};
}

Status check_same_shape(const ConstRows& r, const ConstRows& x, const ViewNames& names) noexcept {
  if (r.rows != x.rows) return invalid(names.rows, Value(r.rows), "must equal x.rows");
  if (r.cols != x.cols) return invalid(names.cols, Value(r.cols), "must equal x.cols");
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

Status check_parameter_type(const ConstVector& v, DType c, const ViewNames& names) noexcept {
  if (v.data != nullptr && v.dtype == DType::f64 && c != DType::f64) {
    return invalid(names.dtype, Value(name_of(v.dtype)),
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
