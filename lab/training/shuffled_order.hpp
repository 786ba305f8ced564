// Indices 0 to n - 1 in a shuffled order, epoch by epoch, every one once in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "lab/models/random.hpp"

namespace equinorm::lab {

class ShuffledOrder {
 public:
  ShuffledOrder(std::size_t size, std::uint64_t seed)
      : random_(seed), order_(size), next_(size) {  // the first call starts an epoch
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  std::size_t next() {
    if (next_ == order_.size()) shuffle();
    return order_[next_++];
  }

 private:
  void shuffle() {
    for (std::size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1], order_[random_.below(i)]);
    }
    next_ = 0;
  }

  Random random_;
  std::vector<std::size_t> order_;
  std::size_t next_;
};

}  // namespace equinorm::lab
