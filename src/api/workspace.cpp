#include "workspace.h"

#include <new>

#include "check.h"

namespace equinorm {
namespace {
constexpr std::align_val_t kAlignment{64};
}

Workspace::~Workspace() { ::operator delete(data_, kAlignment); }

void* Workspace::reserve(std::size_t bytes) noexcept {
  if (bytes <= size_) return data_;
  ::operator delete(data_, kAlignment);
  size_ = 0;
  data_ = ::operator new(bytes, kAlignment, std::nothrow);
  if (data_ != nullptr) size_ = bytes;
  return data_;
}

Workspace* ContextAccess::workspace(Context& context) noexcept {
  if (context.workspace_ == nullptr) context.workspace_.reset(new (std::nothrow) Workspace);
  return context.workspace_.get();
}

double* WorkspacePlan::reserve(Context& context) const noexcept {
  std::int64_t bytes;
  if (overflow_ || __builtin_mul_overflow(size_, std::int64_t{sizeof(double)}, &bytes)) {
    return nullptr;
  }
  Workspace* workspace = ContextAccess::workspace(context);
  if (workspace == nullptr) return nullptr;
  return static_cast<double*>(workspace->reserve(static_cast<std::size_t>(bytes)));
}

Status WorkspacePlan::out_of_memory() const noexcept {
  Status status = invalid("x.cols", Value(row_elements_), "workspace must fit into memory");
  status.code = StatusCode::out_of_memory;
  return status;
}

}  // namespace equinorm
