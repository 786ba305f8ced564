// A checked backward call: blocks of rows grouped in chunks, chunks split over tasks, chunk sums
// added up in order (docs/numerics.md section 5).
//
// The trap: chunks depend on the number of rows alone, tasks on the threads. A task owns whole
// chunks, or whole groups where each group has gradients of its own.
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

using parallel::Range;

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
  const kernels::ParameterTable* parameters = nullptr;
  GroupedVector dgamma;
  GroupedVector dbeta;
  GroupedVector dgate;
  bool scalar = false;         ///< dgamma is the sum over the columns too
  bool dx_apart = false;       ///< dx overlaps an input: write it after the sums of its block
  std::int64_t first_row = 0;  ///< of the rows that are summed together
  std::int64_t rows = 0;       ///< how many these are
  std::int64_t group = 0;      ///< whose gradients they have
  std::int64_t groups = 1;     ///< sums to make
  std::int64_t size = 0;       ///< elements of a sum
  Chunks chunks{0};
  std::int64_t tasks = 0;
  std::int64_t row_elements = 0;
  double* scratch = nullptr;
  double* totals = nullptr;      ///< a sum, or for groups in parallel one per task
  double* chunk_sums = nullptr;  ///< one per chunk, or per task

  bool sums() const noexcept {
    return dgamma.data != nullptr || dbeta.data != nullptr || dgate.data != nullptr;
  }
  /// Elements of the sums for all gradients.
  std::int64_t sum_elements() const noexcept { return sum_rows() * row_elements; }
  std::int64_t sum_rows() const noexcept { return dgate.data != nullptr ? 3 : 2; }
  kernels::GradientSums at(double* rows_of_sums) const noexcept {
    const auto row = [&](int k, const GroupedVector& wanted) noexcept {
      return wanted.data != nullptr ? rows_of_sums + k * row_elements : nullptr;
    };
    return {row(0, dgamma), row(1, dbeta), row(2, dgate)};
  }
  kernels::Scratch scratch_of(std::int64_t task) const noexcept {
    return {scratch + task * kernels::kBackwardScratchRows * row_elements, row_elements};
  }
  double* clear(double* rows_of_sums) const noexcept {
    for (std::int64_t k = 0; k < sum_rows(); ++k) {
      std::fill_n(rows_of_sums + k * row_elements, size, 0.0);
    }
    return rows_of_sums;
  }
};

void add_to(const kernels::GradientSums& total, const kernels::GradientSums& chunk,
            std::int64_t size) noexcept {
  const auto add = [size](double* to, const double* from) noexcept {
    for (std::int64_t i = 0; to != nullptr && i < size; ++i) to[i] += from[i];
  };
  add(total.dgamma, chunk.dgamma);
  add(total.dbeta, chunk.dbeta);
  add(total.dgate, chunk.dgate);
}

void run_rows(const Plan& plan, Range rows, const kernels::GradientSums& sums,
              const kernels::Scratch& scratch) noexcept {
  if (plan.args.cols == 0) return;
  kernels::BackwardArgs without_dx = plan.args;
  without_dx.dx.data = nullptr;
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

void run_chunk(const Plan& plan, std::int64_t chunk, double* sums,
               const kernels::Scratch& scratch) noexcept {
  const std::int64_t begin = plan.first_row + chunk * plan.chunks.rows_each;
  const std::int64_t end = std::min(begin + plan.chunks.rows_each, plan.first_row + plan.rows);
  run_rows(plan, {begin, end}, plan.at(plan.clear(sums)), scratch);
}

/// Rounds the sums to the gradients of a group.
void store(const Plan& plan, std::int64_t group, double* rows_of_sums) noexcept {
  const kernels::GradientSums total = plan.at(rows_of_sums);
  const auto put = [&](const double* sum, const GroupedVector& to) noexcept {
    const auto size = static_cast<std::int64_t>(size_of(to.dtype));
    plan.parameters->from_f64[static_cast<int>(to.dtype)](
        sum, to.size, static_cast<char*>(to.data) + group * to.group_stride * size);
  };
  if (total.dgamma != nullptr) {
    alignas(64) const double nothing[8] = {};
    if (plan.scalar) {
      for (std::int64_t i = 1; i < plan.size; ++i) total.dgamma[0] += total.dgamma[i];
    }
    put(plan.size > 0 ? total.dgamma : nothing, plan.dgamma);
  }
  if (total.dbeta != nullptr) put(total.dbeta, plan.dbeta);
  if (total.dgate != nullptr) put(total.dgate, plan.dgate);
}

/// A share of the rows; no gradients of parameters are wanted.
void rows_task(Plan& plan, std::int64_t index) noexcept {
  run_rows(plan, parallel::share(plan.rows, plan.tasks, index), {}, plan.scratch_of(index));
}

/// A share of the chunks of one sum. The first task needs one buffer: it adds each of its
/// chunks to the total right away.
void chunks_task(Plan& plan, std::int64_t index) noexcept {
  const kernels::Scratch scratch = plan.scratch_of(index);
  const Range chunks = parallel::share(plan.chunks.count, plan.tasks, index);
  for (std::int64_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    double* sums = plan.chunk_sums + (index == 0 ? 0 : chunk) * plan.sum_elements();
    run_chunk(plan, chunk, sums, scratch);
    if (index == 0) add_to(plan.at(plan.totals), plan.at(sums), plan.size);
  }
}

/// A share of the groups, each with all its chunks.
void groups_task(Plan& shared, std::int64_t index) noexcept {
  Plan plan = shared;
  const kernels::Scratch scratch = plan.scratch_of(index);
  double* total = plan.totals + index * plan.sum_elements();
  double* sums = plan.chunk_sums + index * plan.sum_elements();
  const Range groups = parallel::share(plan.groups, plan.tasks, index);
  for (std::int64_t group = groups.begin; group < groups.end; ++group) {
    plan.first_row = group * plan.rows;
    plan.clear(total);
    for (std::int64_t chunk = 0; chunk < plan.chunks.count; ++chunk) {
      run_chunk(plan, chunk, sums, scratch);
      add_to(plan.at(total), plan.at(sums), plan.size);
    }
    store(plan, group, total);
  }
}

/// One sum after the other, each in parallel.
void run_sums(Plan& plan, Executor& executor) noexcept {
  for (std::int64_t group = 0; group < plan.groups; ++group) {
    plan.first_row = group * plan.rows;
    plan.clear(plan.totals);
    parallel::run_tasks(executor, plan.tasks, &chunks_task, plan);
    const parallel::FpEnvironment environment;
    const std::int64_t first = parallel::share(plan.chunks.count, plan.tasks, 0).end;
    for (std::int64_t chunk = first; chunk < plan.chunks.count; ++chunk) {
      add_to(plan.at(plan.totals), plan.at(plan.chunk_sums + chunk * plan.sum_elements()),
             plan.size);
    }
    store(plan, group, plan.totals);
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
  args.direct = !call.fused && (call.dx.data == nullptr || args.dx.layout.contiguous(args.cols));
  if (call.fused) {
    args.branch.any = true;
    args.branch.dstream = kernel_rows(call, call.dstream);
    args.branch.x = kernel_rows(call, call.branch);
    args.branch.dx = kernel_rows(call, call.dbranch);
    args.branch.gate = kernel_parameter(call.gate);
    args.branch.dropout = kernel_dropout(call.dropout);
  }
  args.exact = context.accuracy() == Accuracy::exact;
  args.stream = parallel::too_large_for_cache(call.rows(), call.cols(), call.x.dtype) &&
                call.dx.data != nullptr && !dx_on_input(call);
  args.statistics = {call.statistics.mean.data,
                     call.statistics.mean_tail.data,
                     call.statistics.rstd.data,
                     call.statistics.exact,
                     nullptr,
                     nullptr};
  return args;
}

Plan plan_of(const BackwardCall& call, const Context& context, const Sharing& sharing) noexcept {
  Plan plan;
  plan.args = arguments(call, context);
  plan.dgamma = call.dgamma;
  plan.dbeta = call.dbeta;
  plan.dgate = call.dgate;
  plan.scalar = call.form.gain == Gain::scalar && sharing.segment == 0;
  plan.groups = sharing.by_group && plan.sums() ? call.x.at.groups : 1;
  plan.rows = plan.groups > 0 ? call.rows() / plan.groups : 0;
  plan.size = sharing.size;
  plan.chunks = Chunks(plan.rows);
  plan.dx_apart = dx_on_input(call);
  plan.row_elements = kernels::Scratch::padded(std::max(call.cols(), sharing.size));
  return plan;
}

}  // namespace

Status run(const BackwardCall& call, Context& context) noexcept {
  const kernels::Target target = kernel_target(context);
  const kernels::BackwardTable& table = *kernels::backward_table(target);
  parallel::OpenMpExecutor openmp(context.threads());
  Executor& executor = context.executor() != nullptr ? *context.executor() : openmp;

  const Sharing sharing = sharing_of(call);
  Plan plan = plan_of(call, context, sharing);
  plan.parameters = kernels::parameter_table(target);
  const std::int64_t width =
      static_cast<std::int64_t>(2 * size_of(call.x.dtype) + size_of(call.dy.dtype));
  const std::int64_t bytes = call.rows() * call.cols() * width;
  const int concurrency = executor.concurrency();
  const bool groups_in_parallel = plan.groups >= std::max(concurrency, 2);
  if (!plan.sums()) {
    plan.tasks = parallel::count_tasks(plan.rows, bytes, concurrency);
  } else if (groups_in_parallel) {
    plan.tasks = parallel::count_tasks(plan.groups, bytes, concurrency);
  } else if (plan.groups > 0) {
    plan.tasks = parallel::count_tasks(plan.chunks.count, bytes / plan.groups, concurrency);
  }
  const std::int64_t buffers = !plan.sums()                           ? 0
                               : groups_in_parallel || plan.tasks < 2 ? plan.tasks
                                                                      : plan.chunks.count;
  WorkspacePlan places(plan.row_elements);
  const std::int64_t affine_place = places.add_rows(kAffineRows);
  const std::int64_t scratch_place = places.add_rows(plan.tasks * kernels::kBackwardScratchRows);
  const std::int64_t totals_place = places.add_rows(
      !plan.sums() ? 0 : plan.sum_rows() * (groups_in_parallel ? plan.tasks : std::int64_t{1}));
  const std::int64_t chunk_place = places.add_rows(plan.sum_rows() * buffers);
  const std::int64_t given_place = places.add(given_elements(call));
  double* workspace = places.reserve(context);
  if (workspace == nullptr && !places.empty()) return places.out_of_memory();

  const DType c = call.compute();
  plan.args.affine =
      prepare_affine(call, sharing, c, target, workspace + affine_place, plan.row_elements);
  plan.args.given = prepare_given(call, target, workspace + given_place);
  plan.scratch = workspace + scratch_place;
  plan.totals = workspace + totals_place;
  plan.chunk_sums = workspace + chunk_place;
  plan.kernel = kernels::at(call.form.centered ? table.centered : table.plain, kernel_type(c),
                            plan.args.direct ? kernel_type(call.x.dtype) : kernel_type(c));
  if (!plan.sums()) {
    parallel::run_tasks(executor, plan.tasks, &rows_task, plan);
  } else if (groups_in_parallel) {
    parallel::run_tasks(executor, plan.tasks, &groups_task, plan);
  } else {
    run_sums(plan, executor);
  }
  ContextAccess::set_last_isa(context, static_cast<Isa>(table.target));
  return {};
}

}  // namespace equinorm
