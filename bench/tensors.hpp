// The inputs of a case, shared by all its contenders.
//
// Values are multiples of 1/32 up to 4, so every element type holds them exactly and all types see
// the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "case.hpp"

namespace equinorm::bench {

/// Uninitialized memory aligned to 64 bytes, as PyTorch's is.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t bytes_ = 0;
};

struct Tensors {
  Buffer x, dy;        ///< (rows, cols)
  Buffer gamma, beta;  ///< (cols)
};

Tensors make_tensors(const Case& c);

}  // namespace equinorm::bench
