// Trials of blended_norm and dynamic_tanh: bits, and errors against the bounds of docs/numerics.md
// sections 11 and 12.
#include "conformance/alpha.hpp"
#include "conformance/trial.hpp"
#include "equinorm/reference.hpp"

namespace equinorm::conformance {
namespace {

struct Blended {
  static constexpr const char* kName = "blended_norm";
  using Forward = BlendedNormForward;
  using Backward = BlendedNormBackward;
  static constexpr auto kForward = blended_norm_forward;
  static constexpr auto kBackward = blended_norm_backward;
  static DType compute(const AlphaProblem& p) { return compute_type(p.x, p.y); }
  static void run_reference(const Forward& args, Accuracy accuracy) {
    reference::blended_norm_forward(args, accuracy);
  }
  static void run_reference(const Backward& args, Accuracy accuracy) {
    reference::blended_norm_backward(args, accuracy);
  }
  static Bound bound_of(Output output, const AlphaProblem& p, DType type);
#if EQUINORM_HAS_TRUTH
  static constexpr auto kExactForward = truth::blended_norm_forward;
  static constexpr auto kExactBackward = truth::blended_norm_backward;
  static std::int64_t elements_per_scale(const AlphaProblem& p) { return p.cols; }
#endif
};

struct Tanh {
  static constexpr const char* kName = "dynamic_tanh";
  using Forward = DynamicTanhForward;
  using Backward = DynamicTanhBackward;
  static constexpr auto kForward = dynamic_tanh_forward;
  static constexpr auto kBackward = dynamic_tanh_backward;
  static DType compute(const AlphaProblem&) { return DType::f64; }
  static void run_reference(const Forward& args, Accuracy) {
    reference::dynamic_tanh_forward(args);
  }
  static void run_reference(const Backward& args, Accuracy) {
    reference::dynamic_tanh_backward(args);
  }
  static Bound bound_of(Output output, const AlphaProblem& p, DType type);
#if EQUINORM_HAS_TRUTH
  static constexpr auto kExactForward = truth::dynamic_tanh_forward;
  static constexpr auto kExactBackward = truth::dynamic_tanh_backward;
  static std::int64_t elements_per_scale(const AlphaProblem&) { return 1; }
#endif
};

// Counted from the roundings behind the norm, half a scale ulp each.
Bound Blended::bound_of(Output output, const AlphaProblem& p, DType type) {
  Problem norm;
  norm.op = Op::row_norm;
  norm.form = p.form;
  const DType c = compute(p);
  norm.types = {c, output == Output::y ? type : c, DType::f32, type};
  norm.rows = p.rows;
  norm.cols = p.cols;
  norm.accuracy = p.accuracy;
  const bool in_f64 = c == DType::f64;
  Bound bound = conformance::bound_of(output, norm);
  const bool is_rounded_once = p.accuracy == Accuracy::exact && !in_f64;
  switch (output) {
    case Output::y:
      // 1 - alpha, its product with x, and the sum; in f64 for an exact row of f32.
      bound.scale_ulp += is_rounded_once ? 0x1p-28 : 0.5;
      break;
    case Output::dx:
      bound = {type == c ? 0 : 0.5, bound.scale_ulp + 1};  // alpha * gain, and the sum
      break;
    case Output::dalpha: {
      const double in_rows = additions_in_rows(p.rows) + static_cast<double>(p.cols + 4);
      bound.scale_ulp =
          conformance::bound_of(Output::dgamma, norm).scale_ulp + (in_f64 ? 0.5 * in_rows : 0);
      break;
    }
    default:
      bound.scale_ulp += in_f64 ? 0.5 : 0;  // the product with alpha
  }
  if (type == DType::f64) bound.output_ulp = 0;
  return bound;
}

// 2^-50 is 4 scale ulp; behind that the additions of the sums.
Bound Tanh::bound_of(Output output, const AlphaProblem& p, DType type) {
  const double rounding = type == DType::f64 ? 0 : 0.5;
  const double in_rows = 0.5 * additions_in_rows(p.rows);
  switch (output) {
    case Output::y:
    case Output::dx:
      return {rounding, 4};
    case Output::dbeta:
      return {rounding, in_rows};
    case Output::dalpha:
      return {rounding, 4 + in_rows + 0.5 * static_cast<double>(p.cols)};
    default:
      return {rounding, 4 + in_rows};
  }
}

template <class Operator>
class AlphaTrial : public Trial {
 public:
  explicit AlphaTrial(const AlphaProblem& problem) : p_(problem) {
    for (const bool in_place : {false, true}) {
      AlphaArena& arena = in_place ? want_in_place_ : want_;
      if (p_.backward()) {
        Operator::run_reference(arena.backward<typename Operator::Backward>(in_place), p_.accuracy);
      } else {
        Operator::run_reference(arena.forward<typename Operator::Forward>(in_place), p_.accuracy);
      }
    }
  }

  [[nodiscard]] Family family() const override { return p_.family; }
  [[nodiscard]] Accuracy accuracy() const override { return p_.accuracy; }
  [[nodiscard]] std::string text() const override {
    return std::string(Operator::kName) + "." + describe(p_);
  }

  std::vector<std::string> compare(Isa isa, std::optional<int> threads, Context& context) override {
    constexpr std::pair<bool, int> kRuns[] = {{false, 1}, {false, 3}, {true, 2}};
    std::vector<std::string> result;
    for (const auto& [in_place, usual] : kRuns) {
      AlphaArena got(p_);
      const int count = threads.value_or(usual);
      const Status status = run(got, in_place, isa, count, context);
      std::string difference = status.ok() ? got.difference(in_place ? want_in_place_ : want_)
                                           : equinorm::describe(status);
      if (!difference.empty()) {
        difference = text() + " | " + equinorm::name_of(isa) + " threads=" + std::to_string(count) +
                     (in_place ? " in place" : "") + " | " + difference;
      }
      result.push_back(difference);
    }
    return result;
  }

  std::vector<Errors> measure([[maybe_unused]] Isa isa,
                              [[maybe_unused]] Context& context) override {
    std::vector<Errors> result;
#if EQUINORM_HAS_TRUTH
    AlphaArena arena(p_);
    if (!run(arena, false, isa, 1, context).ok()) return {};  // compare() reports it
    prepare();
    const std::int64_t each = Operator::elements_per_scale(p_);
    const auto add = [&](Output output, const Buffer& buffer, DType type, const auto& exact,
                         const auto& scale, std::int64_t elements, std::int64_t limit) {
      const std::vector<std::uint64_t> bits = buffer.bits();
      result.push_back(
          conformance::measure(Operator::compute(p_), Operator::bound_of(output, p_, type),
                               {output, type, bits, exact, scale, scale, elements, limit}));
    };
    // Beyond the range of C partial results overflow.
    const std::int64_t limit = Operator::compute(p_) == DType::f64 ? 1023 : 127;
    if (!p_.backward()) {
      add(Output::y, arena.y, p_.y, forward_.y, forward_.scale, each, limit);
      return result;
    }
    const truth::Backward& other = backward_.other;
    add(Output::dx, arena.dx, p_.x, other.dx, other.scale, each, limit);
    add(Output::dgamma, arena.dgamma, DType::f32, other.dgamma, other.dgamma_scale, 1, kSumLimit);
    add(Output::dbeta, arena.dbeta, p_.dbeta, other.dbeta, other.dbeta_scale, 1, kSumLimit);
    add(Output::dalpha, arena.dalpha, DType::f64, std::vector{backward_.dalpha},
        std::vector{backward_.dalpha_scale}, 1, kSumLimit);
#endif
    return result;
  }

 private:
  Status run(AlphaArena& arena, bool in_place, Isa isa, int threads, Context& context) const {
    check(context.set_isa(isa));
    check(context.set_threads(threads));
    context.set_accuracy(p_.accuracy);
    return p_.backward()
               ? Operator::kBackward(arena.backward<typename Operator::Backward>(in_place), context)
               : Operator::kForward(arena.forward<typename Operator::Forward>(in_place), context);
  }

  AlphaProblem p_;
  AlphaArena want_{p_};
  AlphaArena want_in_place_{p_};

#if EQUINORM_HAS_TRUTH
  void prepare() {
    if (prepared_) return;
    prepared_ = true;
    AlphaArena arena(p_);
    if (p_.backward()) {
      backward_ = Operator::kExactBackward(arena.backward<typename Operator::Backward>(false));
    } else {
      forward_ = Operator::kExactForward(arena.forward<typename Operator::Forward>(false));
    }
  }

  bool prepared_ = false;
  truth::Forward forward_;
  truth::AlphaBackward backward_;
#endif
};

template <class Operator>
std::vector<Subject> subjects() {
  return numbered_subjects(Operator::kName, [](const Subject& s, int turn, const Amount& amount,
                                               const std::function<void(Trial&)>& body) {
    AlphaProblem problem = alpha_problem(turn, s.direction, s.x, s.y);
    if (!amount.wants(problem.accuracy)) return;
    if (amount.has_shape()) {
      problem.rows = amount.shape_rows();
      problem.cols = amount.shape_cols();
    }
    AlphaTrial<Operator> trial(problem);
    body(trial);
  });
}

}  // namespace

std::vector<Subject> blended_subjects() { return subjects<Blended>(); }
std::vector<Subject> tanh_subjects() { return subjects<Tanh>(); }

}  // namespace equinorm::conformance
