// A checked backward call: blocks of rows grouped in chunks, chunks split over tasks, chunk sums
// added up in order (docs/numerics.md section 5).
//
// The trap: chunks depend on the number of rows alone, tasks on the threads. A task owns whole
// chunks, and only the first task may add its chunks to the total at once.
#include <algorithm>

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

struct Chunks {
  std::int64_t rows_each = 0;
  std::int64_t count = 0;

  /// 4 ceil(rows / 4096) blocks each, at most 128 chunks.
  explicit Chunks(std::int64_t rows) noexcept {
    if (rows == 0) return;
    rows_each = 4 * kernels::kBlockRows * ((rows - 1) / 4096 + 1);
    count = (rows - 1) / rows_each + 1;
  }
};

struct Plan {
  kernels::BackwardArgs args;
  kernels::BackwardKernel kernel = nullptr;
  std::int64_t rows = 0;
  Chunks chunks{0};
  std::int64_t tasks = 0;
  bool dgamma = false;
  bool dbeta = false;
  bool dx_apart = false;  ///< dx overlaps an input: write it after the sums of its block
  double* scratch = nullptr;
  double* totals = nullptr;      ///< two rows
  double* chunk_sums = nullptr;  ///< two rows per chunk
  std::int64_t row_elements = 0;

  bool sums() const noexcept { return dgamma || dbeta; }
  kernels::GradientSums at(double* two_rows) const noexcept {
    return {dgamma ? two_rows : nullptr, dbeta ? two_rows + row_elements : nullptr};
  }
};

void add_to(const kernels::GradientSums& total, const kernels::GradientSums& chunk,
            std::int64_t cols) noexcept {
  for (std::int64_t i = 0; total.dgamma != nullptr && i < cols; ++i) {
    total.dgamma[i] += chunk.dgamma[i];
  }
  for (std::int64_t i = 0; total.dbeta != nullptr && i < cols; ++i) {
    total.dbeta[i] += chunk.dbeta[i];
  }
}

void run_rows(const Plan& plan, parallel::Range rows, const kernels::GradientSums& sums,
              const kernels::Scratch& scratch) noexcept {
  if (plan.args.cols == 0) return;
  kernels::BackwardArgs without_dx = plan.args;
  without_dx.dx = nullptr;
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kernels::kBlockRows) {
    const std::int64_t end = std::min(begin + kernels::kBlockRows, rows.end);
    if (plan.dx_apart && plan.sums()) {
      plan.kernel(without_dx, begin, end, sums, scratch);
      plan.kernel(plan.args, begin, end, {}, scratch);
    } else {
      plan.kernel(plan.args, begin, end, sums, scratch);
    }
  }
}

void task(Plan& plan, std::int64_t index) noexcept {
  const kernels::Scratch scratch{
      plan.scratch + index * kernels::kBackwardScratchRows * plan.row_elements, plan.row_elements};
  if (!plan.sums())
    return run_rows(plan, parallel::share(plan.rows, plan.tasks, index), {}, scratch);
  const parallel::Range chunks = parallel::share(plan.chunks.count, plan.tasks, index);
  for (std::int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    const std::int64_t begin = chunk * plan.chunks.rows_each;
    const parallel::Range rows{begin, std::min(begin + plan.chunks.rows_each, plan.rows)};
    // The first task needs one pair of rows: it adds each chunk to the total right away.
    double* two_rows = plan.chunk_sums + (index == 0 ? 0 : chunk) * 2 * plan.row_elements;
    std::fill_n(two_rows, 2 * plan.row_elements, 0.0);
    run_rows(plan, rows, plan.at(two_rows), scratch);
    if (index == 0) add_to(plan.at(plan.totals), plan.at(two_rows), plan.args.cols);
  }
}

void finish(Plan& plan, const BackwardCall& call, kernels::Target target) noexcept {
  const parallel::FpEnvironment environment;
  const std::int64_t first = parallel::share(plan.chunks.count, plan.tasks, 0).end;
  for (std::int64_t chunk = first; chunk < plan.chunks.count; ++chunk) {
    add_to(plan.at(plan.totals), plan.at(plan.chunk_sums + chunk * 2 * plan.row_elements),
           plan.args.cols);
  }
  const kernels::ParameterTable& table = *kernels::parameter_table(target);
  const kernels::GradientSums total = plan.at(plan.totals);
  if (plan.dgamma) {
    alignas(64) const double nothing[8] = {};
    if (call.form.gain == Gain::scalar) {
      for (std::int64_t i = 1; i < call.x.cols; ++i) total.dgamma[0] += total.dgamma[i];
    }
    table.from_f64[static_cast<int>(call.dgamma.dtype)](call.x.cols > 0 ? total.dgamma : nothing,
                                                        call.dgamma.size, call.dgamma.data);
  }
  if (plan.dbeta) {
    table.from_f64[static_cast<int>(call.dbeta.dtype)](total.dbeta, call.x.cols, call.dbeta.data);
  }
}

bool dx_on_input(const BackwardCall& call) noexcept {
  return identical(call.dx, call.x) || identical(call.dx, call.dy);
}

kernels::BackwardArgs arguments(const BackwardCall& call, const Context& context) noexcept {
  kernels::BackwardArgs args;
  args.dy = call.dy.data;
  args.dy_type = kernel_type(call.dy.dtype);
  args.dy_stride = call.dy.row_stride;
  args.x = call.x.data;
  args.x_type = kernel_type(call.x.dtype);
  args.x_stride = call.x.row_stride;
  args.dx = call.dx.data;
  args.dx_stride = call.dx.row_stride;
  args.rows = call.x.rows;
  args.cols = call.x.cols;
  args.form = kernel_form(call);
  args.exact = context.accuracy() == Accuracy::exact;
  args.stream =
      parallel::too_large_for_cache(call.dx) && call.dx.data != nullptr && !dx_on_input(call);
  args.statistics = {call.statistics.mean.data, call.statistics.mean_tail.data,
                     call.statistics.rstd.data, call.statistics.exact};
  return args;
}

Plan plan_of(const BackwardCall& call, const Context& context, int concurrency) noexcept {
  Plan plan;
  plan.args = arguments(call, context);
  plan.rows = call.x.rows;
  plan.chunks = Chunks(plan.rows);
  plan.dgamma = call.dgamma.data != nullptr;
  plan.dbeta = call.dbeta.data != nullptr;
  plan.dx_apart = dx_on_input(call);
  plan.row_elements = kernels::Scratch::padded(call.x.cols);
  const std::size_t width = 2 * size_of(call.x.dtype) + size_of(call.dy.dtype);
  plan.tasks = parallel::count_tasks(plan.sums() ? plan.chunks.count : plan.rows,
                                     call.x.rows * call.x.cols * static_cast<std::int64_t>(width),
                                     concurrency);
  return plan;
}

}  // namespace

Status run(const BackwardCall& call, Context& context) noexcept {
  const kernels::Target target = kernel_target(context);
  const kernels::BackwardTable& table = *kernels::backward_table(target);
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;

  Plan plan = plan_of(call, context, executor.concurrency());
  RowCounter rows(plan.row_elements);
  const std::int64_t affine_row = rows.add(kAffineRows);
  const std::int64_t scratch_row = rows.add(plan.tasks * kernels::kBackwardScratchRows);
  const std::int64_t totals_row = rows.add(plan.sums() ? 2 : 0);
  const std::int64_t chunk_row =
      rows.add(!plan.sums() ? 0 : 2 * (plan.tasks > 1 ? plan.chunks.count : std::int64_t{1}));
  double* workspace = rows.reserve(context);
  if (workspace == nullptr && plan.row_elements > 0) return rows.out_of_memory();

  const DType c = compute_type(call.x.dtype, call.dy.dtype);
  plan.args.affine = prepare_affine(call, c, target, workspace + affine_row * plan.row_elements,
                                    plan.row_elements);
  plan.scratch = workspace + scratch_row * plan.row_elements;
  plan.totals = workspace + totals_row * plan.row_elements;
  plan.chunk_sums = workspace + chunk_row * plan.row_elements;
  if (plan.sums()) std::fill_n(plan.totals, 2 * plan.row_elements, 0.0);
  plan.kernel = kernels::at(call.form.centered ? table.centered : table.plain, kernel_type(c),
                            kernel_type(call.x.dtype));
  parallel::run_tasks(executor, plan.tasks, &task, plan);
  if (plan.sums()) finish(plan, call, target);
  ContextAccess::set_last_isa(context, static_cast<Isa>(table.target));
  return {};
}

}  // namespace equinorm
