# Tried: parsed. Not tried: `spack dev-build`, as Spack is not on the machine that this was written on.
from spack.package import *


class PyHocket(PythonPackage):
    """Contention-free MPI collectives for networks that are the bottleneck."""

    license("BSD-3-Clause")

    # From a clone: spack dev-build py-hocket@0.1.0
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    conflicts("%gcc@:11", msg="a C++20 compiler is needed")
    conflicts("%clang@:14", msg="a C++20 compiler is needed")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-nanobind@2.4:", type="build")
    depends_on("py-pip", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi", type=("build", "link", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-clustershell@1.9:", type=("build", "run"))
    depends_on("py-pyyaml@6:", type=("build", "run"))
    depends_on("py-defusedxml@0.7:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-matplotlib@3.8:", type=("build", "run"))
    depends_on("py-psutil@5.9:", type=("build", "run"))
    depends_on("py-mpi4py@4:", type=("build", "run"))

    def config_settings(self, spec, prefix):
        # Spack's own MPI gets its runtime on first use; nothing is downloaded while building.
        return {"cmake.define.HOCKET_READY_RUNTIMES": "OFF"}
