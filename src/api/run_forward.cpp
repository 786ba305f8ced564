// A checked forward call: workspace, parameters, rows split over tasks.
#include "kernels/kernel_table.h"
#include "kernels/storage.h"
#include "norm_call.h"
#include "overlap.h"
#include "parallel/fp_environment.h"
#include "parallel/openmp_executor.h"
#include "parallel/split.h"
#include "parameters.h"
#include "tiles.h"
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
  TilePlan tiles;  ///< of x and y
  double* tile_memory = nullptr;

  double* tiles_of(std::int64_t task) const noexcept {
    return tile_memory + task * tiles.memory_rows() * tiles.row_elements();
  }
};

void task(Plan& plan, std::int64_t index) noexcept {
  const parallel::Range range = parallel::share(plan.rows, plan.tasks, index);
  const kernels::Scratch scratch{
      plan.scratch + index * kernels::kForwardScratchRows * plan.row_elements, plan.row_elements};
  if (!plan.tiles.needed()) return plan.kernel(plan.args, range.begin, range.end, scratch);
  kernels::ForwardArgs args = plan.args;
  for (const parallel::Range rows : parallel::Batches(range, plan.tiles.rows())) {
    Tiles tiles(plan.tiles, rows, plan.tiles_of(index));
    args.x = tiles.read(plan.args.x);
    args.y = tiles.place(plan.args.y);
    plan.kernel(args, rows.begin, rows.end, scratch);
    tiles.write(args.y, plan.args.y);
  }
}

kernels::ForwardArgs arguments(const ForwardCall& call, const Context& context) noexcept {
  kernels::ForwardArgs args;
  args.x = kernel_rows(call, call.x);
  args.y = kernel_rows(call, call.y);
  args.cols = call.cols();
  args.form = kernel_form(call);
  args.blend = call.blend;
  const bool apart = kernels::needs_tile(args.y.layout, args.cols);
  args.direct =
      !call.is_quantized && !call.blend.on && (apart || args.y.layout.is_one_run(args.cols));
  if (call.fused) {
    args.branch.any = true;
    args.branch.residual = kernel_rows(call, call.residual);
    args.branch.gate = kernel_parameter(call.gate);
    args.branch.dropout = kernel_dropout(call.dropout);
    args.branch.stream = kernel_rows(call, call.stream);
  }
  if (call.is_quantized) args.quantized = kernel_quantized(call.quantized);
  args.exact = context.accuracy() == Accuracy::exact;
  args.stream = args.direct && !apart &&
                parallel::too_large_for_cache(call.rows(), call.cols(), call.y.dtype) &&
                !identical(call.y, call.x);
  args.statistics = {call.statistics.mean.data,
                     call.statistics.mean_tail.data,
                     call.statistics.rstd.data,
                     call.statistics.exact,
                     static_cast<double*>(call.variance.data),
                     static_cast<double*>(call.mean.data)};
  return args;
}

}  // namespace

Status run(const ForwardCall& call, Context& context) noexcept {
  const kernels::Target target = kernel_target(context);
  const kernels::ForwardTable& table = *kernels::forward_table(target);
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;

  const Sharing sharing = sharing_of(call);
  Plan plan;
  plan.rows = call.rows();
  plan.row_elements = row_elements(call, sharing);
  const std::int64_t bytes =
      plan.rows * call.cols() *
      static_cast<std::int64_t>(size_of(call.x.dtype) + size_of(call.y.dtype));
  plan.tasks = parallel::count_tasks(plan.rows, bytes, executor.concurrency());
  {
    const parallel::FpEnvironment environment;
    plan.args = arguments(call, context);
  }
  plan.tiles = TilePlan(plan.args.cols);
  plan.tiles.add(plan.args.x);
  plan.tiles.add(plan.args.y);
  WorkspacePlan places(plan.row_elements);
  const std::int64_t affine_place = places.add_rows(kAffineRows);
  const std::int64_t scratch_place = places.add_rows(plan.tasks * kernels::kForwardScratchRows);
  const std::int64_t tile_place =
      places.add_rows(plan.tasks * plan.tiles.memory_rows(), plan.tiles.row_elements());
  const std::int64_t given_place = places.add(given_elements(call));
  double* workspace = places.reserve(context);
  if (workspace == nullptr && !places.empty()) return places.out_of_memory();

  const DType c = call.compute();
  {
    const parallel::FpEnvironment environment;
    plan.args.affine =
        prepare_affine(call, sharing, c, target, workspace + affine_place, plan.row_elements);
    plan.args.given = prepare_given(call, target, workspace + given_place);
  }
  plan.scratch = workspace + scratch_place;
  plan.tile_memory = workspace + tile_place;
  plan.kernel = kernels::at(call.form.centered ? table.centered : table.plain, kernel_type(c),
                            plan.args.direct ? kernel_type(call.y.dtype) : kernel_type(c));
  parallel::run_tasks(executor, plan.tasks, &task, plan);
  ContextAccess::set_last_isa(context, static_cast<Isa>(table.target));
  return {};
}

}  // namespace equinorm
