#include "common/resident_memory.h"

#include <unistd.h>

#include <fstream>

namespace pacml {

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");  // in pages
  std::int64_t total = 0;
  std::int64_t resident = 0;
  return statm >> total >> resident ? resident * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace pacml
