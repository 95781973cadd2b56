#pragma once
/// Whether buffers may be in the memory of a GPU.

namespace hocket::runtime {

/// Whether the runtime of CUDA or HIP is in this process: pointers that a program hands to MPI may be of a device, and
/// schedules copy with the processor. Local.
[[nodiscard]] bool gpu_runtime_loaded();

}  // namespace hocket::runtime
