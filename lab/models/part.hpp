// Parts of a model that instruments tell apart: whose time, whose rounding.
#pragma once

namespace equinorm::lab {

enum class Part { norm, attention, ffn, embedding, head, other };
inline constexpr int kParts = 6;

}  // namespace equinorm::lab
