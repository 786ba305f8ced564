// The C interface: from C structs to those of the C++ headers, which check everything else.
//
// The trap: a caller built against an older header hands in a shorter struct; only struct_size
// bytes of it may be read.
#include <cstring>
#include <new>
#include <optional>

#include "check.h"
#include "equinorm/equinorm.h"
#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"
#include "equinorm/row_forms.hpp"
#include "equinorm/row_norm.hpp"

namespace equinorm {
namespace {

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

equinorm_status to_c(const Status& status) noexcept {
  equinorm_status result = {
      static_cast<std::int32_t>(status.code), status.argument, status.rule, {}};
  static_assert(sizeof(result.value) == sizeof(status.value));
  std::memcpy(result.value, status.value, sizeof(result.value));
  return result;
}

DType dtype_of(std::int32_t dtype) noexcept {
  // What no DType is stays none, for the checks to name.
  return static_cast<DType>(dtype >= 0 && dtype <= 0xff ? dtype : 0xff);
}

ConstRows from_c(const equinorm_const_rows& r) noexcept {
  return {r.data, dtype_of(r.dtype), r.rows, r.cols, r.row_stride};
}
Rows from_c(const equinorm_rows& r) noexcept {
  return {r.data, dtype_of(r.dtype), r.rows, r.cols, r.row_stride};
}
ConstVector from_c(const equinorm_const_vector& v) noexcept {
  return {v.data, dtype_of(v.dtype), v.size};
}
Vector from_c(const equinorm_vector& v) noexcept { return {v.data, dtype_of(v.dtype), v.size}; }

LayerNormStatistics layer_statistics(const equinorm_statistics& s) noexcept {
  return {from_c(s.mean), from_c(s.mean_tail), from_c(s.rstd), s.exact};
}
RmsNormStatistics rms_statistics(const equinorm_statistics& s) noexcept {
  return {from_c(s.rstd), s.exact};
}

RowForm from_c(const equinorm_row_form& f) noexcept {
  const auto small = [](std::int32_t v) noexcept {
    return static_cast<std::uint8_t>(v >= 0 && v <= 0xff ? v : 0xff);
  };
  return {.centered = f.centered != 0,
          .spread = static_cast<Spread>(small(f.spread)),
          .unbiased = f.unbiased != 0,
          .gain = static_cast<Gain>(small(f.gain)),
          .eps = f.eps,
          .detach_mean = f.detach_mean != 0,
          .detach_spread = f.detach_spread != 0,
          .scale = f.scale,
          .slope = f.slope,
          .part = f.part};
}

equinorm_row_form to_c(const RowForm& f) noexcept {
  return {f.centered ? 1 : 0,
          static_cast<std::int32_t>(f.spread),
          f.unbiased ? 1 : 0,
          static_cast<std::int32_t>(f.gain),
          f.eps,
          f.detach_mean ? 1 : 0,
          f.detach_spread ? 1 : 0,
          f.scale,
          f.slope,
          f.part};
}

/// The caller's struct is there and whole: nothing was appended since the first version.
template <class Args>
Status check_args(const Args* args) noexcept {
  if (args == nullptr) return invalid("args", Value("null"), "must point to the arguments");
  if (args->struct_size >= sizeof(Args)) return {};
  return invalid("struct_size", Value(static_cast<std::int64_t>(args->struct_size)),
                 "must be the sizeof of the struct");
}

}  // namespace
}  // namespace equinorm

struct equinorm_context {
  equinorm::Context context;
  std::optional<equinorm::CallerExecutor> executor;
};

namespace equinorm {
namespace {

Status check_context(const equinorm_context* context) noexcept {
  return context != nullptr ? Status{}
                            : invalid("context", Value("null"), "must come from context_new");
}

/// Checks both, then call(args, context).
template <class Args, class Call>
equinorm_status run(const Args* args, equinorm_context* context, Call call) noexcept {
  if (const Status status = check_args(args); !status.ok()) return to_c(status);
  if (const Status status = check_context(context); !status.ok()) return to_c(status);
  return to_c(call(*args, context->context));
}

/// set(context) of a context that is there.
template <class Set>
equinorm_status configure(equinorm_context* context, Set set) noexcept {
  if (const Status status = check_context(context); !status.ok()) return to_c(status);
  return to_c(set(*context));
}

}  // namespace
}  // namespace equinorm

using namespace equinorm;

extern "C" {

equinorm_context* equinorm_context_new(void) { return new (std::nothrow) equinorm_context; }
void equinorm_context_free(equinorm_context* context) { delete context; }

equinorm_status equinorm_context_set_threads(equinorm_context* context, std::int32_t threads) {
  return configure(context, [=](auto& c) noexcept { return c.context.set_threads(threads); });
}

equinorm_status equinorm_context_set_isa(equinorm_context* context, const char* isa) {
  return configure(context, [=](auto& c) noexcept {
    for (const Isa known : {Isa::portable, Isa::neon, Isa::avx2, Isa::avx3}) {
      if (isa != nullptr && std::strcmp(isa, name_of(known)) == 0) return c.context.set_isa(known);
    }
    return invalid("isa", Value(isa != nullptr ? isa : "null"),
                   "must be portable, neon, avx2 or avx3");
  });
}

equinorm_status equinorm_context_set_accuracy(equinorm_context* context, std::int32_t exact) {
  return configure(context, [=](auto& c) noexcept {
    c.context.set_accuracy(exact != 0 ? Accuracy::exact : Accuracy::standard);
    return Status{};
  });
}

equinorm_status equinorm_context_set_executor(equinorm_context* context, std::int32_t concurrency,
                                              equinorm_run_tasks run_tasks, void* user) {
  return configure(context, [=](auto& c) noexcept {
    if (run_tasks == nullptr) {
      c.context.set_executor(nullptr);
      c.executor.reset();
      return Status{};
    }
    if (concurrency < 1) return invalid("concurrency", Value(concurrency), "must be at least 1");
    c.executor.emplace(concurrency, run_tasks, user);
    c.context.set_executor(&*c.executor);
    return Status{};
  });
}

const char* equinorm_context_last_isa(const equinorm_context* context) {
  return context != nullptr ? name_of(context->context.last_isa()) : "";
}

const char* equinorm_version(void) { return EQUINORM_VERSION; }
std::int32_t equinorm_numerics_version(void) { return kNumericsVersion; }

equinorm_status equinorm_layer_norm_forward(const equinorm_layer_norm_forward_args* args,
                                            equinorm_context* context) {
  return run(args, context, [](const auto& a, Context& c) noexcept {
    return layer_norm_forward({from_c(a.x), from_c(a.gamma), from_c(a.beta), a.eps, from_c(a.y),
                               layer_statistics(a.statistics)},
                              c);
  });
}

equinorm_status equinorm_layer_norm_backward(const equinorm_layer_norm_backward_args* args,
                                             equinorm_context* context) {
  return run(args, context, [](const auto& a, Context& c) noexcept {
    return layer_norm_backward(
        {from_c(a.dy), from_c(a.x), from_c(a.gamma), a.eps, layer_statistics(a.statistics),
         from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
        c);
  });
}

equinorm_status equinorm_rms_norm_forward(const equinorm_rms_norm_forward_args* args,
                                          equinorm_context* context) {
  return run(args, context, [](const auto& a, Context& c) noexcept {
    return rms_norm_forward({from_c(a.x), from_c(a.gamma), a.add_one != 0, a.eps, from_c(a.y),
                             rms_statistics(a.statistics)},
                            c);
  });
}

equinorm_status equinorm_rms_norm_backward(const equinorm_rms_norm_backward_args* args,
                                           equinorm_context* context) {
  return run(args, context, [](const auto& a, Context& c) noexcept {
    return rms_norm_backward({from_c(a.dy), from_c(a.x), from_c(a.gamma), a.add_one != 0, a.eps,
                              rms_statistics(a.statistics), from_c(a.dx), from_c(a.dgamma)},
                             c);
  });
}

equinorm_status equinorm_named_form(const char* name, equinorm_row_form* form) {
  if (form == nullptr) return to_c(invalid("form", Value("null"), "must point to a form"));
  for (const NamedForm& known : kRowForms) {
    if (name != nullptr && std::strcmp(name, known.name) == 0) {
      *form = to_c(known.form);
      return to_c(Status{});
    }
  }
  return to_c(invalid("name", Value(name != nullptr ? name : "null"),
                      "must be a name that `equinorm forms` lists"));
}

equinorm_status equinorm_row_norm_forward(const equinorm_row_norm_forward_args* args,
                                          equinorm_context* context) {
  return run(args, context, [](const auto& a, Context& c) noexcept {
    return row_norm_forward(
        {from_c(a.form), from_c(a.x), from_c(a.gamma), from_c(a.beta), from_c(a.y)}, c);
  });
}

equinorm_status equinorm_row_norm_backward(const equinorm_row_norm_backward_args* args,
                                           equinorm_context* context) {
  return run(args, context, [](const auto& a, Context& c) noexcept {
    return row_norm_backward({from_c(a.form), from_c(a.dy), from_c(a.x), from_c(a.gamma),
                              from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
                             c);
  });
}

}  // extern "C"
