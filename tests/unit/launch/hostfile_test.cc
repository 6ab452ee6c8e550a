#include "apps/launch/hostfile.h"

#include "common/result.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::apps;

namespace {

std::vector<Host> parse(std::string_view text) { return parse_hostfile("hosts", text); }

}  // namespace

TEST_CASE("a list of hosts has one a line, with settings and comments") {
  const auto hosts = parse(
      "# ours\n\n"
      "  trainer@10.0.0.1   # the learner\r\n"
      "b.example slots=16\n"
      "c role=replay\n"
      "d\trole=replay slots=2");
  REQUIRE(hosts.size() == 4);
  CHECK(hosts[0] == Host{"trainer@10.0.0.1", "10.0.0.1", 1, HostRole::kAny});
  CHECK(hosts[1] == Host{"b.example", "b.example", 16, HostRole::kAny});
  CHECK(hosts[2] == Host{"c", "c", 0, HostRole::kReplay});
  CHECK(hosts[3] == Host{"d", "d", 2, HostRole::kReplay});
}

TEST_CASE("what is wrong with a list of hosts is said, with its line") {
  const auto [text, sentence] = GENERATE(table<std::string, std::string>({
      {"", "hosts: names no host"},
      {"# a\n", "hosts: names no host"},
      {"a\nb slot=2\n", "hosts:2: 'slot=2' is neither slots=N nor role=learner|replay|actor"},
      {"a slots=x", "hosts:1: slots must be a number in 0..4096, not 'x'"},
      {"a slots=", "hosts:1: slots must be a number in 0..4096, not ''"},
      {"a slots=-1", "hosts:1: slots must be a number in 0..4096, not '-1'"},
      {"a slots=4097", "hosts:1: slots must be a number in 0..4096, not '4097'"},
      {"a slots=1 slots=2", "hosts:1: slots is given twice"},
      {"a role=learner role=actor", "hosts:1: role is given twice"},
      {"a role=lerner", "hosts:1: there is no role 'lerner'; did you mean 'learner'?"},
      {"a\na", "hosts:2: a is named twice; slots=N has more actors"},
      {"x@a\ny@a", "hosts:2: a is named twice; slots=N has more actors"},
      {"-oProxyCommand=evil",
       "hosts:1: '-oProxyCommand=evil' is not a host: expected NAME or "
       "USER@NAME"},
      {"-a@b", "hosts:1: '-a@b' is not a host: expected NAME or USER@NAME"},
      {"@b", "hosts:1: '@b' is not a host: expected NAME or USER@NAME"},
      {"a;b", "hosts:1: 'a;b' is not a host: expected NAME or USER@NAME"},
  }));
  CHECK_THROWS_WITH(parse(text), sentence);
}

TEST_CASE("the first host learns, and actors take turns over the slots") {
  const auto hosts = parse("a\nb slots=3\nc slots=2\n");
  CHECK(place_roles(hosts, 1, 1, std::nullopt) == Placement{{0}, {0}, {0, 1, 2, 1, 2, 1}});
  CHECK(place_roles(hosts, 1, 0, 3) == Placement{{0}, {}, {0, 1, 2}});
}

TEST_CASE("hosts may be given to a role") {
  const auto hosts = parse("a slots=2\nb role=learner\nc role=replay\nd role=replay slots=1\n");
  CHECK(place_roles(hosts, 1, 3, std::nullopt) == Placement{{1}, {2, 3, 2}, {0, 3, 0}});
}

TEST_CASE("several learners take turns over their hosts") {
  CHECK(place_roles(parse("a\nb\nc\n"), 2, 0, 1).learners == std::vector<std::size_t>{0, 1});
  CHECK(place_roles(parse("a\nb\n"), 3, 0, 1).learners == std::vector<std::size_t>{0, 1, 0});
  const auto hosts = parse("a\nb role=learner\nc role=learner\n");
  CHECK(place_roles(hosts, 3, 1, 1) == Placement{{1, 2, 1}, {1}, {0}});
  CHECK_THROWS_WITH(place_roles(hosts, 1, 0, 1),
                    "2 hosts have role=learner, but learner.replicas is 1");
}

TEST_CASE("more actors than slots are refused, and none") {
  CHECK_THROWS_WITH(place_roles(parse("a slots=2"), 1, 0, 3),
                    "--actors: the hosts have 2 slots, not 3");
  CHECK_THROWS_WITH(place_roles(parse("a role=learner"), 1, 0, std::nullopt),
                    Catch::Contains("no slots"));
}
