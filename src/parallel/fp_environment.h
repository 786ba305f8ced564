// The floating-point environment of the numerics contract, for as long as an object lives: round
// to nearest, no flush-to-zero, no denormals-are-zero, no traps. The caller's comes back after.
//
// The trap: compilers may move arithmetic across the switch; keep the arithmetic in functions
// that are called through a pointer.
#pragma once

#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace equinorm::parallel {

class FpEnvironment {
 public:
#if defined(__x86_64__) || defined(__i386__)
  FpEnvironment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FpEnvironment() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  FpEnvironment() noexcept {
    const std::uint64_t standard = 0;
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(standard) : "memory");
  }
  ~FpEnvironment() { asm volatile("msr fpcr, %0" : : "r"(saved_) : "memory"); }
#else
  FpEnvironment() noexcept {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FpEnvironment() { std::fesetenv(&saved_); }
#endif
  FpEnvironment(const FpEnvironment&) = delete;
  FpEnvironment& operator=(const FpEnvironment&) = delete;

 private:
#if defined(__x86_64__) || defined(__i386__)
  unsigned saved_;
#elif defined(__aarch64__)
  std::uint64_t saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace equinorm::parallel
