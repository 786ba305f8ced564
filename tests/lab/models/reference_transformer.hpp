// Transformers written out with plain LibTorch operators, one formula per placement, on (samples,
// tokens, width) and with LayerNorm. Nothing of lab/models computes here; parameters come in by
// name.
//
// The one trap: a placement without a formula here throws, so that a new one can't go untested.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace equinorm::lab {

struct Reference {
  std::string placement;
  std::map<std::string, at::Tensor> parameters;
  std::int64_t heads = 2;
  std::string qk_norm = "none";
  bool alpha_on_branch = false;  // the wrong DeepNorm, for comparison
  bool profiling = false;        // Admin: omega from the batch instead of the parameters
  std::vector<double> omegas;    // found while profiling

  using Function = std::function<at::Tensor(const at::Tensor&)>;

  [[nodiscard]] const at::Tensor& get(const std::string& name) const { return parameters.at(name); }
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const std::string& name) const {
    return at::matmul(x, get(name + ".weight").t()) + get(name + ".bias");
  }
  [[nodiscard]] at::Tensor norm(const at::Tensor& x, const std::string& name) const {
    const at::Tensor centered = x - x.mean(-1, true);
    const at::Tensor variance = centered.square().mean(-1, true);
    return centered / (variance + 1e-5).sqrt() * get(name + ".gamma") + get(name + ".beta");
  }

  // (samples, tokens, width) -> (samples, heads, tokens, width / heads)
  [[nodiscard]] at::Tensor split(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
  }

  // Scores of normalized queries and keys; `prefix` is that of the norm's parameters.
  [[nodiscard]] at::Tensor scores_of(const at::Tensor& q, const at::Tensor& k,
                                     const std::string& prefix) const {
    const auto scores = [](const at::Tensor& a, const at::Tensor& b) {
      return at::matmul(a, b.transpose(2, 3));
    };
    const auto normed = [&](const at::Tensor& x, const std::string& gain) {
      const at::Tensor y = qk_norm == "layer" ? x - x.mean(-1, true) : x;
      return y / (y.square().mean(-1, true) + 1e-5).sqrt() * get(prefix + gain);
    };
    const auto unit = [](const at::Tensor& x) { return x / x.square().sum(-1, true).sqrt(); };
    if (qk_norm == "l2") return get(prefix + "g") * scores(unit(q), unit(k));
    const double root = std::sqrt(static_cast<double>(q.size(3)));
    if (qk_norm == "none") return scores(q, k) / root;
    return scores(normed(q, "q_gamma"), normed(k, "k_gamma")) / root;
  }

  [[nodiscard]] at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                  const at::Tensor& hidden, const std::string& prefix) const {
    const at::Tensor scores = scores_of(split(q), split(k), prefix + ".qk_norm.");
    at::Tensor mixed = at::matmul(
        scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(-1), split(v));
    if (placement == "normformer") mixed = mixed * get(prefix + ".head_scale").view({heads, 1, 1});
    return linear(mixed.transpose(1, 2).reshape(q.sizes()), prefix + ".out");
  }

  // `hidden`: true where a query must not look, (samples, 1, queries, keys).
  [[nodiscard]] at::Tensor self_attention(const at::Tensor& x, const std::string& prefix,
                                          const at::Tensor& hidden) const {
    const auto qkv = linear(x, prefix + ".qkv").chunk(3, -1);
    return attend(qkv[0], qkv[1], qkv[2], hidden, prefix);
  }
  [[nodiscard]] at::Tensor cross_attention(const at::Tensor& x, const at::Tensor& memory,
                                           const std::string& prefix,
                                           const at::Tensor& hidden) const {
    const auto kv = linear(memory, prefix + ".cross.kv").chunk(2, -1);
    return attend(linear(x, prefix + ".cross.q"), kv[0], kv[1], hidden, prefix + ".cross");
  }
  [[nodiscard]] at::Tensor feed_forward(const at::Tensor& x, const std::string& prefix) const {
    at::Tensor h = linear(x, prefix + ".fc1").clamp_min(0);
    if (placement == "normformer") h = norm(h, prefix + ".norm_hidden");
    return linear(h, prefix + ".fc2");
  }

  // `name` is "layers.0" with "1", "_cross" or "2" behind the kind; alpha is DeepNorm's.
  at::Tensor sublayer(const at::Tensor& x, const Function& f, const std::string& prefix,
                      const std::string& suffix, double alpha, const at::Tensor& layer_input) {
    const std::string n = prefix + ".norm" + suffix;
    if (placement == "none" || placement == "tfixup") return x + f(x);
    if (placement == "post" || placement == "gain_half") return norm(x + f(x), n);
    if (placement == "pre" || placement == "pre_no_final") return x + f(norm(x, n));
    if (placement == "deepnorm") {
      return alpha_on_branch ? norm(x + alpha * f(x), n) : norm(alpha * x + f(x), n);
    }
    if (placement == "sandwich" || placement == "peri") {
      return x + norm(f(norm(x, n)), n + "_branch");
    }
    if (placement == "output") return x + norm(f(x), n + "_branch");
    if (placement == "normformer") {
      return suffix == "2" ? x + f(norm(x, n)) : x + norm(f(norm(x, n)), n + "_branch");
    }
    if (placement == "rezero") return x + get(prefix + ".gate" + suffix) * f(x);
    if (placement == "b2t") {
      return suffix == "2" ? norm(layer_input + x + f(x), n) : norm(x + f(x), n);
    }
    if (placement == "admin") return admin(x, f, prefix, suffix);
    throw std::logic_error("no formula for placement " + placement);
  }

  at::Tensor admin(const at::Tensor& x, const Function& f, const std::string& prefix,
                   const std::string& suffix) {
    const std::string n = prefix + ".norm" + suffix;
    if (!profiling) return norm(x * get(prefix + ".omega" + suffix) + f(x), n);
    const double omega = omegas.size() % sublayers_per_stack == 0 ? 1 : next_omega;
    omegas.push_back(omega);
    const at::Tensor branch = f(x);
    const auto variance = [&](const at::Tensor& y) {
      const at::Tensor values = real.defined() ? y.index({real}) : y;
      return (values - values.mean()).square().mean().item<double>();
    };
    next_omega = std::sqrt(variance(omega * x) + variance(branch));
    return norm(omega * x + branch, n);
  }
  std::size_t sublayers_per_stack = 1;
  double next_omega = 1;
  at::Tensor real;  // bool (samples, tokens): the tokens whose variance counts

  // `memory` undefined: no cross-attention. `hidden` and `memory_hidden` as above.
  at::Tensor stack(at::Tensor x, const std::string& prefix, int depth, double alpha,
                   const at::Tensor& hidden, const at::Tensor& memory = {},
                   const at::Tensor& memory_hidden = {}) {
    for (int i = 0; i < depth; ++i) {
      const std::string layer = prefix + "layers." + std::to_string(i);
      const at::Tensor input = x;
      x = sublayer(
          x, [&](const at::Tensor& y) { return self_attention(y, layer, hidden); }, layer, "1",
          alpha, input);
      if (memory.defined()) {
        x = sublayer(
            x,
            [&](const at::Tensor& y) { return cross_attention(y, memory, layer, memory_hidden); },
            layer, "_cross", alpha, input);
      }
      x = sublayer(
          x, [&](const at::Tensor& y) { return feed_forward(y, layer); }, layer, "2", alpha, input);
    }
    const bool final = placement == "pre" || placement == "peri" || placement == "normformer";
    return final ? norm(x, prefix + "final_norm") : x;
  }

  [[nodiscard]] at::Tensor positions(std::int64_t tokens, std::int64_t width) const {
    const at::Tensor t = at::arange(tokens, at::kDouble).unsqueeze(1);
    const at::Tensor even = at::arange(0, width, 2, at::kDouble) / static_cast<double>(width);
    const at::Tensor angle = t / at::pow(10000.0, even);
    return at::stack({angle.sin(), angle.cos()}, 2).reshape({tokens, width});
  }
  // `prefix` is "embedding"; ids or vectors.
  [[nodiscard]] at::Tensor embed(const at::Tensor& input, const std::string& prefix) const {
    const at::Tensor& weight = get(prefix + ".weight");
    at::Tensor x = input.scalar_type() == at::kLong
                       ? weight.index({input})
                       : at::matmul(input, weight.t()) + get(prefix + ".bias");
    x = x + positions(x.size(1), x.size(2));
    return placement == "peri" ? norm(x, prefix + ".norm") : x;
  }
};

// True where a query must not look; `key_mask` (samples, keys), true for real tokens.
inline at::Tensor hidden_keys(const at::Tensor& key_mask, std::int64_t queries, bool causal) {
  const std::int64_t keys = key_mask.size(1);
  at::Tensor hidden = key_mask.logical_not()
                          .view({key_mask.size(0), 1, 1, keys})
                          .expand({key_mask.size(0), 1, queries, keys});
  if (causal) hidden = hidden.logical_or(at::ones({queries, keys}, at::kBool).triu(1));
  return hidden;
}

}  // namespace equinorm::lab
