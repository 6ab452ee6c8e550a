#include "tests/support/network_namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "tests/support/program.h"

namespace pacml::testing {
namespace {

const std::string kPrefix = "pacml-";
const std::filesystem::path kNamespaces = "/run/netns";

Outcome shell(const std::string& command) { return run({"/bin/sh", "-c", command}); }

void must(const std::string& command) {
  const Outcome outcome = shell(command);
  if (outcome.code != 0) throw std::runtime_error(command + ": " + outcome.out + outcome.err);
}

std::string in(const std::string& name) { return "ip netns exec " + name + " "; }

std::string own_name(const std::string& what) {
  static int count = 0;  // one process may have several networks
  return kPrefix + std::to_string(::getpid()) + "-" + std::to_string(count++) + "-" + what;
}

void remove(const std::string& name) { static_cast<void>(shell("ip netns del " + name)); }

// The namespaces of processes that had no time to remove them; one of these may have had our
// number.
void sweep() {
  static bool first = true;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(kNamespaces, absent)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    const auto owner = static_cast<pid_t>(std::atoi(name.c_str() + kPrefix.size()));
    const bool gone = owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH;
    if (gone || (first && owner == ::getpid())) remove(name);
  }
  first = false;
}

std::string find_obstacle() {
  if (::geteuid() != 0) return "network namespaces need root";
  for (const std::string tool : {"ip", "tc", "nft"}) {
    if (shell("command -v " + tool).code != 0) {
      return tool + " is not installed (scripts/install_dependencies --test)";
    }
  }
  try {
    VirtualNetwork network;
    VirtualHost& host = network.add_host();
    host.limit_rate(100);
    host.lose(1);
    host.unplug();
  } catch (const std::runtime_error& e) {
    return std::string("this machine allows no network namespaces: ") + e.what();
  }
  return "";
}

}  // namespace

// ---- VirtualHost ----

VirtualHost::VirtualHost(std::string name, std::string switch_name, int number)
    : name_(std::move(name)),
      switch_name_(std::move(switch_name)),
      port_("port" + std::to_string(number)),
      address_("10.77.0." + std::to_string(number)) {
  must("ip netns add " + name_);
  try {
    must("ip link add eth0 netns " + name_ + " type veth peer name " + port_ + " netns " +
         switch_name_);
    must("ip -n " + switch_name_ + " link set " + port_ + " master switch up");
    // Packets as a wire carries them, not as the kernel likes them, so that one in a hundred is
    // one.
    for (const std::string& end :
         {"-n " + name_ + " link set eth0", "-n " + switch_name_ + " link set " + port_}) {
      must("ip " + end + " gso_max_segs 1");
    }
    must("ip -n " + name_ + " address add " + address_ + "/24 dev eth0");
    must("ip -n " + name_ + " link set lo up");
    plug_in();
  } catch (...) {
    remove(name_);
    throw;
  }
}

VirtualHost::~VirtualHost() { remove(name_); }

std::string VirtualHost::tcp(int port) const {
  return "tcp://" + address_ + ":" + std::to_string(port);
}

std::vector<std::string> VirtualHost::launcher() const {
  return {"/usr/bin/env", "ip", "netns", "exec", name_};
}

std::function<void()> VirtualHost::entrance() const {
  return [path = kNamespaces / name_] {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw std::runtime_error("cannot open " + path.string());
    const bool entered = ::setns(fd, CLONE_NEWNET) == 0;
    ::close(fd);
    if (!entered) throw std::runtime_error("cannot enter " + path.string());
  };
}

// At the switch, as a cable is pulled: the host's own addresses and routes stay.
void VirtualHost::unplug() { must("ip -n " + switch_name_ + " link set " + port_ + " nomaster"); }

void VirtualHost::plug_in() {
  must("ip -n " + switch_name_ + " link set " + port_ + " master switch up");
  must("ip -n " + name_ + " link set eth0 up");
}

void VirtualHost::limit_rate(int megabits_per_second) {
  const std::string limit =
      " root tbf rate " + std::to_string(megabits_per_second) + "mbit burst 32kbit latency 400ms";
  must("tc -n " + name_ + " qdisc replace dev eth0" + limit);
  must("tc -n " + switch_name_ + " qdisc replace dev " + port_ + limit);
}

void VirtualHost::lose(int percent) {
  const std::string unlucky =
      percent < 100 ? "numgen random mod 100 < " + std::to_string(percent) : "";
  must(in(name_) + "nft 'flush ruleset; table inet loss { chain arriving { " +
       "type filter hook input priority 0; iifname eth0 " + unlucky + " drop; }; }'");
}

// ---- VirtualNetwork ----

std::string VirtualNetwork::obstacle() {
  static const std::string found = find_obstacle();
  return found;
}

VirtualNetwork::VirtualNetwork() : switch_name_(own_name("switch")) {
  sweep();
  must("ip netns add " + switch_name_);
  try {
    must("ip -n " + switch_name_ + " link add switch type bridge");
    must("ip -n " + switch_name_ + " link set switch up");
  } catch (...) {
    remove(switch_name_);
    throw;
  }
}

VirtualNetwork::~VirtualNetwork() {
  hosts_.clear();
  remove(switch_name_);
}

VirtualHost& VirtualNetwork::add_host() {
  const int number = static_cast<int>(hosts_.size()) + 1;
  hosts_.push_back(std::make_unique<VirtualHost>(own_name("host" + std::to_string(number)),
                                                 switch_name_, number));
  return *hosts_.back();
}

}  // namespace pacml::testing
