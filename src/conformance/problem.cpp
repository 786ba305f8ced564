// Names of problems and their parts.
#include "conformance/problem.hpp"

#include <array>
#include <cstdio>

namespace equinorm::conformance {
namespace {

constexpr std::array kFamilies = {
    Family::normal,
    Family::offset_1e2,
    Family::offset_1e4,
    Family::offset_1e6,
    Family::offset_1e8,
    Family::scale_tiny,
    Family::scale_small,
    Family::scale_large,
    Family::scale_huge,
    Family::heavy_tails,
    Family::cauchy,
    Family::outlier,
    Family::constant,
    Family::alternating,
    Family::subnormal,
    Family::zeros,
    Family::non_finite,
    Family::aligned_gradient,
    Family::constant_gradient,
    Family::tiny_gradient,
    Family::huge_gradient,
    Family::wide_gain,
    Family::mixed,
};

constexpr std::array kFamilyNames = {
    "normal",
    "offset 1e2",
    "offset 1e4",
    "offset 1e6",
    "offset 1e8",
    "scale tiny",
    "scale small",
    "scale large",
    "scale huge",
    "heavy tails",
    "cauchy",
    "outlier",
    "constant",
    "alternating",
    "subnormal",
    "zeros",
    "non-finite",
    "aligned gradient",
    "constant gradient",
    "tiny gradient",
    "huge gradient",
    "wide gain",
    "mixed",
};
static_assert(kFamilies.size() == kFamilyNames.size());

}  // namespace

const char* name_of(Op op) {
  constexpr const char* kNames[] = {"layer_norm", "rms_norm", "row_norm"};
  return kNames[static_cast<int>(op)];
}

const char* name_of(Direction direction) { return direction == Direction::forward ? "fwd" : "bwd"; }

const char* name_of(Accuracy accuracy) {
  return accuracy == Accuracy::standard ? "standard" : "exact";
}

std::span<const Family> all_families() { return kFamilies; }

const char* name_of(Family family) { return kFamilyNames[static_cast<std::size_t>(family)]; }

std::string describe(const Problem& problem) {
  const Types& types = problem.types;
  char text[256];
  std::snprintf(text, sizeof text,
                "%s.%s x=%s y=%s parameter=%s gradient=%s %lldx%lld %s%s%s%s eps=%g %s seed=%llu",
                name_of(problem.op), name_of(problem.direction), equinorm::name_of(types.x),
                equinorm::name_of(types.y), equinorm::name_of(types.parameter),
                equinorm::name_of(types.gradient), static_cast<long long>(problem.rows),
                static_cast<long long>(problem.cols), name_of(problem.family),
                problem.gamma ? " gamma" : "", problem.beta ? " beta" : "",
                problem.add_one ? " add_one" : "", problem.eps, name_of(problem.accuracy),
                static_cast<unsigned long long>(problem.seed));
  return text;
}

}  // namespace equinorm::conformance
