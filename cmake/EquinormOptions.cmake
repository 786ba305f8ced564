# Compiler settings shared by every target: equinorm_options(target).
find_program(EQUINORM_CCACHE ccache)
if(EQUINORM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these relaxations to hit the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      ${EQUINORM_CCACHE})
endif()

function(equinorm_options target)
  # -ffp-contract=off: the numerics contract says where a multiply-add is fused, not the compiler.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -ffp-contract=off
                         $<$<BOOL:${EQUINORM_WERROR}>:-Werror>)
  if(EQUINORM_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${EQUINORM_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all)
    if(EQUINORM_SANITIZE MATCHES address)
      # Checks as calls: inline they make the kernels take half an hour to compile.
      target_compile_options(${target} PRIVATE --param asan-instrumentation-with-call-threshold=0)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${EQUINORM_SANITIZE})
  endif()
endfunction()
