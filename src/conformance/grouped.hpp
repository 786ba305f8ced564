// Problems of grouped_norm: the same rows in any arrangement, with parameters of groups and given
// statistics. What is computed is a GroupedProblem; where it lies in memory is an Order, and must
// not matter.
//
// The one trap: inputs and outputs are kept in logical order, group by group and row by row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/bounds.hpp"
#include "conformance/execution.hpp"
#include "equinorm/grouped_norm.hpp"

namespace equinorm::conformance {

struct GroupedProblem {
  Problem base;  ///< form, types, kind of input; rows and cols are those below
  std::int64_t groups = 1;
  std::int64_t rows = 1;  ///< of each group
  std::int64_t cols = 1;
  std::int64_t size = 1;  ///< parameters of a group, a divisor of cols
  bool shared = false;    ///< all groups share them; size is cols
  bool given = false;     ///< mean and variance are given

  [[nodiscard]] std::int64_t all_rows() const { return groups * rows; }
  [[nodiscard]] std::int64_t parameters() const { return (shared ? 1 : groups) * size; }
};

std::string describe(const GroupedProblem& problem);

struct GroupedInputs {
  std::vector<double> x;
  std::vector<double> dy;
  std::vector<double> gamma;
  std::vector<double> beta;
  std::vector<double> mean;
  std::vector<double> variance;
};
GroupedInputs make_inputs(const GroupedProblem& problem);

/// The axes of memory from the slowest to the fastest: 0 groups, 1 rows, 2 runs, 3 columns of a
/// run; `gap` unused elements behind the last of each.
struct Order {
  std::array<int, 4> axes = {0, 1, 2, 3};
  std::int64_t gap = 0;
};
/// Order number `turn` of all 24, taken round and round.
Order order_of(int turn);

struct GroupedExecution {
  Isa isa = Isa::portable;
  int threads = 1;
  Order order;
  bool in_place = false;
  Wanted wanted;
};

/// y, mean and variance, or dx, dgamma and dbeta, as the contract oracle gives them.
Outputs expected(const GroupedProblem& problem, const GroupedInputs& inputs);

/// What the public interface gives; nothing where it reports an error.
std::optional<Outputs> run(const GroupedProblem& problem, const GroupedInputs& inputs,
                           const GroupedExecution& execution, Context& context);

/// "" where the public interface gives these bits, leaves the inputs alone and writes nothing else.
std::string compare(const GroupedProblem& problem, const GroupedInputs& inputs,
                    const Outputs& expected, const GroupedExecution& execution, Context& context);

/// The bound of an output; dgamma and dbeta of columns that share parameters have their own.
Bound bound_of(Output output, const GroupedProblem& problem);

#if EQUINORM_HAS_TRUTH
/// The exact results of a problem, to hold any number of outputs against.
class GroupedYardstick {
 public:
  GroupedYardstick(const GroupedProblem& problem, const GroupedInputs& inputs);
  [[nodiscard]] std::vector<Errors> measure(const Outputs& outputs) const;

 private:
  GroupedProblem problem_;
  truth::Forward forward_;
  truth::Backward backward_;
};
#endif

/// Problem number `turn`: sharing, sizes, forms, types and kinds of input by turns.
GroupedProblem grouped_problem(int turn, Direction direction, DType x, DType y);

}  // namespace equinorm::conformance
