// Argument checks. This room is the only one that validates; the kernels trust what comes through.
//
// Every check returns the Status to hand on; success is the default Status.
#pragma once

#include <cstdint>

#include "equinorm/grouped_norm.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

/// An offending value as text.
struct Value {
  explicit Value(std::int64_t number) noexcept;
  explicit Value(int number) noexcept : Value(std::int64_t{number}) {}
  explicit Value(double number) noexcept;
  explicit Value(const char* text) noexcept;
  explicit Value(const char* text, const char* more) noexcept;
  char text[sizeof(Status::value)] = "";
};

Status invalid(const char* argument, const Value& value, const char* rule) noexcept;

/// Static texts "x.data" and so on of one argument.
struct ViewNames {
  const char* name;
  const char* data;
  const char* dtype;
  const char* rows;
  const char* cols;
  const char* row_stride;
  const char* size;
  const char* groups;
  const char* group_stride;
  const char* column_stride;
  const char* run;
  const char* run_stride;
};
#define EQUINORM_VIEW_NAMES(name)                                                               \
  ViewNames {                                                                                   \
    name, name ".data", name ".dtype", name ".rows", name ".cols", name ".row_stride",          \
        name ".size", name ".groups", name ".group_stride", name ".column_stride", name ".run", \
        name ".run_stride"                                                                      \
  }

/// Known dtype, no negative size, data present and aligned, all offsets within 64-bit bytes.
Status check_rows(const ConstGroupedRows& rows, const ViewNames& names) noexcept;
/// The same for rows that are written, no two elements of which may lie in one place.
Status check_output_rows(const GroupedRows& rows, const ViewNames& names) noexcept;
/// `rows` and x have one shape. `rule_*`: "must equal x.rows" and so on.
Status check_same_shape(const ConstGroupedRows& rows, const ConstGroupedRows& x,
                        const ViewNames& names) noexcept;

/// |stride|, of the most negative number too.
constexpr std::uint64_t magnitude(std::int64_t stride) noexcept {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? 0 - bits : bits;
}

/// Bytes between the first byte and the end of all elements; for checked rows that are not empty.
struct Extent {
  std::int64_t first = 0;  ///< relative to data
  std::int64_t end = 0;
};
Extent extent_of(const ConstGroupedRows& rows) noexcept;
/// One group of contiguous rows.
bool is_plain(const Arrangement& at) noexcept;

/// Known dtype, alignment, and size equal to `size`; a vector that is not given passes.
Status check_vector(const ConstVector& vector, std::int64_t size, const char* size_rule,
                    const ViewNames& names) noexcept;
/// The compute type `c` holds the dtype of the vector, if one is given.
Status check_parameter_type(const void* data, DType dtype, DType c,
                            const ViewNames& names) noexcept;

struct RowForm;
/// eps is one of the form's, and named `eps`.
Status check_form(const RowForm& form) noexcept;

}  // namespace equinorm
