#include "apps/process/open_files.h"

#include <sys/resource.h>

#include <string>

#include "common/result.h"

namespace pacml::apps {

std::size_t raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

void require_open_files(std::size_t count, const char* what) {
  const std::size_t allowed = raise_open_file_limit();
  if (allowed >= count) return;
  throw UserError(std::string(what) + " needs " + std::to_string(count) +
                  " open files, and this process may have " + std::to_string(allowed) +
                  "; allow more with `ulimit -n " + std::to_string(count) +
                  "` or in /etc/security/limits.conf");
}

}  // namespace pacml::apps
