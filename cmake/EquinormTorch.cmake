# PyTorch's C++ library out of the Python wheel: equinorm_use_torch(target [API]).
#
# The paths come from the Python package, not from find_package(Torch): that one wants a CUDA
# toolkit as soon as the wheel was built with CUDA, and Equinorm needs only the CPU library.
set(EQUINORM_PYTHON "" CACHE FILEPATH "Python that has torch; default: .venv of the source tree")
if(EQUINORM_PYTHON)
  set(_python ${EQUINORM_PYTHON})
elseif(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(_python ${PROJECT_SOURCE_DIR}/.venv/bin/python)
else()
  set(_python python3)
endif()
execute_process(
  COMMAND ${_python} -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
  OUTPUT_VARIABLE EQUINORM_TORCH_DIR RESULT_VARIABLE _result)
if(NOT _result EQUAL 0 OR NOT EXISTS "${EQUINORM_TORCH_DIR}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "PyTorch was not found with '${_python}'. Run ./run.sh or ./test.sh, which "
          "install it into .venv, name a Python that has it with -DEQUINORM_PYTHON=..., or build "
          "without the LibTorch front end with -DEQUINORM_TORCH=OFF.")
endif()

add_library(equinorm_libtorch INTERFACE)
target_include_directories(equinorm_libtorch SYSTEM INTERFACE
  ${EQUINORM_TORCH_DIR}/include ${EQUINORM_TORCH_DIR}/include/torch/csrc/api/include)
# By name, not by path: from paths CMake would make a search path of its own and warn that the
# wheel's libgomp hides the compiler's. They are the same library, and one process loads one of them.
target_link_libraries(equinorm_libtorch INTERFACE
  -Wl,--no-as-needed -ltorch_cpu -Wl,--as-needed -lc10
  # at::parallel_for is a template: compiled without OpenMP it runs on one thread, silently.
  OpenMP::OpenMP_CXX)
target_link_options(equinorm_libtorch INTERFACE
  -L${EQUINORM_TORCH_DIR}/lib -Wl,-rpath,${EQUINORM_TORCH_DIR}/lib)

# LibTorch's headers cost up to 20 s per file, so all users share a precompiled header: of its
# operators and autograd, or of all of torch/torch.h, whose templates still cost each file some
# seconds. It is only valid for files compiled alike, hence -fPIC for executables too.
file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cpp "")
function(equinorm_torch_options target)
  equinorm_options(${target})
  # Private: LibTorch's headers bring an fmt of another version, which users must not see.
  target_link_libraries(${target} PRIVATE equinorm_libtorch)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()
function(equinorm_torch_pch name)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/torch_pch.cpp)
  equinorm_torch_options(${name})
  target_precompile_headers(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE -fpch-preprocess)
endfunction()
equinorm_torch_pch(equinorm_operators_pch <ATen/TensorOperators.h>
                   <torch/csrc/autograd/custom_function.h>)
equinorm_torch_pch(equinorm_torch_pch <torch/torch.h>)

# equinorm_use_torch(target [API]): API where files include torch/torch.h.
function(equinorm_use_torch target)
  equinorm_torch_options(${target})
  if("API" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM equinorm_torch_pch)
  else()
    target_precompile_headers(${target} REUSE_FROM equinorm_operators_pch)
  endif()
endfunction()
