// Sums over rows for dgamma and dbeta: section 5 of docs/numerics.md.
//
// The one trap: a block sums in C or in f64, and which one is known only when its last row is in.
#pragma once

#include <cstdint>
#include <vector>

#include "equinorm/grouped_norm.hpp"

namespace equinorm::reference {

/// Rows are added in order, by add(); result() closes the last block.
template <class C>
class ColumnSums {
 public:
  static constexpr std::int64_t kBlockRows = 8;

  ColumnSums(std::int64_t rows, std::int64_t cols);

  /// Adds a * b of each column, or a where b is empty. `exact_b` is b in f64 for a row on the exact
  /// path, empty for other rows. `exact` says whether the row is on the exact path.
  void add(const std::vector<C>& a, const std::vector<C>& b, const std::vector<double>& exact_b,
           bool exact);

  /// Adds the terms of a row, summed over the columns of a segment already.
  void add(const std::vector<double>& terms);

  /// Adds a * b of each column, in f64 and fused.
  void add_products(const std::vector<double>& a, const std::vector<double>& b);

  /// The sums, in f64.
  std::vector<double> result();

 private:
  struct Row {
    std::vector<C> a;
    std::vector<C> b;
    std::vector<double> exact_b;
    bool exact;
  };

  std::vector<double> block_sums_in_c() const;
  std::vector<double> block_sums_in_f64() const;
  void count_row();
  void close_block();
  void close_chunk();

  std::int64_t blocks_per_chunk_;
  std::int64_t blocks_in_chunk_ = 0;
  std::int64_t terms_in_block_ = 0;
  std::vector<Row> block_;
  std::vector<double> chunk_;
  std::vector<double> total_;
};

/// Rounds each sum of a group once to the type of `out`, if it is wanted.
void store_vector(const GroupedVector& out, std::int64_t group, const std::vector<double>& sums);

}  // namespace equinorm::reference
