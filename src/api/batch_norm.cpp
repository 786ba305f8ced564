// BatchNorm: a row per channel, running statistics, masks.
//
// The trap: a mask takes columns away after the arrangement has been checked with all of them.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "aligned.h"
#include "arrangements.h"
#include "kernels/kernel_table.h"
#include "overlap.h"
#include "parallel/fp_environment.h"
#include "return_if_bad.h"

namespace equinorm {
namespace {

constexpr ViewNames kX = EQUINORM_IMAGE_NAMES("x");
constexpr ViewNames kY = EQUINORM_IMAGE_NAMES("y");
constexpr ViewNames kDy = EQUINORM_IMAGE_NAMES("dy");
constexpr ViewNames kDx = EQUINORM_IMAGE_NAMES("dx");
constexpr ViewNames kGamma = EQUINORM_VIEW_NAMES("gamma");
constexpr ViewNames kBeta = EQUINORM_VIEW_NAMES("beta");
constexpr ViewNames kDgamma = EQUINORM_VIEW_NAMES("dgamma");
constexpr ViewNames kDbeta = EQUINORM_VIEW_NAMES("dbeta");
constexpr ViewNames kRunningMean = EQUINORM_VIEW_NAMES("running_mean");
constexpr ViewNames kRunningVariance = EQUINORM_VIEW_NAMES("running_variance");
constexpr const char* kMask = "options.mask";
constexpr const char* kChannels = "must equal x.channels";

template <class T>
using Array = std::unique_ptr<T[]>;

ConstGroupedVector by_channel(const ConstVector& v) noexcept { return {v.data, v.dtype, 1, 1}; }
GroupedVector by_channel(const Vector& v) noexcept { return {v.data, v.dtype, 1, 1}; }

Status check_channels(const ConstVector& v, const ConstImages& x, const ViewNames& names) noexcept {
  return check_vector(v, x.channels, kChannels, names);
}

/// Steps of the running statistics: 1, or per position as many as there are rows of channels.
std::int64_t steps_of(const ConstVector& v, const ConstImages& x,
                      const BatchNormOptions& options) noexcept {
  if (!options.per_position || x.channels == 0) return 1;
  return v.size / x.channels;
}

Status check_running(const ConstVector& mean, const ConstVector& variance, const ConstImages& x,
                     const BatchNormOptions& options, DType c) noexcept {
  const bool needed = !options.training && x.channels > 0;
  for (const auto& [v, names] : {std::pair(&mean, &kRunningMean), {&variance, &kRunningVariance}}) {
    const bool other = mean.data != nullptr || variance.data != nullptr;
    if (v->data == nullptr && (needed || other)) {
      return invalid(names->data, Value("null"),
                     "must be given outside training, and both or none in training");
    }
    if (v->data == nullptr) continue;
    std::int64_t size = x.channels;
    if (options.per_position && x.channels > 0) {
      if (v->size < x.channels || v->size % x.channels != 0 || v->size != mean.size) {
        return invalid(names->size, Value(v->size),
                       "must be a multiple of x.channels, the same for both");
      }
      size = v->size;
    }
    EQUINORM_RETURN_IF_BAD(check_vector(*v, size, kChannels, *names));
    EQUINORM_RETURN_IF_BAD(check_parameter_type(v->data, v->dtype, c, *names));
  }
  return {};
}

/// Running statistics and the mask overlap no output, and what is written of them nothing at all.
Status check_overlap(const BatchNormForward& args) noexcept {
  Regions regions;
  regions.add_output({kY.name, ConstGroupedRows(arranged(args.y, as_they_are(args.y)))});
  for (const auto& [v, names] : {std::pair(&args.running_mean, &kRunningMean),
                                 {&args.running_variance, &kRunningVariance}}) {
    args.options.training ? regions.add_output({names->name, *v})
                          : regions.add_input({names->name, *v});
  }
  const ConstGroupedRows x = arranged(args.x, as_they_are(args.x));
  regions.add_input({kX.name, x});
  regions.add_input({kGamma.name, args.gamma});
  regions.add_input({kBeta.name, args.beta});
  regions.add_input({kMask, args.options.mask, args.x.samples * args.x.positions});
  if (identical(arranged(args.y, as_they_are(args.y)), x)) regions.allow(kY.name, kX.name);
  return regions.check();
}

Status check_overlap(const BatchNormBackward& args) noexcept {
  Regions regions;
  if (args.dx.data != nullptr) {
    regions.add_output({kDx.name, ConstGroupedRows(arranged(args.dx, as_they_are(args.dx)))});
  }
  regions.add_output({kDgamma.name, args.dgamma});
  regions.add_output({kDbeta.name, args.dbeta});
  regions.add_input({kRunningMean.name, args.running_mean});
  regions.add_input({kRunningVariance.name, args.running_variance});
  regions.add_input({kMask, args.options.mask, args.x.samples * args.x.positions});
  return regions.check();
}

Status check_options(const BatchNormOptions& options, double momentum) noexcept {
  if (!(momentum >= 0 && momentum <= 1)) {
    return invalid("momentum", Value(momentum), "must be at least 0 and at most 1");
  }
  if (options.per_position && options.mask != nullptr) {
    return invalid("options.mask", Value("not null"), "must be null with per_position");
  }
  return {};
}

/// The columns that count.
class RealColumns {
 public:
  /// False where there is no memory.
  bool find(const ConstImages& x, const std::uint8_t* mask) noexcept {
    if (mask == nullptr) return true;
    const std::int64_t all = x.samples * x.positions;
    index_.reset(new (std::nothrow) std::int64_t[static_cast<std::size_t>(all) + 1]);
    if (index_ == nullptr) return false;
    for (std::int64_t i = 0; i < all; ++i) {
      if (mask[i] != 0) index_[count_++] = i;
    }
    return true;
  }

  void restrict(NormCall& call) const noexcept {
    call.column_index = index_.get();
    keep_runs(call.x.at);
  }

  void keep_runs(Arrangement& at) const noexcept {
    if (index_ == nullptr) return;
    if (at.run == 0) at.run = at.cols;
    at.cols = count_;
  }

 private:
  Array<std::int64_t> index_;
  std::int64_t count_ = 0;
};

/// Elements that a mask takes away, in bytes that mean 0 in every type.
void clear_masked(const Images& y, const std::uint8_t* mask) noexcept {
  if (mask == nullptr) return;
  const auto size = static_cast<std::int64_t>(size_of(y.dtype));
  char* data = static_cast<char*>(y.data);
  for (std::int64_t n = 0; n < y.samples; ++n) {
    for (std::int64_t s = 0; s < y.positions; ++s) {
      if (mask[n * y.positions + s] != 0) continue;
      char* at = data + (n * y.sample_stride + s * y.position_stride) * size;
      for (std::int64_t c = 0; c < y.channels; ++c) {
        std::fill_n(at + c * y.channel_stride * size, size, '\0');
      }
    }
  }
}

/// Running statistics in f64, one per row of the call, for evaluation per position.
class RunningRows {
 public:
  bool widen(const ConstVector& mean, const ConstVector& variance, const ConstImages& x,
             const BatchNormOptions& options, kernels::Target target) noexcept {
    const std::int64_t rows = x.channels * x.positions;
    const std::int64_t steps = steps_of(mean, x, options);
    rows_ = rows;
    values_.reset(new (std::nothrow) double[static_cast<std::size_t>(2 * rows) + 1]);
    const AlignedDoubles place = aligned_doubles(mean.size);
    if (values_ == nullptr || place == nullptr) return false;
    double* wide = place.get();
    double* to = values_.get();
    for (const ConstVector* v : {&mean, &variance}) {
      const parallel::FpEnvironment environment;
      kernels::parameter_table(target)->to_f64[static_cast<int>(v->dtype)](v->data, v->size, wide);
      for (std::int64_t c = 0; c < x.channels; ++c) {
        for (std::int64_t t = 0; t < x.positions; ++t) {
          *to++ = wide[std::min(t, steps - 1) * x.channels + c];
        }
      }
    }
    return true;
  }

  [[nodiscard]] GivenStatistics given() const noexcept {
    return {{values_.get(), DType::f64, rows_}, {values_.get() + rows_, DType::f64, rows_}};
  }

 private:
  Array<double> values_;
  std::int64_t rows_ = 0;
};

/// One running number; not inlined, so that its arithmetic stays where it is called.
[[gnu::noinline]] double moved(double old, double batch, std::int64_t count,
                               double momentum) noexcept {
  const auto n = static_cast<double>(count);
  const double unbiased = count > 1 ? batch * (n / (n - 1)) : batch;
  return (1 - momentum) * old + momentum * unbiased;
}

/// running = (1 - momentum) * running + momentum * new, for each row of the batch's statistics; a
/// variance is that of `count` elements, a mean has count 0.
void update(const Vector& running, const double* batch, std::int64_t count, double momentum,
            std::int64_t channels, std::int64_t rows, kernels::Target target) noexcept {
  const parallel::FpEnvironment environment;
  const kernels::ParameterTable& table = *kernels::parameter_table(target);
  const auto size = static_cast<std::int64_t>(size_of(running.dtype));
  const std::int64_t steps = channels > 0 ? std::min(running.size / channels, rows) : 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t c = 0; c < channels; ++c) {
      alignas(64) double old[64];  // a whole number of vectors
      char* at = static_cast<char*>(running.data) + (t * channels + c) * size;
      const int type = static_cast<int>(running.dtype);
      table.to_f64[type](at, 1, old);
      old[0] = moved(old[0], batch[c * rows + t], count, momentum);
      table.from_f64[type](old, 1, at);
    }
  }
}

}  // namespace

Status batch_norm_forward(const BatchNormForward& args, Context& context) noexcept {
  const BatchNormOptions& options = args.options;
  const ConstImages& x = args.x;
  const kernels::Target target = kernel_target(context);
  EQUINORM_RETURN_IF_BAD(check_images(x, kX));
  EQUINORM_RETURN_IF_BAD(check_images(args.y, x, kY));
  EQUINORM_RETURN_IF_BAD(check_options(options, args.momentum));
  EQUINORM_RETURN_IF_BAD(check_channels(args.gamma, x, kGamma));
  EQUINORM_RETURN_IF_BAD(check_channels(args.beta, x, kBeta));
  EQUINORM_RETURN_IF_BAD(check_running(args.running_mean, args.running_variance, x, options,
                                       compute_type(x.dtype, args.y.dtype)));
  ForwardCall call;
  call.form.eps = options.eps;
  call.x = arranged(x, by_channel(x, options.per_position));
  call.y = arranged(args.y, by_channel(args.y, options.per_position));
  call.gamma = by_channel(args.gamma);
  call.beta = by_channel(args.beta);
  if (!options.training && !options.per_position) {
    call.given = {args.running_mean, args.running_variance};
  }
  EQUINORM_RETURN_IF_BAD(check_call(call));
  EQUINORM_RETURN_IF_BAD(check_overlap(args));

  RealColumns columns;
  RunningRows running;
  Array<double> statistics;
  const std::int64_t rows = call.rows();
  const bool record = options.training && args.running_mean.data != nullptr;
  if (!columns.find(x, options.mask)) return no_memory();
  if (!options.training && options.per_position) {
    if (!running.widen(args.running_mean, args.running_variance, x, options, target)) {
      return no_memory();
    }
    call.given = running.given();
  }
  if (record) {
    statistics.reset(new (std::nothrow) double[static_cast<std::size_t>(2 * rows) + 1]);
    if (statistics == nullptr) return no_memory();
    call.mean = {statistics.get(), DType::f64, rows};
    call.variance = {statistics.get() + rows, DType::f64, rows};
  }
  columns.restrict(call);
  columns.keep_runs(call.y.at);
  EQUINORM_RETURN_IF_BAD(run(call, context));
  clear_masked(args.y, options.mask);
  if (record && call.cols() > 0) {
    const std::int64_t each = call.x.at.rows;
    update(args.running_mean, statistics.get(), 0, args.momentum, x.channels, each, target);
    update(args.running_variance, statistics.get() + rows, call.cols(), args.momentum, x.channels,
           each, target);
  }
  return {};
}

Status batch_norm_backward(const BatchNormBackward& args, Context& context) noexcept {
  const BatchNormOptions& options = args.options;
  const ConstImages& x = args.x;
  EQUINORM_RETURN_IF_BAD(check_images(x, kX));
  EQUINORM_RETURN_IF_BAD(check_images(args.dy, x, kDy));
  if (args.dx.data != nullptr) EQUINORM_RETURN_IF_BAD(check_images(args.dx, x, kDx));
  EQUINORM_RETURN_IF_BAD(check_options(options, 0));
  EQUINORM_RETURN_IF_BAD(check_channels(args.gamma, x, kGamma));
  EQUINORM_RETURN_IF_BAD(check_channels(args.dgamma, x, kDgamma));
  EQUINORM_RETURN_IF_BAD(check_channels(args.dbeta, x, kDbeta));
  EQUINORM_RETURN_IF_BAD(check_running(args.running_mean, args.running_variance, x, options,
                                       compute_type(x.dtype, args.dy.dtype)));
  BackwardCall call;
  call.form.eps = options.eps;
  call.dy = arranged(args.dy, by_channel(args.dy, options.per_position));
  call.x = arranged(x, by_channel(x, options.per_position));
  if (args.dx.data != nullptr) {
    call.dx = arranged(args.dx, by_channel(args.dx, options.per_position));
  }
  call.gamma = by_channel(args.gamma);
  call.dgamma = by_channel(args.dgamma);
  call.dbeta = by_channel(args.dbeta);
  if (!options.training && !options.per_position) {
    call.given = {args.running_mean, args.running_variance};
  }
  EQUINORM_RETURN_IF_BAD(check_call(call));
  EQUINORM_RETURN_IF_BAD(check_overlap(args));

  RealColumns columns;
  RunningRows running;
  if (!columns.find(x, options.mask)) return no_memory();
  if (!options.training && options.per_position) {
    if (!running.widen(args.running_mean, args.running_variance, x, options,
                       kernel_target(context))) {
      return no_memory();
    }
    call.given = running.given();
  }
  columns.restrict(call);
  columns.keep_runs(call.dy.at);
  columns.keep_runs(call.dx.at);
  EQUINORM_RETURN_IF_BAD(run(call, context));
  if (args.dx.data != nullptr) clear_masked(args.dx, options.mask);
  return {};
}

}  // namespace equinorm
