// Random problems in random executions against the contract, with fixed seeds; a failure prints the
// problem, the execution and the first wrong element.
#include "conformance/random.hpp"
#include "example.hpp"

namespace equinorm::conformance {
namespace {

template <class T>
T pick(std::span<const T> choices, Random& random) {
  return choices[static_cast<std::size_t>(random.bits() % choices.size())];
}

Problem random_problem(Random& random) {
  const std::vector<Kernel> kernels = all_kernels();
  const Kernel kernel = pick(std::span<const Kernel>(kernels), random);
  Problem problem;
  problem.op = kernel.op;
  problem.direction = kernel.direction;
  problem.types.x = kernel.x;
  problem.types.y = kernel.y;
  problem.types.gradient = pick(std::span<const DType>(kAllTypes), random);
  do {
    problem.types.parameter = pick(std::span<const DType>(kAllTypes), random);
  } while (problem.types.parameter == DType::f64 && problem.types.compute() != DType::f64);
  // Small sizes are where edges are; now and then a large one.
  problem.rows = random.bits() % 8 == 0 ? random.integer(0, 300) : random.integer(0, 9);
  problem.cols = random.bits() % 8 == 0 ? random.integer(0, 3000) : random.integer(0, 140);
  problem.family = pick(all_families(), random);
  problem.gamma = random.bits() % 2 == 0;
  problem.beta = random.bits() % 2 == 0 && problem.op == Op::layer_norm &&
                 problem.direction == Direction::forward;
  problem.add_one = problem.gamma && problem.op == Op::rms_norm && random.bits() % 2 == 0;
  problem.eps = random.bits() % 4 == 0 ? 0 : std::exp(60 * (random.uniform() - 0.7));
  problem.accuracy = random.bits() % 4 == 0 ? Accuracy::exact : Accuracy::standard;
  problem.seed = random.bits() % 1000000;
  return problem;
}

Execution random_execution(const Problem& problem, Random& random) {
  Execution execution;
  execution.isa = pick(available_isas(), random);
  execution.threads = static_cast<int>(random.integer(1, 9));
  execution.layout = {static_cast<int>(random.integer(0, 40)), random.integer(0, 40),
                      random.bits() % 4 == 0};
  execution.vector_offset = static_cast<int>(random.integer(0, 40));
  execution.statistics = random.bits() % 2 == 0;
  execution.wanted = {random.bits() % 4 != 0, random.bits() % 4 != 0, random.bits() % 4 != 0};
  if (problem.types.x == problem.types.y && random.bits() % 3 == 0) {
    const bool backward = problem.direction == Direction::backward;
    execution.in_place = backward && random.bits() % 2 == 0 ? InPlace::on_dy : InPlace::on_x;
    execution.wanted.dx = true;
  }
  if (problem.rows > 0 && random.bits() % 4 == 0) {
    execution.only_row = random.integer(0, problem.rows - 1);
  }
  return execution;
}

TEST(Fuzz, RandomCallsGiveTheBitsOfTheContract) {
  const int count = scale_from_environment() == Scale::full ? 4000 : 300;
  Random random(20240229);
  Context context;
  int failures = 0;
  for (int i = 0; i < count && failures < 5; ++i) {
    const Problem problem = random_problem(random);
    const Inputs inputs = make_inputs(problem);
    const Outputs outputs = expected(problem, inputs);
    for (int k = 0; k < 3; ++k) {
      const std::string text =
          compare(problem, inputs, outputs, random_execution(problem, random), context);
      EXPECT_EQ(text, "");
      failures += text.empty() ? 0 : 1;
    }
  }
}

}  // namespace
}  // namespace equinorm::conformance
