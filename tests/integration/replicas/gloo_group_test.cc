#include "learner/replicas/gloo_group.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"
#include "tests/support/catch.h"
#include "tests/support/gloo_groups.h"
#include "tests/support/soon.h"

namespace pacml::learner {
namespace {

using std::chrono::milliseconds;

// What each member's body returns, by rank.
template <class T>
std::vector<T> of_all(std::size_t size, const std::function<T(ReplicaGroup&)>& body) {
  std::mutex mutex;
  std::vector<T> results(size);
  with_gloo(size, [&](ReplicaGroup& group) {
    T result = body(group);
    const std::lock_guard lock(mutex);
    results[group.rank()] = std::move(result);
  });
  return results;
}

TEST_CASE("everybody gathers everybody's figures, in the order of ranks",
          "[integration][replicas]") {
  const auto gathered = of_all<std::vector<double>>(3, [](ReplicaGroup& group) {
    const std::vector<double> mine = {static_cast<double>(group.rank()), 0.1};
    std::vector<double> all;
    if (!group.gather(mine, all)) all.clear();
    return all;
  });
  for (const auto& all : gathered) CHECK(all == std::vector<double>{0, 0.1, 1, 0.1, 2, 0.1});
}

TEST_CASE("sums leave the same bits with everybody", "[integration][replicas]") {
  constexpr std::size_t kSize = 30'011;
  const auto part = [](std::size_t rank, std::size_t i) {
    return std::sin(static_cast<float>(i * (rank + 1))) * 1e3F;
  };
  const auto sums = of_all<std::vector<float>>(3, [&](ReplicaGroup& group) {
    std::vector<float> values(kSize);
    for (std::size_t i = 0; i < kSize; ++i) values[i] = part(group.rank(), i);
    if (!group.sum(values)) values.clear();
    return values;
  });
  REQUIRE(sums[0].size() == kSize);
  CHECK(sums[1] == sums[0]);
  CHECK(sums[2] == sums[0]);
  bool right = true;
  for (std::size_t i = 0; i < kSize; ++i) {
    const double exact = static_cast<double>(part(0, i)) + part(1, i) + part(2, i);
    right = right && std::abs(sums[0][i] - exact) < 1e-3;
  }
  CHECK(right);
}

TEST_CASE("everybody has the leader's bytes after a broadcast", "[integration][replicas]") {
  const std::string state(100'000, '\xfe');
  const auto received = of_all<std::string>(2, [&](ReplicaGroup& group) {
    std::string bytes = group.rank() == 0 ? state : "mine";
    return group.broadcast(bytes) ? bytes : "failed";
  });
  CHECK(received == std::vector<std::string>{state, state});
}

TEST_CASE("a member that leaves ends the others' calls before their patience does",
          "[integration][replicas]") {
  const auto codes = of_all<int>(3, [](ReplicaGroup& group) {
    std::vector<float> values(1'000, 1.0F);
    static_cast<void>(group.sum(values));  // by then all are connected to all
    if (group.rank() == 1) return -1;      // its connections close when it is destroyed
    const auto summed = group.sum(values);
    return summed ? 0 : static_cast<int>(summed.error().code);
  });
  CHECK(codes[0] == static_cast<int>(Errc::kDisconnected));
  CHECK(codes[2] == static_cast<int>(Errc::kDisconnected));
}

TEST_CASE("a member that hangs is waited for, but not for ever", "[integration][replicas]") {
  const Deadline alive = testing::soon();
  std::atomic<bool> given_up = false;
  with_gloo(
      2,
      [&](ReplicaGroup& group) {
        if (group.rank() == 1) {
          while (!given_up && !alive.expired()) std::this_thread::sleep_for(milliseconds(5));
          return;
        }
        std::vector<float> values(10);
        const auto summed = group.sum(values);
        given_up = true;
        if (summed) throw std::runtime_error("nobody was there to add to it");
      },
      milliseconds(300));
  CHECK(given_up);
  CHECK_FALSE(alive.expired());
}

TEST_CASE("a group of which a member never comes does not come about", "[integration][replicas]") {
  LocalBoard board;
  const auto group = connect_gloo({"call", {0, 1}, 0}, board,
                                  {.connecting = milliseconds(100), .patience = milliseconds(100)});
  REQUIRE_FALSE(group);
  CHECK(group.error().code == Errc::kTimeout);
}

TEST_CASE("a host that is not this machine's is the user's to mend", "[integration][replicas]") {
  LocalBoard board;
  CHECK_THROWS_WITH(
      static_cast<void>(connect_gloo({"call", {0, 1}, 0}, board, {.host = "192.0.2.77"})),
      Catch::Contains("192.0.2.77"));
}

}  // namespace
}  // namespace pacml::learner
