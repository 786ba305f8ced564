// Names of the public enumerations, and the text of a Status.
#include <string>

#include "equinorm/context.hpp"
#include "equinorm/status.hpp"
#include "equinorm/types.hpp"

namespace equinorm {

const char* name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64:
      return "f64";
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
  }
  return "unknown";
}

const char* name_of(Isa isa) noexcept {
  switch (isa) {
    case Isa::portable:
      return "portable";
    case Isa::neon:
      return "neon";
    case Isa::avx2:
      return "avx2";
    case Isa::avx3:
      return "avx3";
  }
  return "unknown";
}

const char* name_of(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::invalid_argument:
      return "invalid argument";
    case StatusCode::unsupported:
      return "unsupported";
    case StatusCode::out_of_memory:
      return "out of memory";
  }
  return "unknown";
}

std::string describe(const Status& status) {
  std::string text = name_of(status.code);
  if (status.ok()) return text;
  text += std::string(": ") + status.argument;
  if (status.value[0] != '\0') text += std::string(" = ") + status.value;
  return text + ": " + status.rule;
}

}  // namespace equinorm
