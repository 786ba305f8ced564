// Every bad argument gets a Status that names it, its value and its rule, and no output changes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "support.hpp"

namespace equinorm::test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

template <class Args>
struct Bad {
  const char* what;
  void (*spoil)(Args&, Problem&);
  const char* argument;
  const char* value;
  const char* rule;  ///< part of it
};

template <class Args, class Make, class Run>
void expect_refused(const std::vector<Bad<Args>>& cases, Make make, Run run) {
  for (const auto& bad : cases) {
    SCOPED_TRACE(bad.what);
    Problem p(5, 40);
    Args args = make(p);
    bad.spoil(args, p);
    const auto outputs = p.output_bytes();
    const auto inputs = p.input_bytes();
    Context context;
    const Status status = run(args, context);
    EXPECT_EQ(status.code, StatusCode::invalid_argument);
    EXPECT_STREQ(status.argument, bad.argument);
    EXPECT_STREQ(status.value, bad.value);
    EXPECT_NE(std::string(status.rule).find(bad.rule), std::string::npos) << status.rule;
    EXPECT_EQ(p.output_bytes(), outputs);
    EXPECT_EQ(p.input_bytes(), inputs);
  }
}

/// What forward and backward of both operators check alike.
template <class Args>
std::vector<Bad<Args>> common_cases() {
  using A = Args&;
  using P = Problem&;
  return {
      {"null x", [](A a, P) { a.x.data = nullptr; }, "x.data", "null", "must point to data"},
      {"odd x", [](A a, P) { a.x.data = static_cast<const char*>(a.x.data) + 1; }, "x.data",
       "misaligned", "aligned to its element size"},
      {"type of x", [](A a, P) { a.x.dtype = static_cast<DType>(9); }, "x.dtype", "9",
       "f64, f32, f16 or bf16"},
      {"negative rows", [](A a, P) { a.x.rows = -1; }, "x.rows", "-1", "at least 0"},
      {"negative cols", [](A a, P) { a.x.cols = -2; }, "x.cols", "-2", "at least 0"},
      {"cols too large", [](A a, P) { a.x.cols = kMost / 2; }, "x.cols", "4611686018427387903",
       "64-bit byte addresses"},
      {"stride too large", [](A a, P) { a.x.row_stride = kMost / 8; }, "x.row_stride",
       "1152921504606846975", "64-bit byte addresses"},
      {"stride too negative",
       [](A a, P) { a.x.row_stride = std::numeric_limits<std::int64_t>::min(); }, "x.row_stride",
       "-9223372036854775808", "64-bit byte addresses"},
      {"rows times cols too large",
       [](A a, P) {
         a.x.rows = kMost / 8;
         a.x.row_stride = 0;
       },
       "x.rows", "1152921504606846975", "64-bit byte addresses"},
      {"size of gamma", [](A a, P) { a.gamma.size = 41; }, "gamma.size", "41", "must equal x.cols"},
      {"type of gamma", [](A a, P) { a.gamma.dtype = static_cast<DType>(4); }, "gamma.dtype", "4",
       "f64, f32, f16 or bf16"},
      {"gamma too wide", [](A a, P) { a.gamma.dtype = DType::f64; }, "gamma.dtype", "f64",
       "compute type"},
      {"odd gamma", [](A a, P) { a.gamma.data = static_cast<const char*>(a.gamma.data) + 2; },
       "gamma.data", "misaligned", "aligned to its element size"},
      {"negative eps", [](A a, P) { a.eps = -1; }, "eps", "-1", "finite and at least 0"},
      {"NaN eps", [](A a, P) { a.eps = std::nan(""); }, "eps", "nan", "finite and at least 0"},
      {"infinite eps", [](A a, P) { a.eps = HUGE_VAL; }, "eps", "inf", "finite and at least 0"},
      {"part of the statistics",
       [](A a, P p) {
         a.statistics.rstd = Problem::vector_of(p.rstd);
         a.statistics.exact = nullptr;
       },
       "statistics.exact", "null", "all or none"},
      {"size of rstd",
       [](A a, P p) {
         a.statistics.rstd = Problem::vector_of(p.rstd);
         a.statistics.rstd.size = 4;
       },
       "statistics.rstd.size", "4", "must equal x.rows"},
      {"type of rstd",
       [](A a, P p) {
         a.statistics.rstd = Problem::vector_of(p.rstd);
         a.statistics.rstd.dtype = DType::bf16;
       },
       "statistics.rstd.dtype", "bf16", "must be the compute type"},
  };
}

template <class Args>
std::vector<Bad<Args>> with_forward_cases() {
  using A = Args&;
  using P = Problem&;
  auto cases = common_cases<Args>();
  const std::vector<Bad<Args>> more = {
      {"null y", [](A a, P) { a.y.data = nullptr; }, "y.data", "null", "must point to data"},
      {"type of y", [](A a, P) { a.y.dtype = static_cast<DType>(200); }, "y.dtype", "200",
       "f64, f32, f16 or bf16"},
      {"rows of y", [](A a, P) { a.y.rows = 4; }, "y.rows", "4", "must equal x.rows"},
      {"cols of y", [](A a, P) { a.y.cols = 39; }, "y.cols", "39", "must equal x.cols"},
      {"y's rows overlap", [](A a, P) { a.y.row_stride = 39; }, "y.row_stride", "39",
       "rows do not overlap"},
      {"y's rows overlap backwards", [](A a, P) { a.y.row_stride = -39; }, "y.row_stride", "-39",
       "rows do not overlap"},
      {"y is one row", [](A a, P) { a.y.row_stride = 0; }, "y.row_stride", "0",
       "rows do not overlap"},
      {"y is x one element on", [](A a, P p) { a.y.data = p.x.data() + 1; }, "y", "overlaps x",
       "must not overlap"},
      {"y on gamma", [](A a, P p) { a.gamma.data = p.y.data() + 10; }, "y", "overlaps gamma",
       "must not overlap"},
      {"statistics on y", [](A a, P p) { a.statistics.rstd.data = p.y.data(); }, "y",
       "overlaps statistics.rstd", "must not overlap"},
      {"flags on x",
       [](A a, P p) { a.statistics.exact = reinterpret_cast<std::uint8_t*>(p.x.data()); },
       "statistics.exact", "overlaps x", "must not overlap"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

template <class Args>
std::vector<Bad<Args>> with_backward_cases() {
  using A = Args&;
  using P = Problem&;
  auto cases = common_cases<Args>();
  const std::vector<Bad<Args>> more = {
      {"null dy", [](A a, P) { a.dy.data = nullptr; }, "dy.data", "null", "must point to data"},
      {"rows of dy", [](A a, P) { a.dy.rows = 6; }, "dy.rows", "6", "must equal x.rows"},
      {"cols of dy", [](A a, P) { a.dy.cols = 41; }, "dy.cols", "41", "must equal x.cols"},
      {"type of dy", [](A a, P) { a.dy.dtype = static_cast<DType>(5); }, "dy.dtype", "5",
       "f64, f32, f16 or bf16"},
      {"rows of dx", [](A a, P) { a.dx.rows = 4; }, "dx.rows", "4", "must equal x.rows"},
      {"type of dx", [](A a, P) { a.dx.dtype = DType::bf16; }, "dx.dtype", "bf16",
       "must equal x.dtype"},
      {"dx's rows overlap", [](A a, P) { a.dx.row_stride = 1; }, "dx.row_stride", "1",
       "rows do not overlap"},
      {"dx is dy one row on",
       [](A a, P p) {
         a.dx.data = p.dy.data() + 40;
         a.dx.rows = a.dy.rows = a.x.rows = 4;
         a.statistics = {};
       },
       "dx", "overlaps dy", "must not overlap"},
      {"size of dgamma", [](A a, P) { a.dgamma.size = 0; }, "dgamma.size", "0",
       "must equal x.cols"},
      {"type of dgamma", [](A a, P) { a.dgamma.dtype = static_cast<DType>(77); }, "dgamma.dtype",
       "77", "f64, f32, f16 or bf16"},
      {"dgamma on gamma", [](A a, P p) { a.dgamma.data = p.gamma.data(); }, "dgamma",
       "overlaps gamma", "must not overlap"},
      {"dgamma on dx", [](A a, P p) { a.dgamma.data = p.dx.data() + 160; }, "dx", "overlaps dgamma",
       "must not overlap"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

TEST(LayerNormForward, RefusesEveryBadArgumentAndTouchesNoOutput) {
  using A = LayerNormForward&;
  auto cases = with_forward_cases<LayerNormForward>();
  cases.push_back({"size of beta", [](A a, Problem&) { a.beta.size = 1; }, "beta.size", "1",
                   "must equal x.cols"});
  cases.push_back({"beta too wide", [](A a, Problem&) { a.beta.dtype = DType::f64; }, "beta.dtype",
                   "f64", "compute type"});
  cases.push_back({"no mean", [](A a, Problem&) { a.statistics.mean.data = nullptr; },
                   "statistics.mean.data", "null", "all or none"});
  cases.push_back({"no tail", [](A a, Problem&) { a.statistics.mean_tail.data = nullptr; },
                   "statistics.mean_tail.data", "null", "all or none"});
  cases.push_back({"one vector twice",
                   [](A a, Problem&) { a.statistics.mean_tail.data = a.statistics.mean.data; },
                   "statistics.mean", "overlaps statistics.mean_tail", "must not overlap"});
  expect_refused(
      cases, [](Problem& p) { return p.layer_forward(); }, layer_norm_forward);
}

TEST(RmsNormForward, RefusesEveryBadArgumentAndTouchesNoOutput) {
  auto cases = with_forward_cases<RmsNormForward>();
  cases.push_back({"1 + nothing",
                   [](RmsNormForward& a, Problem&) {
                     a.add_one = true;
                     a.gamma = {};
                   },
                   "add_one", "true", "needs gamma"});
  expect_refused(
      cases, [](Problem& p) { return p.rms_forward(); }, rms_norm_forward);
}

TEST(LayerNormBackward, RefusesEveryBadArgumentAndTouchesNoOutput) {
  using A = LayerNormBackward&;
  // Parts of the statistics are missing one by one, so the common cases must not meet a null mean.
  const auto make = [](Problem& p) {
    LayerNormBackward args = p.layer_backward();
    args.statistics = p.layer_statistics();
    return args;
  };
  auto cases = with_backward_cases<LayerNormBackward>();
  cases.push_back({"size of dbeta", [](A a, Problem&) { a.dbeta.size = 39; }, "dbeta.size", "39",
                   "must equal x.cols"});
  cases.push_back({"dbeta on dgamma", [](A a, Problem&) { a.dbeta.data = a.dgamma.data; }, "dgamma",
                   "overlaps dbeta", "must not overlap"});
  cases.push_back(
      {"dbeta on the statistics",
       [](A a, Problem&) { a.dbeta.data = static_cast<float*>(a.statistics.mean.data); }, "dbeta",
       "overlaps statistics.mean", "must not overlap"});
  expect_refused(cases, make, layer_norm_backward);
}

TEST(RmsNormBackward, RefusesEveryBadArgumentAndTouchesNoOutput) {
  auto cases = with_backward_cases<RmsNormBackward>();
  cases.push_back({"1 + nothing",
                   [](RmsNormBackward& a, Problem&) {
                     a.add_one = true;
                     a.gamma = {};
                   },
                   "add_one", "true", "needs gamma"});
  expect_refused(
      cases, [](Problem& p) { return p.rms_backward(); }, rms_norm_backward);
}

TEST(Context, RefusesThreadCountsOutsideItsRange) {
  Context context;
  const int before = context.threads();
  for (const int threads : {-1, 0, 4097}) {
    const Status status = context.set_threads(threads);
    EXPECT_EQ(status.code, StatusCode::invalid_argument);
    EXPECT_STREQ(status.argument, "threads");
    EXPECT_EQ(status.value, std::to_string(threads));
    EXPECT_EQ(context.threads(), before);
  }
  EXPECT_TRUE(context.set_threads(4096).ok());
}

TEST(Workspace, ThatCannotBeAllocatedIsReported) {
  // One row of 2^58 elements at made-up addresses: never read, because scratch rows for it exceed
  // any memory.
  RmsNormForward args;
  args.x.rows = args.y.rows = 1;
  args.x.cols = args.y.cols = std::int64_t{1} << 58;
  args.x.data = reinterpret_cast<const void*>(std::uintptr_t{64});
  args.y.data = reinterpret_cast<void*>((std::uintptr_t{1} << 61) + 64);
  Context context;
  const Status status = rms_norm_forward(args, context);
  EXPECT_EQ(status.code, StatusCode::out_of_memory);
  EXPECT_STREQ(status.argument, "x.cols");
}

TEST(Status, IsDescribedInOneLine) {
  Problem p(2, 3);
  RmsNormForward args = p.rms_forward();
  args.eps = -1;
  Context context;
  const Status status = rms_norm_forward(args, context);
  EXPECT_EQ(describe(status), "invalid argument: eps = -1: must be finite and at least 0");
  EXPECT_EQ(describe(Status{}), "ok");
  EXPECT_THROW(check(status), Error);
}

}  // namespace
}  // namespace equinorm::test
