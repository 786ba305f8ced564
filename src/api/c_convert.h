// From C structs to those of the C++ headers and back, and the frame of every call of the C
// interface. Not a check of values: the C++ operators check those.
//
// The trap: a caller built against an older header hands in a shorter struct; only struct_size
// bytes of it may be read.
#pragma once

#include <cstring>
#include <optional>

#include "check.h"
#include "equinorm/context.hpp"
#include "equinorm/equinorm.h"
#include "equinorm/row_norm.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

class CallerExecutor final : public Executor {
 public:
  CallerExecutor(int concurrency, equinorm_run_tasks run_tasks, void* user) noexcept
      : concurrency_(concurrency), run_tasks_(run_tasks), user_(user) {}
  [[nodiscard]] int concurrency() const noexcept override { return concurrency_; }
  void run(std::int64_t count, Task task, void* state) noexcept override {
    run_tasks_(user_, count, task, state);
  }

 private:
  int concurrency_;
  equinorm_run_tasks run_tasks_;
  void* user_;
};

}  // namespace equinorm

struct equinorm_context {
  equinorm::Context context;
  std::optional<equinorm::CallerExecutor> executor;
};

namespace equinorm {

inline equinorm_status to_c(const Status& status) noexcept {
  equinorm_status result = {
      static_cast<std::int32_t>(status.code), status.argument, status.rule, {}};
  static_assert(sizeof(result.value) == sizeof(status.value));
  std::memcpy(result.value, status.value, sizeof(result.value));
  return result;
}

/// What is no value of the enumeration stays none, for the checks to name.
template <class Enum>
Enum enum_of(std::int32_t value) noexcept {
  static_assert(sizeof(Enum) == 1);
  return static_cast<Enum>(value >= 0 && value <= 0xff ? value : 0xff);
}

inline ConstRows from_c(const equinorm_const_rows& r) noexcept {
  return {r.data, enum_of<DType>(r.dtype), r.rows, r.cols, r.row_stride};
}
inline Rows from_c(const equinorm_rows& r) noexcept {
  return {r.data, enum_of<DType>(r.dtype), r.rows, r.cols, r.row_stride};
}
inline ConstVector from_c(const equinorm_const_vector& v) noexcept {
  return {v.data, enum_of<DType>(v.dtype), v.size};
}
inline Vector from_c(const equinorm_vector& v) noexcept {
  return {v.data, enum_of<DType>(v.dtype), v.size};
}

inline RowForm from_c(const equinorm_row_form& f) noexcept {
  return {.centered = f.centered != 0,
          .spread = enum_of<Spread>(f.spread),
          .unbiased = f.unbiased != 0,
          .gain = enum_of<Gain>(f.gain),
          .eps = f.eps,
          .detach_mean = f.detach_mean != 0,
          .detach_spread = f.detach_spread != 0,
          .scale = f.scale,
          .slope = f.slope,
          .part = f.part};
}

/// The caller's struct is there and whole: nothing was appended since the first version.
template <class Args>
Status check_args(const Args* args) noexcept {
  if (args == nullptr) return invalid("args", Value("null"), "must point to the arguments");
  if (args->struct_size >= sizeof(Args)) return {};
  return invalid("struct_size", Value(static_cast<std::int64_t>(args->struct_size)),
                 "must be the sizeof of the struct");
}

inline Status check_context(const equinorm_context* context) noexcept {
  return context != nullptr ? Status{}
                            : invalid("context", Value("null"), "must come from context_new");
}

/// Checks both, then call(args, context).
template <class Args, class Call>
equinorm_status run_c(const Args* args, equinorm_context* context, Call call) noexcept {
  if (const Status status = check_args(args); !status.ok()) return to_c(status);
  if (const Status status = check_context(context); !status.ok()) return to_c(status);
  return to_c(call(*args, context->context));
}

}  // namespace equinorm
