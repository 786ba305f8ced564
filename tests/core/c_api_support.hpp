// One problem in two memories, one for a C function and one for its C++ twin: views that convert to
// the structs of both, so that a problem is written once, and what is expected of the two.
//
// Not for bounds or formulas, which tests/conformance covers for the C++ functions. The trap: the
// two memories are alike only if they are asked for the same things in the same order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "equinorm/equinorm.h"
#include "equinorm/equinorm.hpp"
#include "equinorm/row_forms.hpp"

namespace equinorm::test {

/// A view of either interface: data, type, and numbers in the order in which both declare them.
template <class C, class ConstC, class Cpp, class ConstCpp, std::size_t kNumbers>
struct AnyView {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::array<std::int64_t, kNumbers> numbers{};

  operator C() const { return as<C>(static_cast<std::int32_t>(dtype)); }
  operator ConstC() const { return as<ConstC>(static_cast<std::int32_t>(dtype)); }
  operator Cpp() const { return as<Cpp>(dtype); }
  operator ConstCpp() const { return as<ConstCpp>(dtype); }

 private:
  template <class View, class Type>
  View as(Type type) const {
    return std::apply([&](auto... n) { return View{data, type, n...}; }, numbers);
  }
};
using AnyRows = AnyView<equinorm_rows, equinorm_const_rows, Rows, ConstRows, 3>;
using AnyVector = AnyView<equinorm_vector, equinorm_const_vector, Vector, ConstVector, 1>;
using AnyGroupedRows =
    AnyView<equinorm_grouped_rows, equinorm_const_grouped_rows, GroupedRows, ConstGroupedRows, 8>;
using AnyGroupedVector = AnyView<equinorm_grouped_vector, equinorm_const_grouped_vector,
                                 GroupedVector, ConstGroupedVector, 2>;
using AnyImages = AnyView<equinorm_images, equinorm_const_images, Images, ConstImages, 6>;
using AnyHeads = AnyView<equinorm_heads, equinorm_const_heads, Heads, ConstHeads, 5>;

/// A value of an enumeration, int32_t in C.
template <class Enum>
struct Choice {
  Enum value;
  explicit Choice(Enum v) : value(v) {}
  explicit Choice(int v) : value(static_cast<Enum>(v)) {}
  operator Enum() const { return value; }
  operator std::int32_t() const { return static_cast<std::int32_t>(value); }
};

struct AnyForm {
  RowForm form;
  operator RowForm() const { return form; }
  operator equinorm_row_form() const {
    equinorm_row_form c = {};
    c.centered = form.centered ? 1 : 0;
    c.spread = static_cast<std::int32_t>(form.spread);
    c.unbiased = form.unbiased ? 1 : 0;
    c.gain = static_cast<std::int32_t>(form.gain);
    c.eps = form.eps;
    c.detach_mean = form.detach_mean ? 1 : 0;
    c.detach_spread = form.detach_spread ? 1 : 0;
    c.scale = form.scale;
    c.slope = form.slope;
    c.part = form.part;
    return c;
  }
};

/// What problems are made of. Types: of the inputs, the outputs, the parameters.
struct Variant {
  std::uint32_t seed = 1;
  DType x = DType::f32, y = DType::f32, parameter = DType::f32;
  enum class Layout { dense, padded, reversed } layout = Layout::dense;
  enum class Optional { all, none, some } optional = Optional::all;
};

enum class Use { in, positive, out, in_out };

/// Owns all buffers of a problem.
class Memory {
 public:
  explicit Memory(const Variant& variant)
      : x(variant.x), y(variant.y), p(variant.parameter), variant_(variant), state_(variant.seed) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const DType x, y, p;

  /// In [low, high].
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// Whether an optional argument is there.
  bool given() {
    const bool some = pick(0, 1) == 1;
    return variant_.optional == Variant::Optional::some
               ? some
               : variant_.optional == Variant::Optional::all;
  }
  /// One of the named forms that `accept` takes.
  template <class Accept>
  AnyForm form(Accept accept) {
    for (;;) {
      const auto at = static_cast<std::size_t>(pick(0, std::ssize(kRowForms) - 1));
      if (accept(kRowForms[at].form)) return {kRowForms[at].form};
    }
  }

  AnyRows rows(Use use, DType dtype, std::int64_t rows, std::int64_t cols) {
    const std::int64_t stride = sign() * (cols + pad(3));
    return {place(use, dtype, {{rows, stride}, {cols, 1}}), dtype, {rows, cols, stride}};
  }
  AnyVector vector(Use use, DType dtype, std::int64_t size) {
    return {place(use, dtype, {{size, 1}}), dtype, {size}};
  }
  AnyGroupedVector groups(Use use, DType dtype, std::int64_t groups, std::int64_t size,
                          bool shared) {
    const std::int64_t stride = shared ? 0 : sign() * (size + pad(2));
    return {place(use, dtype, {{groups, stride}, {size, 1}}), dtype, {size, stride}};
  }
  /// Padded, the columns lie in runs of `run`, which divides cols.
  AnyGroupedRows grouped_rows(Use use, DType dtype, std::int64_t groups, std::int64_t rows,
                              std::int64_t cols, std::int64_t run) {
    const std::int64_t column = 1 + pad(1), jump = run * column + pad(3);
    const std::int64_t row = sign() * (cols / run * jump + pad(5)), group = (rows + pad(1)) * row;
    void* data =
        place(use, dtype, {{groups, group}, {rows, row}, {cols / run, jump}, {run, column}});
    return {data, dtype, {groups, rows, cols, group, row, column, run, jump}};
  }
  AnyImages images(Use use, DType dtype, std::int64_t n, std::int64_t c, std::int64_t s) {
    std::int64_t channel = s, position = 1;
    if (variant_.layout == Variant::Layout::padded) {
      channel = 1;
      position = c + 2;
    } else if (variant_.layout == Variant::Layout::reversed) {
      channel = 2 * s + 1;
      position = 2;
    }
    const std::int64_t sample = sign() * (c * channel + s * position + pad(4));
    void* data = place(use, dtype, {{n, sample}, {c, channel}, {s, position}});
    return {data, dtype, {n, c, s, sample, channel, position}};
  }
  AnyHeads heads(Use use, DType dtype, std::int64_t tokens, std::int64_t heads,
                 std::int64_t width) {
    const std::int64_t head = width + pad(1);
    const std::int64_t token = sign() * (heads * head + pad(7));
    void* data = place(use, dtype, {{tokens, token}, {heads, head}, {width, 1}});
    return {data, dtype, {tokens, heads, width, token, head}};
  }
  /// 0 or 1 each, the first 1.
  std::uint8_t* flags(std::int64_t count) {
    std::uint8_t* data = bytes(Use::in, count);
    for (std::int64_t i = 0; i < count; ++i) data[i] = i == 0 || word() % 4 != 0 ? 1 : 0;
    return data;
  }
  std::uint8_t* bytes(Use use, std::int64_t count) {
    auto& buffer = buffers_.emplace_back(use, count);
    return reinterpret_cast<std::uint8_t*>(buffer.words.data() + kGuard);
  }

  /// All that is held, guards included; and whether each output differs from what it was.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> contents() const {
    std::vector<std::vector<std::uint64_t>> all;
    for (const Buffer& b : buffers_) all.push_back(b.words);
    return all;
  }
  void expect_outputs_written(const std::vector<std::vector<std::uint64_t>>& before) const {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const bool output = buffers_[i].use == Use::out || buffers_[i].use == Use::in_out;
      EXPECT_EQ(buffers_[i].words != before[i], output) << "buffer " << i;
    }
  }

 private:
  static constexpr std::int64_t kGuard = 8;
  struct Buffer {
    Buffer(Use u, std::int64_t size)
        : use(u), words(static_cast<std::size_t>(2 * kGuard + size / 8 + 1), 0xa5a5a5a5a5a5a5a5u) {}
    Use use;
    std::vector<std::uint64_t> words;
  };
  struct Axis {
    std::int64_t count, stride;
  };

  std::uint32_t word() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  [[nodiscard]] std::int64_t pad(std::int64_t n) const {
    return variant_.layout == Variant::Layout::dense ? 0 : n;
  }
  [[nodiscard]] std::int64_t sign() const {
    return variant_.layout == Variant::Layout::reversed ? -1 : 1;
  }

  /// A buffer for these axes; where element (0, 0, ...) lies in it. Numbers are in [1/2, 1) or, if
  /// not positive, of either sign.
  void* place(Use use, DType dtype, std::initializer_list<Axis> axes) {
    std::int64_t first = 0, last = 0;
    for (const Axis& a : axes) (a.stride < 0 ? first : last) += (a.count - 1) * a.stride;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    std::uint8_t* data = bytes(use, (last - first + 1) * size);
    for (std::int64_t i = 0; use != Use::out && i <= last - first; ++i) {
      put(data + i * size, dtype, use == Use::in && word() % 2 == 0);
    }
    return data - first * size;
  }
  void put(void* to, DType dtype, bool negative) {
    const std::uint32_t w = word();
    const double value = (negative ? -1 : 1) * (0.5 + (w & 0xffffff) * 0x1p-25);
    const auto narrow = static_cast<float>(value);
    const auto half = static_cast<std::uint16_t>(
        (negative ? 0x8000 : 0) |
        (dtype == DType::f16 ? 0x3800 | (w & 0x3ff) : 0x3f00 | (w & 0x7f)));
    switch (dtype) {
      case DType::f64:
        std::memcpy(to, &value, sizeof value);
        break;
      case DType::f32:
        std::memcpy(to, &narrow, sizeof narrow);
        break;
      default:
        std::memcpy(to, &half, sizeof half);
    }
  }

  Variant variant_;
  std::uint64_t state_;
  std::deque<Buffer> buffers_;
};

/// A C function, its C++ twin, and fill(args, memory), which writes a problem for either.
template <class CArgs_, class CppArgs_, class Fill>
struct Operator {
  using CArgs = CArgs_;
  using CppArgs = CppArgs_;
  const char* name;
  equinorm_status (*c)(const CArgs*, equinorm_context*);
  Status (*cpp)(const CppArgs&, Context&) noexcept;
  Fill fill;

  [[nodiscard]] CArgs c_args(Memory& memory) const {
    CArgs args = EQUINORM_INIT(CArgs);
    fill(args, memory);
    return args;
  }
  [[nodiscard]] CppArgs cpp_args(Memory& memory) const {
    CppArgs args;
    fill(args, memory);
    return args;
  }
};

/// A context of C that frees itself.
class CContext {
 public:
  CContext() = default;
  CContext(const CContext&) = delete;
  CContext& operator=(const CContext&) = delete;
  ~CContext() { equinorm_context_free(context_); }
  operator equinorm_context*() const { return context_; }

 private:
  equinorm_context* context_ = equinorm_context_new();
};

inline std::string text(const equinorm_status& s) {
  return std::to_string(s.code) + " " + s.argument + " = " + s.value + ": " + s.rule;
}
inline std::string text(const Status& s) {
  return std::to_string(static_cast<int>(s.code)) + " " + s.argument + " = " + s.value + ": " +
         s.rule;
}

/// Both write the same bits, to every output and nowhere else.
template <class Op>
void expect_same_bits(const Op& op, const Variant& variant) {
  SCOPED_TRACE(std::string(op.name) + ", seed " + std::to_string(variant.seed));
  Memory c_memory(variant), cpp_memory(variant);
  const auto c_args = op.c_args(c_memory);
  const auto cpp_args = op.cpp_args(cpp_memory);
  const auto before = c_memory.contents();
  ASSERT_EQ(before, cpp_memory.contents());
  const CContext c_context;
  Context cpp_context;
  ASSERT_EQ(text(op.c(&c_args, c_context)), text(Status{}));
  ASSERT_EQ(text(op.cpp(cpp_args, cpp_context)), text(Status{}));
  EXPECT_EQ(c_memory.contents(), cpp_memory.contents());
  c_memory.expect_outputs_written(before);
}

/// Both refuse what spoil(args) leaves, in the same words, and touch nothing.
template <class Op, class Spoil>
void expect_refused(const Op& op, Spoil spoil, const std::string& argument,
                    const std::string& value, const std::string& rule) {
  SCOPED_TRACE(op.name);
  Memory c_memory({}), cpp_memory({});
  auto c_args = op.c_args(c_memory);
  auto cpp_args = op.cpp_args(cpp_memory);
  spoil(c_args);
  spoil(cpp_args);
  const auto before = c_memory.contents();
  const CContext c_context;
  Context cpp_context;
  const equinorm_status status = op.c(&c_args, c_context);
  EXPECT_EQ(status.code, EQUINORM_INVALID_ARGUMENT);
  EXPECT_EQ(status.argument, argument);
  EXPECT_EQ(status.value, value);
  EXPECT_NE(std::string(status.rule).find(rule), std::string::npos) << status.rule;
  EXPECT_EQ(text(status), text(op.cpp(cpp_args, cpp_context)));
  EXPECT_EQ(c_memory.contents(), before);
}

}  // namespace equinorm::test
