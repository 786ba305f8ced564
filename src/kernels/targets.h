// Which of Highway's targets the kernels are compiled for, and how they are called here. Every
// kernel TU includes this before Highway.
//
// Off: SSSE3 and SSE4 (no fused multiply-add), SVE (vectors without a fixed size; today's SVE
// cores run NEON at the same width), AVX3_DL. EMU128 is the portable fallback on every machine.
// The trap: HWY_IS_DEBUG_BUILD would call into Highway's library, which is not linked.
#if !defined(EQUINORM_KERNELS_TARGETS_H_)
#define EQUINORM_KERNELS_TARGETS_H_

#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_IS_DEBUG_BUILD 0
// Highway distrusts EMU128 under GCC before 12.3 for a fault in vectorized integer multiplication
// (GCC bug 106322), which no kernel uses.
#define HWY_BROKEN_EMU128 0

#endif

// Per target, after highway.h: EQUINORM_TARGET is the name of the target being compiled.
#undef EQUINORM_TARGET
#define EQUINORM_TARGET                    \
  (HWY_TARGET == HWY_AVX3   ? Target::avx3 \
   : HWY_TARGET == HWY_AVX2 ? Target::avx2 \
   : HWY_TARGET == HWY_NEON ? Target::neon \
                            : Target::portable)

// After all targets: the table of `target` out of the function `tables` of each target's namespace,
// null where there is none.
#undef EQUINORM_PICK_TABLE
#if defined(__aarch64__)
#define EQUINORM_PICK_TABLE(target, tables)           \
  ((target) == Target::portable ? &N_EMU128::tables() \
   : (target) == Target::neon   ? &N_NEON::tables()   \
                                : nullptr)
#elif defined(__x86_64__)
#define EQUINORM_PICK_TABLE(target, tables)           \
  ((target) == Target::portable ? &N_EMU128::tables() \
   : (target) == Target::avx2   ? &N_AVX2::tables()   \
   : (target) == Target::avx3   ? &N_AVX3::tables()   \
                                : nullptr)
#else
#define EQUINORM_PICK_TABLE(target, tables) \
  ((target) == Target::portable ? &N_EMU128::tables() : nullptr)
#endif
