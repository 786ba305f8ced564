// The declarations and the list of claims that come with the program: lab/experiments/*.toml,
// embedded at build time.
#pragma once

#include <string_view>
#include <vector>

namespace equinorm::lab {

struct EmbeddedFile {
  std::string_view name;  ///< "E2.toml"
  std::string_view text;
};

/// In the order of lab/experiments/CMakeLists.txt.
[[nodiscard]] const std::vector<EmbeddedFile>& embedded_experiments();

/// claims.toml.
[[nodiscard]] EmbeddedFile embedded_claims();

}  // namespace equinorm::lab
