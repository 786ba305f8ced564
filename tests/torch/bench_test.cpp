// The benchmark harness: that its contenders agree, that its statistics are right, that its output
// has its structure. Speed itself is never asserted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "bench/core_contenders.hpp"
#include "bench/print.hpp"
#include "bench/run.hpp"
#include "bench/tensors.hpp"
#include "bench/timing.hpp"

namespace equinorm::tests {
namespace {

using bench::Case;
using bench::Contender;
using bench::Direction;
using bench::Op;

std::set<std::string> expected_names(Op op) {
  std::set<std::string> names = {"copy"};
  if (bench::info_of(op).in_core) names.insert("equinorm");
  if (bench::has_torch()) names.insert({"equinorm.torch", "pytorch"});
  return names;
}

void expect_sound(const bench::CaseResult& result) {
  ASSERT_EQ(result.fault, "");
  std::set<std::string> names;
  for (const auto& line : result.contenders) {
    names.insert(line.name);
    EXPECT_EQ(line.outputs,
              line.name == "equinorm.torch" || line.name == "pytorch" ? "fresh" : "reused");
    EXPECT_GE(line.rounds, 5);
    EXPECT_GE(line.calls_per_round, 1);
    EXPECT_GT(line.seconds.lower, 0);
    EXPECT_LE(line.seconds.lower, line.seconds.median);
    EXPECT_LE(line.seconds.median, line.seconds.upper);
    EXPECT_DOUBLE_EQ(line.gb_per_s, static_cast<double>(result.bytes) / line.seconds.median / 1e9);
    const double own = line.name == "copy" ? line.copy_share.median : 1;
    EXPECT_EQ(own, 1);
    if (line.name == result.baseline) {
      EXPECT_EQ(line.time_ratio.upper, 1);
    }
  }
  EXPECT_EQ(names, expected_names(result.what.op));
}

/// Cases of every operator that this build can run.
template <class Body>
void for_each_case(Body body) {
  int threads = 1;
  for (const bench::OpInfo& op : bench::kOps) {
    if (!op.in_core && !bench::has_torch()) continue;
    for (const auto direction : {Direction::forward, Direction::backward, Direction::both}) {
      for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        SCOPED_TRACE(::testing::Message() << op.name << " " << name_of(direction) << " "
                                          << equinorm::name_of(dtype) << " " << threads);
        body(Case{op.op, direction, dtype, 36, 65, threads});
        threads = 3 - threads;
      }
      threads = 3 - threads;  // so that every type meets both counts
    }
  }
}

TEST(Bench, EveryCaseAgreesAndReports) {
  for_each_case([](const Case& c) { expect_sound(bench::run_case(c, 0)); });
}

TEST(Bench, PyTorchRunsTheSameOperator) {
  if (!bench::has_torch()) GTEST_SKIP() << "built without LibTorch";
  for_each_case([](const Case& c) {
    if (c.dtype != DType::f64) return;
    std::map<std::string, std::vector<double>> results;
    const bench::Tensors tensors = bench::make_tensors(c);
    for (const Contender& contender : bench::contenders_of(c, tensors)) {
      contender.call();
      const auto bytes = contender.result();
      auto& values = results[contender.name];
      values.resize(bytes.size() / sizeof(double));
      std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    const auto& ours = results["equinorm.torch"];
    const auto& theirs = results["pytorch"];
    ASSERT_EQ(ours.size(), static_cast<std::size_t>(c.rows * c.cols));
    ASSERT_EQ(theirs.size(), ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      // Another operator is off by far more, another rounding by far less.
      ASSERT_NEAR(ours[i], theirs[i], 1e-9) << i;
    }
  });
}

TEST(Bench, BytesCountEachTensorOnce) {
  const Case forward{Op::layer_norm, Direction::forward, DType::f32, 4096, 1024, 1};
  EXPECT_EQ(bytes_moved(forward), 2 * 4096 * 1024 * 4);
  Case both = forward;
  both.direction = Direction::both;
  both.dtype = DType::bf16;
  EXPECT_EQ(bytes_moved(both), 5 * 4096 * 1024 * 2);
}

TEST(Bench, TheCopyMovesItsSource) {
  for (const int threads : {1, 2, 7}) {
    const Case odd{Op::rms_norm, Direction::forward, DType::f32, 3, 37, threads};
    const auto copy = bench::copy_contender(odd);
    const auto nonzero = [&] {
      const auto difference = copy.result();
      return difference.size() - static_cast<std::size_t>(std::count(
                                     difference.begin(), difference.end(), std::byte{0}));
    };
    EXPECT_GT(nonzero(), 0u);
    copy.call();
    EXPECT_EQ(nonzero(), 0u);
  }
}

Contender fake(const std::string& name, unsigned char value) {
  return {name, "reused", [] {}, [value] { return std::vector<std::byte>{std::byte{value}}; }};
}

TEST(Bench, AWrongResultIsFound) {
  EXPECT_EQ(bench::find_fault({fake("equinorm", 5), fake("equinorm.torch", 5), fake("pytorch", 6),
                               fake("copy", 0)}),
            "");
  EXPECT_NE(bench::find_fault({fake("equinorm", 5), fake("equinorm.torch", 4)}), "");
  EXPECT_NE(bench::find_fault({fake("equinorm", 5), fake("copy", 1)}), "");
}

TEST(Bench, QuartilesInterpolate) {
  const auto q = bench::quartiles({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(q.lower, 1.75);
  EXPECT_DOUBLE_EQ(q.median, 2.5);
  EXPECT_DOUBLE_EQ(q.upper, 3.25);
  EXPECT_EQ(bench::quartiles({7}).median, 7);
}

TEST(Bench, RatiosPairTheRoundsOfOneMoment) {
  // The machine slowed down tenfold in between; the ratio did not change.
  const bench::Timing slow{1, {2, 20, 200}};
  const bench::Timing fast{1, {1, 10, 100}};
  EXPECT_EQ(bench::ratio(slow, fast).lower, 2);
  EXPECT_EQ(bench::ratio(slow, fast).upper, 2);
}

TEST(Bench, EveryRoundRunsEachContenderAndRotatesTheOrder) {
  std::vector<int> order;
  std::vector<Contender> contenders;
  for (int i = 0; i < 3; ++i) {
    contenders.push_back({std::to_string(i),
                          "reused",
                          [&order, i] {
                            if (order.empty() || order.back() != i) order.push_back(i);
                          },
                          {}});
  }
  const auto timings = bench::time_alternating(contenders, 0);
  const std::vector<int> expected = {0, 1, 2,           // calibration
                                     0, 1, 2, 1, 2, 0,  // the rounds
                                     2, 0, 1, 0, 1, 2, 1, 2, 0};
  // Where a round ends with the contender that begins the next, the record shows it once.
  std::vector<int> merged;
  for (const int i : expected) {
    if (merged.empty() || merged.back() != i) merged.push_back(i);
  }
  EXPECT_EQ(order, merged);
  for (const auto& timing : timings) EXPECT_EQ(timing.seconds.size(), 5u);
}

TEST(Bench, TheJsonDocumentHoldsEverything) {
  const auto result = bench::run_case({Op::rms_norm, Direction::both, DType::bf16, 8, 16, 1}, 0.01);
  const auto json = nlohmann::json::parse(bench::json_of({{"isa.chosen", "avx2"}}, 0.01, {result}));
  EXPECT_EQ(json["environment"]["isa.chosen"], "avx2");
  EXPECT_EQ(json["seconds_per_case"], 0.01);
  EXPECT_EQ(json["absent"].is_null(), bench::has_torch());
  ASSERT_EQ(json["cases"].size(), 1u);
  const auto& one = json["cases"][0];
  EXPECT_EQ(one["op"], "rms_norm");
  EXPECT_EQ(one["direction"], "fwd+bwd");
  EXPECT_EQ(one["dtype"], "bf16");
  EXPECT_EQ(one["rows"], 8);
  EXPECT_EQ(one["cols"], 16);
  EXPECT_EQ(one["bytes"], 5 * 8 * 16 * 2);
  EXPECT_TRUE(one["fault"].is_null());
  ASSERT_EQ(one["contenders"].size(), expected_names(Op::rms_norm).size());
  for (const auto& line : one["contenders"]) {
    for (const char* key : {"seconds", "copy_share", "time_ratio"}) {
      EXPECT_TRUE(line[key]["median"].is_number()) << key;
    }
  }
}

TEST(Bench, TheTextNamesMachineAndContenders) {
  const std::string header =
      bench::text_header({{"machine.cpu", "Some CPU"}, {"build.torch", "2.13.0"}});
  EXPECT_NE(header.find("Some CPU"), std::string::npos);
  EXPECT_EQ(header.find("are absent") == std::string::npos, bench::has_torch());
  bench::CaseResult result{
      {Op::layer_norm, Direction::forward, DType::f32, 2, 3, 1}, 48, "", {}, ""};
  result.contenders.push_back({"somebody", "fresh", 1, 5, {1e-6, 2e-6, 3e-6}, 4, {}, {1, 1, 1}});
  const std::string text = bench::text_of(result);
  EXPECT_NE(text.find("layer_norm fwd f32 2x3, 1 thread,"), std::string::npos) << text;
  EXPECT_NE(text.find("2.00 [1.00 3.00]"), std::string::npos) << text;
  result.fault = "all of it";
  EXPECT_NE(bench::text_of(result).find("WRONG: all of it"), std::string::npos);
}

}  // namespace
}  // namespace equinorm::tests
