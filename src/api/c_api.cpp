// The C interface: contexts, versions, and the norms of rows. Groups of rows are in
// c_api_grouped.cpp, the fused operators and others of a Transformer block in c_api_blocks.cpp.
//
// The trap: struct_size must be checked before any other field is read; run_c does it.
#include <cstring>
#include <new>

#include "c_convert.h"
#include "equinorm/layer_norm.hpp"
#include "equinorm/rms_norm.hpp"
#include "equinorm/row_forms.hpp"

namespace equinorm {
namespace {

LayerNormStatistics layer_statistics(const equinorm_statistics& s) noexcept {
  return {from_c(s.mean), from_c(s.mean_tail), from_c(s.rstd), s.exact};
}
RmsNormStatistics rms_statistics(const equinorm_statistics& s) noexcept {
  return {from_c(s.rstd), s.exact};
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
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return layer_norm_forward({from_c(a.x), from_c(a.gamma), from_c(a.beta), a.eps, from_c(a.y),
                               layer_statistics(a.statistics)},
                              c);
  });
}

equinorm_status equinorm_layer_norm_backward(const equinorm_layer_norm_backward_args* args,
                                             equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return layer_norm_backward(
        {from_c(a.dy), from_c(a.x), from_c(a.gamma), a.eps, layer_statistics(a.statistics),
         from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
        c);
  });
}

equinorm_status equinorm_rms_norm_forward(const equinorm_rms_norm_forward_args* args,
                                          equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return rms_norm_forward({from_c(a.x), from_c(a.gamma), a.add_one != 0, a.eps, from_c(a.y),
                             rms_statistics(a.statistics)},
                            c);
  });
}

equinorm_status equinorm_rms_norm_backward(const equinorm_rms_norm_backward_args* args,
                                           equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
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
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return row_norm_forward(
        {from_c(a.form), from_c(a.x), from_c(a.gamma), from_c(a.beta), from_c(a.y)}, c);
  });
}

equinorm_status equinorm_row_norm_backward(const equinorm_row_norm_backward_args* args,
                                           equinorm_context* context) {
  return run_c(args, context, [](const auto& a, Context& c) noexcept {
    return row_norm_backward({from_c(a.form), from_c(a.dy), from_c(a.x), from_c(a.gamma),
                              from_c(a.dx), from_c(a.dgamma), from_c(a.dbeta)},
                             c);
  });
}

}  // extern "C"
