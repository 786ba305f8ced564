// The public names of the contract oracle.
#include "equinorm/reference.hpp"

#include "rows.hpp"

namespace equinorm::reference {
namespace {

SavedStatistics saved(const LayerNormStatistics& s) {
  return {s.mean, s.mean_tail, s.rstd, s.exact};
}

SavedStatistics saved(const RmsNormStatistics& s) { return {{}, {}, s.rstd, s.exact}; }

}  // namespace

RowForm layer_norm_form(double eps) {
  RowForm form;
  form.eps = eps;
  return form;
}

RowForm rms_norm_form(bool add_one, double eps) {
  RowForm form;
  form.centered = false;
  form.gain = add_one ? Gain::one_plus : Gain::vector;
  form.eps = eps;
  return form;
}

void layer_norm_forward(const LayerNormForward& args, Accuracy accuracy) {
  forward({{layer_norm_form(args.eps), grouped(args.gamma), grouped(args.beta), accuracy, {}},
           grouped(args.x),
           grouped(args.y),
           saved(args.statistics),
           {},
           {}});
}

void layer_norm_backward(const LayerNormBackward& args, Accuracy accuracy) {
  backward({{layer_norm_form(args.eps), grouped(args.gamma), {}, accuracy, {}},
            grouped(args.dy),
            grouped(args.x),
            saved(args.statistics),
            grouped(args.dx),
            grouped(args.dgamma),
            grouped(args.dbeta)});
}

void rms_norm_forward(const RmsNormForward& args, Accuracy accuracy) {
  forward({{rms_norm_form(args.add_one, args.eps), grouped(args.gamma), {}, accuracy, {}},
           grouped(args.x),
           grouped(args.y),
           saved(args.statistics),
           {},
           {}});
}

void rms_norm_backward(const RmsNormBackward& args, Accuracy accuracy) {
  backward({{rms_norm_form(args.add_one, args.eps), grouped(args.gamma), {}, accuracy, {}},
            grouped(args.dy),
            grouped(args.x),
            saved(args.statistics),
            grouped(args.dx),
            grouped(args.dgamma),
            {}});
}

void row_norm_forward(const RowNormForward& args, Accuracy accuracy) {
  forward({{args.form, grouped(args.gamma), grouped(args.beta), accuracy, {}},
           grouped(args.x),
           grouped(args.y),
           {},
           {},
           {}});
}

void row_norm_backward(const RowNormBackward& args, Accuracy accuracy) {
  backward({{args.form, grouped(args.gamma), {}, accuracy, {}},
            grouped(args.dy),
            grouped(args.x),
            {},
            grouped(args.dx),
            grouped(args.dgamma),
            grouped(args.dbeta)});
}

void grouped_norm_forward(const GroupedNormForward& args, Accuracy accuracy) {
  forward({{args.form, args.gamma, args.beta, accuracy, args.given},
           args.x,
           args.y,
           {},
           args.mean,
           args.variance});
}

void grouped_norm_backward(const GroupedNormBackward& args, Accuracy accuracy) {
  backward({{args.form, args.gamma, {}, accuracy, args.given},
            args.dy,
            args.x,
            {},
            args.dx,
            args.dgamma,
            args.dbeta});
}

}  // namespace equinorm::reference
