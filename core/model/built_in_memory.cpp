#include "core/model/memory_profile.hpp"

namespace hocket {

const MemoryProfile& MemoryProfile::built_in() {
  static const MemoryProfile profile = parse(R"(hocket memory profile 1
origin rough figures for a virtual server with two cores of an Intel Xeon, two ranks; estimated, not calibrated
cores 2
wire 125000000 5e-05
copy 2 1 1 1048576 5e-11
copy 2 1 1 268435456 2e-10
strided-read 2 8 1 268435456 8e-09
strided-write 2 8 1 268435456 1e-08
gather 2 8 1 1048576 1e-09
gather 2 8 1 268435456 6e-09
scatter 2 8 1 1048576 1.5e-09
scatter 2 8 1 268435456 1.2e-08
shared-gather 2 8 1 268435456 1.5e-08
shared-scatter 2 8 1 268435456 2e-08
pull 2 1 64 268435456 1e-09
pull 2 1 65536 268435456 2e-10
transpose 2 8 1 268435456 4e-09
count 2 4 2048 268435456 9e-10
partition 2 4 2048 268435456 2.5e-09
partition 2 8 2048 268435456 3e-09
divide 2 8 2 268435456 2.5e-09
classify 2 8 1 268435456 2e-09
classify 2 8 64 268435456 8e-09
scan 2 8 1 1048576 1e-09
route 2 8 2 67108864 1e-09
route 2 8 2048 67108864 2e-09
split 2 8 2 67108864 4e-09
regions 2 8 256 67108864 4e-09
regions 2 8 2048 67108864 6e-09
settle 2 8 1 524288 3e-09
settle 2 64 1 67108864 3e-08
scatter-once 2 8 1 1048576 2e-09
scatter-once 2 8 1 268435456 1.2e-08
sort 2 4 1 1048576 8e-09
sort 2 4 1 268435456 1.2e-08
sort 2 16 1 1048576 1.2e-08
sort 2 16 1 268435456 2.5e-08
library-sort 2 4 1 262144 4e-09
library-sort 2 4 1 268435456 7e-09
pack 2 8 1 268435456 2e-09
touch 2 1 1 268435456 1.5e-10
shared-touch 2 1 1 268435456 4e-10
message 2 1 1 8 5e-07
message 2 1 1 4194304 2e-10
meet 2 1 1 1 5e-06
collective 2 1 1 1 1e-05
)");
  return profile;
}

}  // namespace hocket
