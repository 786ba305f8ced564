// DyT: checks, parameters in f64, rows over tasks.
#include "equinorm/dynamic_tanh.hpp"

#include "aligned.h"
#include "kernels/kernel_table.h"
#include "norm_call.h"
#include "overlap.h"
#include "parallel/fp_environment.h"
#include "parallel/openmp_executor.h"
#include "parallel/row_sums.h"
#include "return_if_bad.h"
#include "workspace.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_VIEW_NAMES("x");
constexpr ViewNames kY = EQUINORM_VIEW_NAMES("y");
constexpr ViewNames kDy = EQUINORM_VIEW_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_VIEW_NAMES("dx");
constexpr ViewNames kAlpha = EQUINORM_VIEW_NAMES("alpha");
constexpr ViewNames kGamma = EQUINORM_VIEW_NAMES("gamma");
constexpr ViewNames kBeta = EQUINORM_VIEW_NAMES("beta");
constexpr ViewNames kDalpha = EQUINORM_VIEW_NAMES("dalpha");
constexpr ViewNames kDgamma = EQUINORM_VIEW_NAMES("dgamma");
constexpr ViewNames kDbeta = EQUINORM_VIEW_NAMES("dbeta");

Status check_parameters(const ConstRows& x, const ConstVector& alpha, const ConstVector& gamma,
                        const ConstVector& beta) noexcept {
  if (alpha.data == nullptr) return invalid(kAlpha.data, Value("null"), "must be given");
  EQUINORM_RETURN_IF_BAD(check_vector(alpha, 1, "must be 1", kAlpha));
  EQUINORM_RETURN_IF_BAD(check_vector(gamma, x.cols, "must equal x.cols", kGamma));
  return check_vector(beta, x.cols, "must equal x.cols", kBeta);
}

Status check(const DynamicTanhForward& args) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_output_rows(grouped(args.y), kY));
  EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.y), grouped(args.x), kY));
  EQUINORM_RETURN_IF_BAD(check_parameters(args.x, args.alpha, args.gamma, args.beta));
  Regions regions;
  regions.add_output({kY.name, grouped(args.y)});
  regions.add_input({kX.name, grouped(args.x)});
  regions.add_input({kAlpha.name, args.alpha});
  regions.add_input({kGamma.name, args.gamma});
  regions.add_input({kBeta.name, args.beta});
  if (identical(grouped(args.y), grouped(args.x))) regions.allow(kY.name, kX.name);
  return regions.check();
}

Status check(const DynamicTanhBackward& args) noexcept {
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.x), kX));
  EQUINORM_RETURN_IF_BAD(check_rows(grouped(args.dy), kDy));
  EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.dy), grouped(args.x), kDy));
  if (args.dx.data != nullptr) {
    EQUINORM_RETURN_IF_BAD(check_output_rows(grouped(args.dx), kDx));
    EQUINORM_RETURN_IF_BAD(check_same_shape(grouped(args.dx), grouped(args.x), kDx));
  }
  EQUINORM_RETURN_IF_BAD(check_parameters(args.x, args.alpha, args.gamma, {}));
  EQUINORM_RETURN_IF_BAD(check_vector(args.dalpha, 1, "must be 1", kDalpha));
  EQUINORM_RETURN_IF_BAD(check_vector(args.dgamma, args.x.cols, "must equal x.cols", kDgamma));
  EQUINORM_RETURN_IF_BAD(check_vector(args.dbeta, args.x.cols, "must equal x.cols", kDbeta));
  Regions regions;
  regions.add_output({kDx.name, grouped(args.dx)});
  regions.add_output({kDalpha.name, args.dalpha});
  regions.add_output({kDgamma.name, args.dgamma});
  regions.add_output({kDbeta.name, args.dbeta});
  regions.add_input({kDy.name, grouped(args.dy)});
  regions.add_input({kX.name, grouped(args.x)});
  regions.add_input({kAlpha.name, args.alpha});
  regions.add_input({kGamma.name, args.gamma});
  if (identical(grouped(args.dx), grouped(args.x))) regions.allow(kDx.name, kX.name);
  if (identical(grouped(args.dx), grouped(args.dy))) regions.allow(kDx.name, kDy.name);
  return regions.check();
}

/// A call in progress.
struct Plan {
  kernels::DynamicTanhArgs args;
  const kernels::DynamicTanhTable* table = nullptr;
  const kernels::ParameterTable* parameters = nullptr;
  std::int64_t rows = 0;
  std::int64_t tasks = 1;
  std::int64_t row_elements = 0;
  double* scratch = nullptr;
  Vector dalpha;
  Vector dgamma;
  Vector dbeta;
  parallel::RowSums sums;

  kernels::Scratch scratch_of(std::int64_t task) const noexcept {
    return {scratch + task * kernels::kDynamicTanhScratchRows * row_elements, row_elements};
  }
};

void forward_task(Plan& plan, std::int64_t index) noexcept {
  const parallel::Range rows = parallel::share(plan.rows, plan.tasks, index);
  plan.table->forward(plan.args, rows.begin, rows.end, plan.scratch_of(index));
}

void backward_task(Plan& plan, std::int64_t index) noexcept {
  const parallel::Range rows = parallel::share(plan.rows, plan.tasks, index);
  plan.table->backward(plan.args, rows.begin, rows.end, {}, plan.scratch_of(index));
}

void add_rows(void* state, parallel::Range rows, double* parts, std::int64_t task) noexcept {
  const Plan& plan = *static_cast<const Plan*>(state);
  const auto part = [&](int k) noexcept {
    return plan.sums.wanted[k] ? parts + k * plan.row_elements : nullptr;
  };
  plan.table->backward(plan.args, rows.begin, rows.end, {part(0), part(1), part(2)},
                       plan.scratch_of(task));
}

void store(void* state, std::int64_t /*group*/, double* parts) noexcept {
  const Plan& plan = *static_cast<const Plan*>(state);
  const auto put = [&](const double* sum, const Vector& to) noexcept {
    plan.parameters->from_f64[static_cast<int>(to.dtype)](sum, to.size, to.data);
  };
  if (plan.sums.wanted[0]) put(parts, plan.dgamma);
  if (plan.sums.wanted[1]) put(parts + plan.row_elements, plan.dbeta);
  if (plan.sums.wanted[2]) {
    double* columns = parts + 2 * plan.row_elements;
    alignas(64) double total[8] = {};
    for (std::int64_t i = 0; i < plan.sums.size; ++i) total[0] += columns[i];
    put(total, plan.dalpha);
  }
}

/// Plans, reserves and widens what both directions need; `sums` elements of f64 more.
Status prepare(Plan& plan, const ConstRows& x, const ConstVector& alpha, const ConstVector& gamma,
               const ConstVector& beta, std::int64_t sums, Context& context,
               double** sums_place) noexcept {
  const kernels::Target target = kernel_target(context);
  plan.table = kernels::dynamic_tanh_table(target);
  plan.parameters = kernels::parameter_table(target);
  WorkspacePlan places(plan.row_elements);
  const std::int64_t parameters_place = places.add_rows(2);
  const std::int64_t alpha_place = places.add(kernels::Scratch::padded(1));
  const std::int64_t scratch_place = places.add_rows(plan.tasks * kernels::kDynamicTanhScratchRows);
  const std::int64_t place = places.add(sums);
  double* workspace = places.reserve(context);
  if (workspace == nullptr) return places.out_of_memory();
  const parallel::FpEnvironment environment;
  const auto widened = [&](const ConstVector& v, double* to) noexcept -> const double* {
    if (v.data == nullptr) return nullptr;
    plan.parameters->to_f64[static_cast<int>(v.dtype)](v.data, v.size, to);
    return to;
  };
  plan.args.cols = x.cols;
  plan.args.alpha = *widened(alpha, workspace + alpha_place);
  plan.args.gamma = widened(gamma, workspace + parameters_place);
  plan.args.beta = widened(beta, workspace + parameters_place + plan.row_elements);
  plan.scratch = workspace + scratch_place;
  *sums_place = workspace + place;
  return {};
}

kernels::In in(const ConstRows& r) noexcept {
  return {r.data, kernel_type(r.dtype), kernel_layout(grouped(r).at, nullptr)};
}
kernels::Out out(const Rows& r) noexcept {
  return {r.data, kernel_type(r.dtype), kernel_layout(grouped(r).at, nullptr)};
}

}  // namespace

Status dynamic_tanh_forward(const DynamicTanhForward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check(args));
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;
  Plan plan;
  plan.rows = args.x.rows;
  plan.row_elements = kernels::Scratch::padded(args.x.cols);
  const auto width = static_cast<std::int64_t>(size_of(args.x.dtype) + size_of(args.y.dtype));
  plan.tasks =
      parallel::count_tasks(plan.rows, plan.rows * args.x.cols * width, executor.concurrency());
  double* unused = nullptr;
  EQUINORM_RETURN_IF_BAD(
      prepare(plan, args.x, args.alpha, args.gamma, args.beta, 0, context, &unused));
  plan.args.x = in(args.x);
  plan.args.y = out(args.y);
  parallel::run_tasks(executor, plan.tasks, &forward_task, plan);
  ContextAccess::set_last_isa(context, static_cast<Isa>(plan.table->target));
  return {};
}

Status dynamic_tanh_backward(const DynamicTanhBackward& args, Context& context) noexcept {
  EQUINORM_RETURN_IF_BAD(check(args));
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;
  Plan plan;
  plan.rows = args.x.rows;
  plan.row_elements = kernels::Scratch::padded(args.x.cols);
  plan.dalpha = args.dalpha;
  plan.dgamma = args.dgamma;
  plan.dbeta = args.dbeta;
  parallel::RowSums& sums = plan.sums;
  sums.rows = plan.rows;
  sums.size = args.x.cols;
  sums.part_elements = plan.row_elements;
  sums.wanted[0] = args.dgamma.data != nullptr;
  sums.wanted[1] = args.dbeta.data != nullptr;
  sums.wanted[2] = args.dalpha.data != nullptr;
  sums.add_rows = &add_rows;
  sums.store = &store;
  sums.state = &plan;
  const bool has_sums = sums.wanted[0] || sums.wanted[1] || sums.wanted[2];
  const auto width = static_cast<std::int64_t>(2 * size_of(args.x.dtype) + size_of(args.dy.dtype));
  const std::int64_t bytes = plan.rows * args.x.cols * width;
  sums.plan(bytes, executor.concurrency());
  plan.tasks =
      has_sums ? sums.tasks() : parallel::count_tasks(plan.rows, bytes, executor.concurrency());
  double* place = nullptr;
  EQUINORM_RETURN_IF_BAD(prepare(plan, args.x, args.alpha, args.gamma, {},
                                 has_sums ? sums.workspace() : 0, context, &place));
  plan.args.x = in(args.x);
  plan.args.dy = in(args.dy);
  plan.args.dx = out(args.dx);
  if (has_sums) {
    sums.run(executor, place);
  } else {
    parallel::run_tasks(executor, plan.tasks, &backward_task, plan);
  }
  ContextAccess::set_last_isa(context, static_cast<Isa>(plan.table->target));
  return {};
}

}  // namespace equinorm
