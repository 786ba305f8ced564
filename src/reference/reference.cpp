// The public names of the contract oracle.
#include "equinorm/reference.hpp"

#include "rows.hpp"

namespace equinorm::reference {
namespace {

SavedStatistics saved(const LayerNormStatistics& s) {
  return {s.mean, s.mean_tail, s.rstd, s.exact};
}

SavedStatistics saved(const RmsNormStatistics& s) { return {{}, {}, s.rstd, s.exact}; }

void forward_rows(const Parameters& parameters, const ConstRows& x, const Rows& y,
                  const SavedStatistics& statistics) {
  ForwardCall call;
  call.parameters = parameters;
  call.x = grouped(x);
  call.y = grouped(y);
  call.statistics = statistics;
  forward(call);
}

template <class Args>
void backward_rows(const Parameters& parameters, const Args& args,
                   const SavedStatistics& statistics, const Vector& dbeta) {
  BackwardCall call;
  call.parameters = parameters;
  call.dy = grouped(args.dy);
  call.x = grouped(args.x);
  call.statistics = statistics;
  call.dx = grouped(args.dx);
  call.dgamma = grouped(args.dgamma);
  call.dbeta = grouped(dbeta);
  backward(call);
}

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
  forward_rows({layer_norm_form(args.eps), grouped(args.gamma), grouped(args.beta), accuracy, {}},
               args.x, args.y, saved(args.statistics));
}

void layer_norm_backward(const LayerNormBackward& args, Accuracy accuracy) {
  backward_rows({layer_norm_form(args.eps), grouped(args.gamma), {}, accuracy, {}}, args,
                saved(args.statistics), args.dbeta);
}

void rms_norm_forward(const RmsNormForward& args, Accuracy accuracy) {
  forward_rows({rms_norm_form(args.add_one, args.eps), grouped(args.gamma), {}, accuracy, {}},
               args.x, args.y, saved(args.statistics));
}

void rms_norm_backward(const RmsNormBackward& args, Accuracy accuracy) {
  backward_rows({rms_norm_form(args.add_one, args.eps), grouped(args.gamma), {}, accuracy, {}},
                args, saved(args.statistics), {});
}

void row_norm_forward(const RowNormForward& args, Accuracy accuracy) {
  forward_rows({args.form, grouped(args.gamma), grouped(args.beta), accuracy, {}}, args.x, args.y,
               {});
}

void row_norm_backward(const RowNormBackward& args, Accuracy accuracy) {
  backward_rows({args.form, grouped(args.gamma), {}, accuracy, {}}, args, {}, args.dbeta);
}

void grouped_norm_forward(const GroupedNormForward& args, Accuracy accuracy) {
  ForwardCall call;
  call.parameters = {args.form, args.gamma, args.beta, accuracy, args.given};
  call.x = args.x;
  call.y = args.y;
  call.mean = args.mean;
  call.variance = args.variance;
  forward(call);
}

void grouped_norm_backward(const GroupedNormBackward& args, Accuracy accuracy) {
  BackwardCall call;
  call.parameters = {args.form, args.gamma, {}, accuracy, args.given};
  call.dy = args.dy;
  call.x = args.x;
  call.dx = args.dx;
  call.dgamma = args.dgamma;
  call.dbeta = args.dbeta;
  backward(call);
}

}  // namespace equinorm::reference
