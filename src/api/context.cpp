// Context: settings, their defaults from the environment, and which instruction sets there are.
#include "equinorm/context.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "check.h"
#include "kernels/kernel_table.h"
#include "parallel/openmp_executor.h"
#include "workspace.h"

namespace equinorm {
namespace {

constexpr int kMaxThreads = 4096;

static_assert(static_cast<int>(Isa::portable) == static_cast<int>(kernels::Target::portable));
static_assert(static_cast<int>(Isa::neon) == static_cast<int>(kernels::Target::neon));
static_assert(static_cast<int>(Isa::avx2) == static_cast<int>(kernels::Target::avx2));
static_assert(static_cast<int>(Isa::avx3) == static_cast<int>(kernels::Target::avx3));

struct IsaList {
  std::array<Isa, kernels::kTargets> isas{};
  std::size_t count = 0;

  IsaList() noexcept {
    const char* limit = std::getenv("EQUINORM_MAX_ISA");
    int widest = kernels::kTargets - 1;
    for (int i = 0; limit != nullptr && i < kernels::kTargets; ++i) {
      if (std::strcmp(limit, name_of(static_cast<Isa>(i))) == 0) widest = i;
    }
    for (int i = 0; i <= widest; ++i) {
      if (kernels::runs_here(static_cast<kernels::Target>(i))) {
        isas[count++] = static_cast<Isa>(i);
      }
    }
  }
};

int default_threads() noexcept {
  static const int threads = [] {
    int wanted = 0;
    if (const char* text = std::getenv("EQUINORM_NUM_THREADS")) {
      const char* end = text + std::strlen(text);
      const auto parsed = std::from_chars(text, end, wanted);
      if (parsed.ec != std::errc() || parsed.ptr != end) wanted = 0;
    }
    if (wanted < 1 || wanted > kMaxThreads) wanted = parallel::openmp_default_threads();
    return std::min(wanted, kMaxThreads);
  }();
  return threads;
}

}  // namespace

std::span<const Isa> available_isas() noexcept {
  static const IsaList list;
  return {list.isas.data(), list.count};
}

Context::Context() noexcept : threads_(default_threads()), isa_(available_isas().back()) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;

Status Context::set_threads(int threads) noexcept {
  if (threads < 1 || threads > kMaxThreads) {
    return invalid("threads", Value(threads), "must lie in [1, 4096]");
  }
  threads_ = threads;
  return {};
}

Status Context::set_isa(Isa isa) noexcept {
  const auto isas = available_isas();
  if (std::find(isas.begin(), isas.end(), isa) == isas.end()) {
    Status status = invalid("isa", Value(name_of(isa)), "must be one of available_isas()");
    status.code = StatusCode::unsupported;
    return status;
  }
  isa_ = isa;
  return {};
}

}  // namespace equinorm
