// A table against one that is too simple to be wrong, over random operations.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <vector>

#include "common/bytes.h"
#include "replay/table.h"
#include "tests/support/catch.h"

using namespace pacml;
using namespace pacml::replay;

namespace {

struct ModelItem {
  ItemKey key;
  double priority = 0;
  Bytes payload;
  std::int64_t drawn = 0;
};

double random_priority(Rng& rng) {
  switch (rng.below(12)) {
    case 0:
      return 0;
    case 1:
      return std::numeric_limits<double>::quiet_NaN();
    case 2:
      return -1;
    case 3:
      return std::numeric_limits<double>::infinity();
    default:
      return std::pow(10, rng.uniform() * 24 - 12);
  }
}

// The items in the order of their insertion, and the same operations on table and items.
class Twins {
 public:
  Twins(const TableConfig& config, Seed seed) : config_(config), table_(config, seed) {}

  void insert(Rng& rng) {
    const double priority = random_priority(rng);
    const Bytes payload(rng.below(config_.max_bytes == 0 ? 40 : 120), std::byte(rng.below(256)));
    const auto key = table_.insert(payload, priority);
    REQUIRE(key.has_value() == (is_priority(priority) && memory(payload) <= bound()));
    if (!key) return;
    REQUIRE(ever_.insert(key->pack()).second);  // no key is given out twice
    while (items_.size() == static_cast<std::size_t>(config_.capacity) ||
           bytes() + memory(payload) > bound()) {
      gone_.push_back(items_.front().key);
      items_.pop_front();
    }
    items_.push_back({*key, priority, payload, 0});
  }

  void sample(Rng& rng) {
    std::vector<SampledItem> drawn(rng.below(8));
    const std::size_t n = table_.sample(drawn);
    REQUIRE((n == drawn.size() || (items_.empty() || config_.max_times_sampled > 0)));
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = std::find_if(items_.begin(), items_.end(),
                                   [&](const auto& item) { return item.key == drawn[i].key; });
      REQUIRE(at != items_.end());
      REQUIRE(std::equal(drawn[i].payload.begin(), drawn[i].payload.end(), at->payload.begin(),
                         at->payload.end()));
      REQUIRE(drawn[i].probability == Approx(probability(*at)).epsilon(1e-12).margin(0));
      if (++at->drawn == config_.max_times_sampled) {
        gone_.push_back(at->key);
        items_.erase(at);
      }
    }
  }

  void update(Rng& rng) {
    std::vector<PriorityUpdate> updates(rng.below(8));
    UpdateCounts expected;
    for (auto& update : updates) {
      update.priority = random_priority(rng);
      const bool late = !gone_.empty() && rng.below(3) == 0;
      if (!late && items_.empty()) {
        update.key = {static_cast<std::uint32_t>(rng.next()), 1'000'000};
      } else if (late) {
        update.key = gone_[rng.below(gone_.size())];
      } else {
        auto& item = items_[rng.below(items_.size())];
        update.key = item.key;
        if (is_priority(update.priority)) {
          item.priority = update.priority;
          ++expected.applied;
          continue;
        }
      }
      ++(is_priority(update.priority) ? expected.evicted : expected.refused);
    }
    REQUIRE(table_.update_priorities(updates) == expected);
  }

  void compare() const {
    REQUIRE(table_.size() == items_.size());
    REQUIRE(table_.bytes() == bytes());
    REQUIRE(table_.bytes() + table_.spare_bytes() <= bound());
    REQUIRE(table_.total_priority() == Approx(total()).epsilon(1e-12).margin(0));
  }

 private:
  static std::size_t memory(const Bytes& payload) { return (payload.size() + 7) / 8 * 8; }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& item : items_) sum += memory(item.payload);
    return sum;
  }
  [[nodiscard]] std::size_t bound() const {
    return config_.max_bytes == 0 ? SIZE_MAX : static_cast<std::size_t>(config_.max_bytes);
  }
  [[nodiscard]] double weight(const ModelItem& item) const {
    if (config_.sampler != Sampler::kPrioritized) return 1;
    return item.priority == 0 ? 0 : std::pow(item.priority, config_.priority_exponent);
  }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const auto& item : items_) sum += weight(item);
    return sum;
  }
  [[nodiscard]] double probability(const ModelItem& item) const {
    if (config_.sampler == Sampler::kFifo) return &item == &items_.front() ? 1 : 0;
    return total() > 0 ? weight(item) / total() : 1.0 / static_cast<double>(items_.size());
  }

  TableConfig config_;
  Table table_;
  std::deque<ModelItem> items_;  // oldest first
  std::vector<ItemKey> gone_;
  std::set<std::uint64_t> ever_;
};

}  // namespace

TEST_CASE("a table does what an obvious one does") {
  const auto sampler = GENERATE(Sampler::kFifo, Sampler::kUniform, Sampler::kPrioritized);
  const auto max_bytes = GENERATE(0, 1000);
  const auto max_times_sampled = GENERATE(0, 1, 3);
  TableConfig config;
  config.capacity = 37;
  config.min_size = 1;
  config.sampler = sampler;
  config.max_bytes = max_bytes;
  config.max_times_sampled = max_times_sampled;
  Rng rng(Seed{static_cast<std::uint64_t>(max_bytes + max_times_sampled)});
  Twins twins(config, Seed{1});
  for (int i = 0; i < 4000; ++i) {
    switch (rng.below(4)) {
      case 0:
        twins.update(rng);
        break;
      case 1:
        twins.sample(rng);
        break;
      default:
        twins.insert(rng);
    }
    twins.compare();
  }
}
