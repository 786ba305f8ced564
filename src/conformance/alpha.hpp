// Problems of the operators with one number alpha, blended_norm and dynamic_tanh: sizes (0
// included), types, parameters and kinds of input by turns; and one call with all its buffers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conformance/buffer.hpp"
#include "conformance/problem.hpp"
#include "equinorm/row_norm.hpp"

namespace equinorm::conformance {

struct AlphaProblem {
  int turn = 0;
  Direction direction = Direction::forward;
  std::int64_t rows = 0, cols = 0;
  DType x, y;
  DType dbeta;  ///< type of that gradient
  bool gamma, beta;
  Family family;
  RowForm form;  ///< of a blended norm
  Accuracy accuracy;

  [[nodiscard]] bool backward() const { return direction == Direction::backward; }
};

AlphaProblem alpha_problem(int turn, Direction direction, DType x, DType y);
std::string describe(const AlphaProblem& problem);

class AlphaArena {
 public:
  explicit AlphaArena(const AlphaProblem& problem);

  /// Arguments of either operator; in place: y or dx on x.
  template <class Args>
  Args forward(bool in_place) {
    Args a;
    if constexpr (requires { a.form; }) a.form = p_.form;
    a.x = x.rows();
    a.alpha = alpha.vector();
    if (p_.gamma) a.gamma = gamma.vector();
    if (p_.beta) a.beta = beta.vector();
    a.y = in_place && p_.x == p_.y ? x.rows() : y.rows();
    return a;
  }
  template <class Args>
  Args backward(bool in_place) {
    Args a;
    if constexpr (requires { a.form; }) a.form = p_.form;
    a.dy = dy.rows();
    a.x = x.rows();
    a.alpha = alpha.vector();
    if (p_.gamma) a.gamma = gamma.vector();
    if constexpr (requires { a.beta; }) a.beta = beta.vector();
    a.dx = in_place ? x.rows() : dx.rows();
    a.dalpha = dalpha.vector();
    a.dgamma = dgamma.vector();
    a.dbeta = dbeta.vector();
    return a;
  }

  /// "" where all buffers are as in `o` and nothing was written beside them.
  [[nodiscard]] std::string difference(const AlphaArena& o) const;

 private:
  AlphaProblem p_;

 public:
  Buffer x, dy, gamma, beta, alpha, y, dx, dalpha, dgamma, dbeta;
};

}  // namespace equinorm::conformance
