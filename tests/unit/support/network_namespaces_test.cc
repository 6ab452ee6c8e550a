// Hosts that tests of several machines run on.

#include "tests/support/network_namespaces.h"

#include <filesystem>
#include <memory>
#include <string>

#include "common/asio.h"
#include "tests/support/catch.h"
#include "tests/support/network_proxy.h"
#include "tests/support/program.h"
#include "tests/support/soon.h"

namespace pacml {
namespace {

using testing::NetworkProxy;
using testing::tcp_address;
using testing::VirtualHost;
using testing::VirtualNetwork;
using testing::wait_until;

bool possible() {
  if (!VirtualNetwork::obstacle().empty())
    WARN("this test is skipped: " + VirtualNetwork::obstacle());
  return VirtualNetwork::obstacle().empty();
}

// Runs a command on a host; what a shell says of it.
int run(const VirtualHost& host, const std::string& command) {
  auto words = host.launcher();
  words.insert(words.end(), {"bash", "-c", command});
  return testing::run(words).code;
}

// The wait is long enough for two hosts on one machine, unless it does other things: then we look
// again.
bool reaches(const VirtualHost& from, const VirtualHost& to) {
  // A connection that is refused has reached somebody.
  return run(from, "timeout 0.3 bash -c 'exec 3<>/dev/tcp/" + to.address() + "/9'") != 124;
}

std::size_t namespaces() {
  std::size_t count = 0;
  std::error_code absent;
  const std::string own = "pacml-" + std::to_string(::getpid()) + "-";
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", absent)) {
    if (entry.path().filename().string().starts_with(own)) ++count;
  }
  return count;
}

TEST_CASE("hosts reach one another while they are plugged in", "[unit][support]") {
  if (!possible()) return;
  VirtualNetwork network;
  VirtualHost& first = network.add_host();
  VirtualHost& second = network.add_host();
  CHECK(first.address() != second.address());
  wait_until("they reach one another", [&] { return reaches(first, second); });
  second.unplug();
  CHECK_FALSE(reaches(first, second));
  second.plug_in();
  wait_until("they reach one another again", [&] { return reaches(first, second); });
  first.limit_rate(20);
  first.lose(1);
  wait_until("they reach one another still", [&] { return reaches(second, first); });
  first.lose(100);
  CHECK_FALSE(reaches(second, first));
}

TEST_CASE("a proxy may stand on a host", "[unit][support]") {
  if (!possible()) return;
  VirtualNetwork network;
  VirtualHost& host = network.add_host();
  const NetworkProxy proxy({{tcp_address(host.address(), 9), tcp_address(host.address(), 10)}},
                           host.entrance());
  CHECK(run(host, "exec 3<>/dev/tcp/" + host.address() + "/9") == 0);
  CHECK(run(host, "exec 3<>/dev/tcp/" + host.address() + "/10") != 0);
}

TEST_CASE("nothing of a network is left when it goes", "[unit][support]") {
  if (!possible()) return;
  {
    VirtualNetwork network;
    network.add_host();
    network.add_host();
    CHECK(namespaces() == 3);
  }
  CHECK(namespaces() == 0);
  // Not when it fails, either.
  CHECK_THROWS_WITH(VirtualHost("pacml-" + std::to_string(::getpid()) + "-lost", "no-switch", 1),
                    Catch::Contains("no-switch"));
  CHECK(namespaces() == 0);
}

}  // namespace
}  // namespace pacml
