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
  forward({{layer_norm_form(args.eps), args.gamma, args.beta, accuracy},
           args.x,
           args.y,
           saved(args.statistics)});
}

void layer_norm_backward(const LayerNormBackward& args, Accuracy accuracy) {
  backward({{layer_norm_form(args.eps), args.gamma, {}, accuracy},
            args.dy,
            args.x,
            saved(args.statistics),
            args.dx,
            args.dgamma,
            args.dbeta});
}

void rms_norm_forward(const RmsNormForward& args, Accuracy accuracy) {
  forward({{rms_norm_form(args.add_one, args.eps), args.gamma, {}, accuracy},
           args.x,
           args.y,
           saved(args.statistics)});
}

void rms_norm_backward(const RmsNormBackward& args, Accuracy accuracy) {
  backward({{rms_norm_form(args.add_one, args.eps), args.gamma, {}, accuracy},
            args.dy,
            args.x,
            saved(args.statistics),
            args.dx,
            args.dgamma,
            {}});
}

void row_norm_forward(const RowNormForward& args, Accuracy accuracy) {
  forward({{args.form, args.gamma, args.beta, accuracy}, args.x, args.y, {}});
}

void row_norm_backward(const RowNormBackward& args, Accuracy accuracy) {
  backward({{args.form, args.gamma, {}, accuracy},
            args.dy,
            args.x,
            {},
            args.dx,
            args.dgamma,
            args.dbeta});
}

}  // namespace equinorm::reference
