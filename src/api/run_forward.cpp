// A checked forward call: workspace, parameters, rows split over tasks.
#include "kernels/kernel_table.h"
#include "kernels/storage.h"
#include "norm_call.h"
#include "overlap.h"
#include "parallel/openmp_executor.h"
#include "parallel/split.h"
#include "parameters.h"
#include "workspace.h"

namespace equinorm {
namespace {

struct Plan {
  kernels::ForwardArgs args;
  kernels::ForwardKernel kernel = nullptr;
  std::int64_t rows = 0;
  std::int64_t tasks = 0;
  double* scratch = nullptr;
  std::int64_t row_elements = 0;
};

void task(Plan& plan, std::int64_t index) noexcept {
  const parallel::Range range = parallel::share(plan.rows, plan.tasks, index);
  const kernels::Scratch scratch{
      plan.scratch + index * kernels::kForwardScratchRows * plan.row_elements, plan.row_elements};
  plan.kernel(plan.args, range.begin, range.end, scratch);
}

kernels::ForwardArgs arguments(const ForwardCall& call, const Context& context) noexcept {
  kernels::ForwardArgs args;
  args.x = call.x.data;
  args.x_type = kernel_type(call.x.dtype);
  args.x_stride = call.x.row_stride;
  args.y = call.y.data;
  args.y_stride = call.y.row_stride;
  args.cols = call.x.cols;
  args.form = kernel_form(call);
  args.exact = context.accuracy() == Accuracy::exact;
  args.stream = parallel::too_large_for_cache(call.y) && !identical(call.y, call.x);
  args.statistics = {call.statistics.mean.data, call.statistics.mean_tail.data,
                     call.statistics.rstd.data, call.statistics.exact};
  return args;
}

}  // namespace

Status run(const ForwardCall& call, Context& context) noexcept {
  const kernels::Target target = kernel_target(context);
  const kernels::ForwardTable& table = *kernels::forward_table(target);
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;

  Plan plan;
  plan.rows = call.x.rows;
  plan.row_elements = kernels::Scratch::padded(call.x.cols);
  const std::int64_t bytes =
      call.x.rows * call.x.cols *
      static_cast<std::int64_t>(size_of(call.x.dtype) + size_of(call.y.dtype));
  plan.tasks = parallel::count_tasks(plan.rows, bytes, executor.concurrency());
  RowCounter rows(plan.row_elements);
  const std::int64_t affine_row = rows.add(kAffineRows);
  const std::int64_t scratch_row = rows.add(plan.tasks * kernels::kForwardScratchRows);
  double* workspace = rows.reserve(context);
  if (workspace == nullptr && plan.row_elements > 0) return rows.out_of_memory();

  plan.args = arguments(call, context);
  const DType c = compute_type(call.x.dtype, call.y.dtype);
  plan.args.affine = prepare_affine(call, c, target, workspace + affine_row * plan.row_elements,
                                    plan.row_elements);
  plan.scratch = workspace + scratch_row * plan.row_elements;
  plan.kernel = kernels::at(call.form.centered ? table.centered : table.plain, kernel_type(c),
                            kernel_type(call.y.dtype));
  parallel::run_tasks(executor, plan.tasks, &task, plan);
  ContextAccess::set_last_isa(context, static_cast<Isa>(table.target));
  return {};
}

}  // namespace equinorm
