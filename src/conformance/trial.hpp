// One call of an operator that can be held against both oracles, whatever the operator is. The
// list of operators, operators.hpp, makes them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/bounds.hpp"
#include "conformance/problem.hpp"
#include "equinorm/context.hpp"

namespace equinorm::conformance {

class Trial {
 public:
  Trial() = default;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  virtual ~Trial() = default;

  [[nodiscard]] virtual Family family() const = 0;
  [[nodiscard]] virtual Accuracy accuracy() const = 0;
  /// Enough to run it again.
  [[nodiscard]] virtual std::string text() const = 0;
  /// Runs it on `isa` in several layouts, in place, for several thread counts or for `threads`
  /// alone. One element for each run: "" where the outputs have the bits of the contract oracle and
  /// nothing else was written, otherwise the first difference in one line.
  virtual std::vector<std::string> compare(Isa isa, std::optional<int> threads,
                                           Context& context) = 0;
  /// Errors of the outputs that `isa` gives; empty without a truth oracle.
  virtual std::vector<Errors> measure(Isa isa, Context& context) = 0;
};

/// Rows and columns where only the other was asked for.
inline constexpr std::int64_t kShapeRows = 4;
inline constexpr std::int64_t kShapeCols = 769;

/// How many trials of a subject, and of what.
struct Amount {
  Scale scale = Scale::small;
  std::int64_t rows = -1;  ///< rows and columns of every trial; -1: several sizes
  std::int64_t cols = -1;
  std::optional<Accuracy> accuracy = std::nullopt;  ///< none: both

  [[nodiscard]] bool has_shape() const { return rows >= 0 || cols >= 0; }
  [[nodiscard]] std::int64_t shape_rows() const { return rows >= 0 ? rows : kShapeRows; }
  [[nodiscard]] std::int64_t shape_cols() const { return cols >= 0 ? cols : kShapeCols; }
  [[nodiscard]] bool wants(Accuracy a) const { return !accuracy || *accuracy == a; }
};

/// An operator in one direction for x and y (backward: dx and dy) of these types.
struct Subject {
  std::string op;  ///< "grouped_norm", or the name of a form
  Direction direction = Direction::forward;
  DType x = DType::f32;
  DType y = DType::f32;
  /// Makes its trials, one at a time.
  std::function<void(const Amount&, const std::function<void(Trial&)>&)> each;
};

/// "grouped_norm.fwd.bf16", "grouped_norm.fwd.bf16-f32" where x and y differ.
std::string name_of(const Subject& subject);
/// "bf16", "bf16-f32"
std::string types_of(const Subject& subject);

/// Types of x and y that operators without kernels of their own are surveyed with.
struct TypePair {
  DType x;
  DType y;
};
inline constexpr TypePair kTypePairs[] = {{DType::f64, DType::f64},  {DType::f32, DType::f32},
                                          {DType::f16, DType::f16},  {DType::bf16, DType::bf16},
                                          {DType::bf16, DType::f32}, {DType::f32, DType::f64}};

/// Of an operator whose problems are numbered: makes the trial of problem `turn` and calls `body`
/// with it, unless `amount` does not want it.
using NumberedTrial = void (*)(const Subject& subject, int turn, const Amount& amount,
                               const std::function<void(Trial&)>& body);
/// Subjects in both directions for kTypePairs: every family once in a shape that was asked for,
/// otherwise several times.
std::vector<Subject> numbered_subjects(const std::string& op, NumberedTrial trial);

/// Subjects of an operator in both directions for kTypePairs.
std::vector<Subject> kernel_subjects(Op op);
std::vector<Subject> form_subjects();
std::vector<Subject> grouped_subjects();
std::vector<Subject> fused_subjects();
std::vector<Subject> blended_subjects();
std::vector<Subject> tanh_subjects();

}  // namespace equinorm::conformance
