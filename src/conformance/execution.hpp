// How a problem is run: instruction set, threads, layout, which outputs; and its outputs as bits.
// None of this may change a bit of any output, which is what compare() checks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/buffer.hpp"
#include "conformance/problem.hpp"
#include "equinorm/reference.hpp"

namespace equinorm::conformance {

/// Which outputs of the backward pass to ask for.
struct Wanted {
  bool dx = true;
  bool dgamma = true;
  bool dbeta = true;
};

enum class InPlace : std::uint8_t { no, on_x, on_dy };  ///< on_x: y or dx on x; on_dy: dx on dy

struct Execution {
  Isa isa = Isa::portable;
  int threads = 1;
  Layout layout;            ///< of x, dy, y and dx
  int vector_offset = 0;    ///< elements by which gamma and all other vectors are misaligned
  bool statistics = false;  ///< forward: ask for them; backward: hand them in
  InPlace in_place = InPlace::no;
  Wanted wanted;
  std::optional<std::int64_t> only_row;  ///< this row alone; dgamma and dbeta are not compared
};

/// "avx2 threads=3 offset=1 gap=5 statistics", what differs from the default only.
std::string describe(const Execution& execution);

/// Bits of every output, row by row; empty where an output was not asked for.
struct Outputs {
  std::vector<std::uint64_t> y;
  std::vector<std::uint64_t> dx;
  std::vector<std::uint64_t> dgamma;
  std::vector<std::uint64_t> dbeta;
  std::vector<std::uint64_t> mean;
  std::vector<std::uint64_t> mean_tail;
  std::vector<std::uint64_t> rstd;
  std::vector<std::uint64_t> exact;
};

/// Arguments of one call in memory that it owns. Fill it, run it in either way, read it.
class Call {
 public:
  /// `saved`: statistics to hand to the backward pass, from expected() of the same problem.
  Call(const Problem& problem, const Inputs& inputs, const Execution& execution,
       const Outputs* saved = nullptr);

  void run_reference();
  Status run(Context& context);
#if EQUINORM_HAS_TRUTH
  [[nodiscard]] truth::Forward forward_truth();
  [[nodiscard]] truth::Backward backward_truth();
#endif

  [[nodiscard]] Outputs outputs() const;
  /// What the call did beyond its outputs: "wrote beside y", "changed x", or "".
  [[nodiscard]] std::string side_effects() const;

  [[nodiscard]] LayerNormForward layer_norm_forward();
  [[nodiscard]] LayerNormBackward layer_norm_backward();
  [[nodiscard]] RmsNormForward rms_norm_forward();
  [[nodiscard]] RmsNormBackward rms_norm_backward();
  [[nodiscard]] RowNormForward row_norm_forward();
  [[nodiscard]] RowNormBackward row_norm_backward();

 private:
  [[nodiscard]] Rows output_rows();

  Problem problem_;
  Execution execution_;
  Buffer x_, dy_, gamma_, beta_, out_, dgamma_, dbeta_, mean_, mean_tail_, rstd_;
  std::vector<std::uint8_t> exact_;
  std::vector<std::vector<std::uint8_t>> input_bytes_;
};

/// What the contract oracle gives, statistics of both passes included.
Outputs expected(const Problem& problem, const Inputs& inputs);

/// Runs the problem through the public interface and compares with `expected`: "" if all is as it
/// must be, otherwise the first difference in one line.
std::string compare(const Problem& problem, const Inputs& inputs, const Outputs& expected,
                    const Execution& execution, Context& context);

}  // namespace equinorm::conformance
