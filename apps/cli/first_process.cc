#include "apps/cli/first_process.h"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace pacml::apps {

void end_first_process_by_signals() {
  if (::getpid() != 1) return;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;  // nohup's wish
    action.sa_handler = [](int signal) { ::_exit(128 + signal); };
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace pacml::apps
