// A checked backward call: blocks of rows, and the sums over them that are gradients of parameters.
#include <algorithm>
#include <optional>

#include "kernels/kernel_table.h"
#include "kernels/storage.h"
#include "norm_call.h"
#include "overlap.h"
#include "parallel/fp_environment.h"
#include "parallel/openmp_executor.h"
#include "parallel/row_sums.h"
#include "parameters.h"
#include "tiles.h"
#include "workspace.h"

namespace equinorm {
namespace {

using parallel::Range;
static_assert(parallel::RowSums::kBlockRows == kernels::kBlockRows);

struct Plan {
  kernels::BackwardArgs args;
  kernels::BackwardKernel kernel = nullptr;
  const kernels::ParameterTable* parameters = nullptr;
  GroupedVector dgamma;
  GroupedVector dbeta;
  GroupedVector dgate;
  bool scalar = false;     ///< dgamma is the sum over the columns too
  bool dx_apart = false;   ///< dx overlaps an input: write it after the sums of its block
  std::int64_t tasks = 0;  ///< without sums
  std::int64_t row_elements = 0;
  double* scratch = nullptr;
  TilePlan tiles;  ///< of dy, x and dx
  double* tile_memory = nullptr;
  parallel::RowSums sums;

  bool has_sums() const noexcept { return sums.wanted[0] || sums.wanted[1] || sums.wanted[2]; }
  kernels::GradientSums at(double* parts) const noexcept {
    const auto part = [&](int k) noexcept {
      return sums.wanted[k] ? parts + k * row_elements : nullptr;
    };
    return {part(0), part(1), part(2)};
  }
  double* tiles_of(std::int64_t task) const noexcept {
    return tile_memory + task * tiles.memory_rows() * tiles.row_elements();
  }
  kernels::Scratch scratch_of(std::int64_t task) const noexcept {
    return {scratch + task * kernels::kBackwardScratchRows * row_elements, row_elements};
  }
};

/// Rows as the kernel reads and writes them: where they are, or in tiles.
struct ReadyRows {
  const Plan& plan;
  kernels::BackwardArgs args;
};

void with_rows(void* state, Range rows, std::int64_t task, const parallel::RowWork& work) noexcept {
  const Plan& plan = *static_cast<const Plan*>(state);
  ReadyRows ready{plan, plan.args};
  Tiles tiles(plan.tiles, rows, plan.tiles_of(task));
  ready.args.dy = tiles.read(plan.args.dy);
  ready.args.x = tiles.read(plan.args.x);
  ready.args.dx = tiles.place(plan.args.dx);
  work(&ready);
  tiles.write(ready.args.dx, plan.args.dx);
}

void run_rows(const ReadyRows& ready, Range rows, const kernels::GradientSums& sums,
              std::int64_t task) noexcept {
  const Plan& plan = ready.plan;
  if (plan.args.cols == 0) return;
  const kernels::Scratch scratch = plan.scratch_of(task);
  std::optional<kernels::BackwardArgs> without_dx;
  if (plan.dx_apart && plan.has_sums()) {
    without_dx = ready.args;
    without_dx->dx.data = nullptr;
  }
  for (std::int64_t begin = rows.begin; begin < rows.end; begin += kernels::kBlockRows) {
    const std::int64_t end = std::min(begin + kernels::kBlockRows, rows.end);
    if (without_dx) {
      plan.kernel(*without_dx, begin, end, sums, scratch);
      plan.kernel(ready.args, begin, end, {}, scratch);
    } else {
      plan.kernel(ready.args, begin, end, sums, scratch);
    }
  }
}

void add_rows(void* ready, Range rows, double* sums, std::int64_t task) noexcept {
  const auto& r = *static_cast<const ReadyRows*>(ready);
  run_rows(r, rows, r.plan.at(sums), task);
}

/// Rounds the sums to the gradients of a group.
void store(void* state, std::int64_t group, double* parts) noexcept {
  const Plan& plan = *static_cast<const Plan*>(state);
  const kernels::GradientSums total = plan.at(parts);
  const auto put = [&](const double* sum, const GroupedVector& to) noexcept {
    const auto size = static_cast<std::int64_t>(size_of(to.dtype));
    plan.parameters->from_f64[static_cast<int>(to.dtype)](
        sum, to.size, static_cast<char*>(to.data) + group * to.group_stride * size);
  };
  // Not by the places of the sums: without columns there is no memory.
  if (plan.sums.wanted[0]) {
    alignas(64) const double nothing[8] = {};
    if (plan.scalar) {
      for (std::int64_t i = 1; i < plan.sums.size; ++i) total.dgamma[0] += total.dgamma[i];
    }
    put(plan.sums.size > 0 ? total.dgamma : nothing, plan.dgamma);
  }
  if (plan.sums.wanted[1]) put(total.dbeta, plan.dbeta);
  if (plan.sums.wanted[2]) put(total.dother, plan.dgate);
}

/// A share of the rows; no gradients of parameters are wanted.
void rows_task(Plan& plan, std::int64_t index) noexcept {
  const Range all = parallel::share(plan.args.rows, plan.tasks, index);
  for (const Range rows : parallel::Batches(all, plan.tiles.rows())) {
    with_rows(&plan, rows, index, parallel::RowWork([&](void* ready) {
      run_rows(*static_cast<const ReadyRows*>(ready), rows, {}, index);
    }));
  }
}

/// Which the kernel must not write before the sums of a block are made.
bool dx_on_input(const BackwardCall& call) noexcept {
  return identical(call.dx, call.x) || identical(call.dx, call.dy);
}

kernels::BackwardArgs arguments(const BackwardCall& call, const Context& context) noexcept {
  kernels::BackwardArgs args;
  args.dy = kernel_rows(call, call.dy);
  args.x = kernel_rows(call, call.x);
  args.dx = kernel_rows(call, call.dx);
  args.rows = call.rows();
  args.cols = call.cols();
  args.form = kernel_form(call);
  const bool apart = kernels::needs_tile(args.dx.layout, args.cols);
  args.direct =
      !call.fused && (call.dx.data == nullptr || apart || args.dx.layout.is_one_run(args.cols));
  if (call.fused) {
    args.branch.any = true;
    args.branch.dstream = kernel_rows(call, call.dstream);
    args.branch.x = kernel_rows(call, call.branch);
    args.branch.dx = kernel_rows(call, call.dbranch);
    args.branch.gate = kernel_parameter(call.gate);
    args.branch.dropout = kernel_dropout(call.dropout);
    args.branch.blend = call.blend;
  }
  args.exact = context.accuracy() == Accuracy::exact;
  args.stream = parallel::too_large_for_cache(call.rows(), call.cols(), call.x.dtype) &&
                call.dx.data != nullptr && !apart && !dx_on_input(call);
  args.statistics = {call.statistics.mean.data,
                     call.statistics.mean_tail.data,
                     call.statistics.rstd.data,
                     call.statistics.exact,
                     nullptr,
                     nullptr};
  return args;
}

Plan plan_of(const BackwardCall& call, const Sharing& sharing, int concurrency) noexcept {
  Plan plan;
  plan.dgamma = call.dgamma;
  plan.dbeta = call.dbeta;
  plan.dgate = call.dgate;
  plan.scalar = call.form.gain == Gain::scalar && sharing.segment == 0;
  plan.dx_apart = dx_on_input(call);
  plan.row_elements = row_elements(call, sharing);
  parallel::RowSums& sums = plan.sums;
  sums.groups = sharing.by_group ? call.x.at.groups : 1;
  sums.rows = sums.groups > 0 ? call.rows() / sums.groups : 0;
  sums.size = sharing.size;
  sums.part_elements = plan.row_elements;
  sums.wanted[0] = call.dgamma.data != nullptr;
  sums.wanted[1] = call.dbeta.data != nullptr;
  sums.wanted[2] = call.dgate.data != nullptr;
  sums.with_rows = &with_rows;
  sums.add_rows = &add_rows;
  sums.store = &store;
  const auto width = static_cast<std::int64_t>(2 * size_of(call.x.dtype) + size_of(call.dy.dtype));
  const std::int64_t bytes = call.rows() * call.cols() * width;
  if (plan.has_sums()) {
    sums.plan(bytes, concurrency);
    plan.tasks = sums.tasks();
  } else {
    plan.tasks = parallel::count_tasks(call.rows(), bytes, concurrency);
  }
  return plan;
}

}  // namespace

Status run(const BackwardCall& call, Context& context) noexcept {
  const kernels::Target target = kernel_target(context);
  const kernels::BackwardTable& table = *kernels::backward_table(target);
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;

  const Sharing sharing = sharing_of(call);
  Plan plan = plan_of(call, sharing, executor.concurrency());
  plan.parameters = kernels::parameter_table(target);
  {
    const parallel::FpEnvironment environment;
    plan.args = arguments(call, context);
  }
  plan.tiles = TilePlan(plan.args.cols);
  plan.tiles.add(plan.args.dy);
  plan.tiles.add(plan.args.x);
  plan.tiles.add(plan.args.dx);
  WorkspacePlan places(plan.row_elements);
  const std::int64_t affine_place = places.add_rows(kAffineRows);
  const std::int64_t scratch_place = places.add_rows(plan.tasks * kernels::kBackwardScratchRows);
  const std::int64_t tile_place =
      places.add_rows(plan.tasks * plan.tiles.memory_rows(), plan.tiles.row_elements());
  const std::int64_t given_place = places.add(given_elements(call));
  const std::int64_t sums_place = places.add(plan.has_sums() ? plan.sums.workspace() : 0);
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
                            plan.args.direct ? kernel_type(call.x.dtype) : kernel_type(c));
  if (plan.has_sums()) {
    plan.sums.state = &plan;
    plan.sums.batch_rows = plan.tiles.rows();
    plan.sums.run(executor, workspace + sums_place);
  } else {
    parallel::run_tasks(executor, plan.tasks, &rows_task, plan);
  }
  ContextAccess::set_last_isa(context, static_cast<Isa>(table.target));
  return {};
}

}  // namespace equinorm
