#include <algorithm>
#include <string>
#include <vector>

#include "apps/launch/hostfile.h"
#include "apps/launch/template_text.h"
#include "common/check.h"
#include "common/result.h"
#include "tests/fuzz/launch/targets.h"

namespace pacml::fuzz {

bool hostfile(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    const auto hosts = apps::parse_hostfile("fuzz", text);
    PACML_CHECK(!hosts.empty(), "a list has a host");
    for (const auto& host : hosts) {
      PACML_CHECK(apps::shell_word(host.login) == host.login && host.login.front() != '-',
                  "a login is one plain word");
      PACML_CHECK(host.login.ends_with(host.name), "a host is named in its login");
    }
    const auto learners =
        1 + std::ranges::count(hosts, apps::HostRole::kLearner, &apps::Host::role);
    const auto placement = apps::place_roles(hosts, learners, 3, std::nullopt);
    const auto are_there = [&](const std::vector<std::size_t>& some) {
      return !some.empty() &&
             std::ranges::all_of(some, [&](std::size_t host) { return host < hosts.size(); });
    };
    PACML_CHECK(are_there(placement.learners) && are_there(placement.shards) &&
                    are_there(placement.actors) && placement.shards.size() == 3 &&
                    std::ranges::ssize(placement.learners) == learners,
                "every role has a host");
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace pacml::fuzz
