#pragma once
/// Detection of GPU runtimes, where buffers may be in device memory.

namespace hocket::runtime {

/// True if the CUDA or HIP runtime is loaded in this process. Pointers that the program passes to MPI may then be
/// device pointers, which schedules cannot serve because they copy by CPU. Local.
[[nodiscard]] bool gpu_runtime_loaded();

}  // namespace hocket::runtime
