// Blocks of 8 rows, chunks of blocks, and the rule that sends a block to f64.
#include "column_sums.hpp"

#include <cmath>
#include <type_traits>

#include "numbers.hpp"

namespace equinorm::reference {

template <class C>
ColumnSums<C>::ColumnSums(std::int64_t rows, std::int64_t cols)
    : chunk_(cols, 0.0), total_(cols, 0.0) {
  blocks_per_chunk_ = 4 * ((rows + 4095) / 4096);
}

template <class C>
void ColumnSums<C>::add(const std::vector<C>& a, const std::vector<C>& b,
                        const std::vector<double>& exact_b, bool exact) {
  block_.push_back({a, b, exact_b, exact});
  if (std::ssize(block_) == kBlockRows) close_block();
}

template <class C>
std::vector<double> ColumnSums<C>::block_sums_in_c() const {
  std::vector<double> sums;
  for (std::size_t c = 0; c < chunk_.size(); ++c) {
    C acc = 0;
    for (const Row& row : block_) {
      if (row.b.empty()) {
        acc = acc + row.a[c];
      } else {
        // For C = f64, xhat of an exact row is a double already.
        const C xhat = row.exact_b.empty() ? row.b[c] : static_cast<C>(row.exact_b[c]);
        acc = std::fma(row.a[c], xhat, acc);
      }
    }
    sums.push_back(acc);
  }
  return sums;
}

template <class C>
std::vector<double> ColumnSums<C>::block_sums_in_f64() const {
  std::vector<double> sums;
  for (std::size_t c = 0; c < chunk_.size(); ++c) {
    double acc = 0;
    for (const Row& row : block_) {
      const auto a = static_cast<double>(row.a[c]);
      if (row.b.empty()) {
        acc = acc + a;
      } else {
        acc = std::fma(a, row.exact_b.empty() ? row.b[c] : row.exact_b[c], acc);
      }
    }
    sums.push_back(acc);
  }
  return sums;
}

template <class C>
void ColumnSums<C>::close_block() {
  std::vector<double> sums = block_sums_in_c();
  if constexpr (std::is_same_v<C, float>) {
    bool widen = false;
    for (const Row& row : block_) widen = widen || row.exact;
    for (const double v : sums) widen = widen || !std::isfinite(v);
    if (widen) sums = block_sums_in_f64();
  }
  block_.clear();
  for (std::size_t c = 0; c < chunk_.size(); ++c) chunk_[c] = chunk_[c] + sums[c];
  if (++blocks_in_chunk_ == blocks_per_chunk_) close_chunk();
}

template <class C>
void ColumnSums<C>::close_chunk() {
  for (std::size_t c = 0; c < total_.size(); ++c) total_[c] = total_[c] + chunk_[c];
  chunk_.assign(chunk_.size(), 0.0);
  blocks_in_chunk_ = 0;
}

template <class C>
std::vector<double> ColumnSums<C>::result() {
  if (!block_.empty()) close_block();
  if (blocks_in_chunk_ > 0 || terms_in_block_ > 0) close_chunk();
  return total_;
}

template <class C>
void ColumnSums<C>::add(const std::vector<double>& terms) {
  for (std::size_t c = 0; c < chunk_.size(); ++c) chunk_[c] = chunk_[c] + terms[c];
  count_row();
}

template <class C>
void ColumnSums<C>::add_products(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t c = 0; c < chunk_.size(); ++c) chunk_[c] = std::fma(a[c], b[c], chunk_[c]);
  count_row();
}

template <class C>
void ColumnSums<C>::count_row() {
  if (++terms_in_block_ < kBlockRows) return;
  terms_in_block_ = 0;
  if (++blocks_in_chunk_ == blocks_per_chunk_) close_chunk();
}

void store_vector(const GroupedVector& out, std::int64_t group, const std::vector<double>& sums) {
  if (out.data == nullptr) return;
  for (std::int64_t c = 0; c < std::ssize(sums); ++c) {
    store(out.data, out.dtype, group * out.group_stride + c, sums[c]);
  }
}

template class ColumnSums<float>;
template class ColumnSums<double>;

}  // namespace equinorm::reference
