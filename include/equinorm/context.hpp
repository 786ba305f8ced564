// Where and how a call runs: threads, instruction set, accuracy. None of it changes the bits of a
// result, except Accuracy, which chooses between the two modes of docs/numerics.md.
//
// The one trap: a Context holds the workspace of the call in progress, so one Context serves one
// calling thread at a time. Make one per thread; it is cheap until the first large call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "equinorm/status.hpp"

namespace equinorm {

/// Instruction sets that kernels exist for, narrowest first.
enum class Isa : std::uint8_t {
  portable,  ///< plain C++ with fused multiply-add through std::fma; always available
  neon,      ///< Arm Advanced SIMD
  avx2,      ///< x86 AVX2 + FMA + F16C
  avx3,      ///< x86 AVX-512 F, BW, CD, DQ, VL
};

/// "portable", "neon", "avx2" or "avx3".
[[nodiscard]] const char* name_of(Isa isa) noexcept;

/// Instruction sets that this build and this machine can run, narrowest first. EQUINORM_MAX_ISA
/// (a name as above) in the environment, read once, removes those wider than it.
[[nodiscard]] std::span<const Isa> available_isas() noexcept;

/// standard: fast statistics in the compute type, rows that cannot be trusted take the exact path.
/// exact: every row takes the exact path.
enum class Accuracy : std::uint8_t { standard, exact };

/// Runs independent tasks. Implement it to run the kernels on your own threads.
class Executor {
 public:
  using Task = void (*)(void* state, std::int64_t index) noexcept;

  virtual ~Executor() = default;

  /// How many tasks are worth handing over at once; at least 1.
  [[nodiscard]] virtual int concurrency() const noexcept = 0;

  /// Calls task(state, i) once for each i in [0, count), in any order, on any threads, and returns
  /// when all have returned.
  virtual void run(std::int64_t count, Task task, void* state) noexcept = 0;
};

class Workspace;  // src/api/workspace.h

/// Settings and workspace of calls. Default: OpenMP threads (EQUINORM_NUM_THREADS, read once, or
/// OpenMP's own default), widest instruction set, standard accuracy.
class Context {
 public:
  Context() noexcept;
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;

  /// Upper limit of threads for the built-in OpenMP executor. Error unless 1 <= threads <= 4096.
  /// OpenMP's runtime ends the process where the system refuses to create a thread; an executor of
  /// your own need not.
  Status set_threads(int threads) noexcept;
  /// Tasks run on `executor` from now on, or on OpenMP again when null. Not owned.
  void set_executor(Executor* executor) noexcept { executor_ = executor; }
  /// Forces an instruction set. Error (unsupported) when it is not in available_isas().
  Status set_isa(Isa isa) noexcept;
  void set_accuracy(Accuracy accuracy) noexcept { accuracy_ = accuracy; }

  [[nodiscard]] int threads() const noexcept { return threads_; }
  [[nodiscard]] Executor* executor() const noexcept { return executor_; }
  [[nodiscard]] Isa isa() const noexcept { return isa_; }
  [[nodiscard]] Accuracy accuracy() const noexcept { return accuracy_; }

  /// Instruction set of the kernel that the last successful call ran, as reported by the kernel
  /// itself.
  [[nodiscard]] Isa last_isa() const noexcept { return last_isa_; }

 private:
  friend struct ContextAccess;  // src/api
  int threads_;
  Executor* executor_ = nullptr;
  Isa isa_;
  Isa last_isa_ = Isa::portable;
  Accuracy accuracy_ = Accuracy::standard;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace equinorm
