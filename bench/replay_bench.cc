#include "bench/replay_bench.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "bench/sampling_structures.h"
#include "common/bytes.h"
#include "common/check.h"
#include "common/clock.h"
#include "common/private_folder.h"
#include "common/rng.h"
#include "replay/prioritized.h"
#include "replay/snapshot_writer.h"
#include "replay/table.h"

namespace pacml::bench {
namespace {

using namespace replay;

constexpr std::size_t kItems = std::size_t{1} << 20;
constexpr std::size_t kBatch = 512;
constexpr std::size_t kBatches = kItems / kBatch;
constexpr std::size_t kSlices = 8;  // of kItems operations each
constexpr std::size_t kPayload = 200;
constexpr double kAlpha = 0.6;

// Seconds of work, system calls included, of this thread: other processes do not enter.
double thread_seconds() {
  timespec time{};
  PACML_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "every thread has a clock");
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Operations per second of `batch(b)`, called for b = 0, 1, ... kBatches-1, over and over.
template <class Batch>
double rate(Batch batch) {
  std::vector<double> rates;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    const double start = thread_seconds();
    for (std::size_t b = 0; b < kBatches; ++b) batch(b);
    rates.push_back(kItems / (thread_seconds() - start));
  }
  return median_of(rates);
}

// What the measured loops consume, so that they do not wait for random numbers.
struct Work {
  std::vector<double> priorities;    // [kItems]
  std::vector<std::uint32_t> slots;  // [kItems], at random

  Work() {
    Rng rng(Seed{1});
    for (std::size_t i = 0; i < kItems; ++i) {
      priorities.push_back(std::pow(10, 12 * rng.uniform() - 6));
      slots.push_back(static_cast<std::uint32_t>(rng.below(kItems)));
    }
  }
};

template <class Structure>
void measure_structure(const std::string& name, const Work& work, Figures& figures) {
  std::vector<SumTree::Entry> entries;
  for (std::size_t i = 0; i < kItems; ++i) {
    entries.push_back({work.slots[i], std::pow(work.priorities[i], kAlpha)});
  }
  Structure structure(kItems);
  figures.emplace_back(name + "_inserts_per_second", rate([&](std::size_t b) {
                         for (std::size_t i = b * kBatch; i < (b + 1) * kBatch; ++i) {
                           structure.set(static_cast<std::uint32_t>(i), entries[i].weight);
                         }
                       }));
  figures.emplace_back(name + "_updates_per_second", rate([&](std::size_t b) {
                         structure.set(std::span(entries).subspan(b * kBatch, kBatch));
                       }));
  Rng rng(Seed{2});
  std::vector<std::uint32_t> indices(kBatch);
  figures.emplace_back(name + "_samples_per_second",
                       rate([&](std::size_t) { structure.draw(rng, indices); }));
}

void measure_selector(const Work& work, Figures& figures) {
  std::vector<double> rates;
  for (std::size_t slice = 0; slice < kSlices; ++slice) {
    PrioritizedSelector selector(kItems, kAlpha);
    const double start = thread_seconds();
    for (std::size_t i = 0; i < kItems; ++i) {
      selector.insert(static_cast<std::uint32_t>(i), work.priorities[i]);
    }
    rates.push_back(kItems / (thread_seconds() - start));
  }
  figures.emplace_back("selector_inserts_per_second", median_of(rates));

  PrioritizedSelector selector(kItems, kAlpha);
  std::vector<SlotPriority> updates;
  for (std::size_t i = 0; i < kItems; ++i) {
    selector.insert(static_cast<std::uint32_t>(i), work.priorities[i]);
    updates.push_back({work.slots[i], work.priorities[i]});
  }
  figures.emplace_back("selector_updates_per_second", rate([&](std::size_t b) {
                         selector.update(std::span(updates).subspan(b * kBatch, kBatch));
                       }));
  Rng rng(Seed{3});
  std::vector<Selection> selections(kBatch);
  figures.emplace_back("selector_samples_per_second",
                       rate([&](std::size_t) { selector.select(rng, selections); }));
}

// A full table, and the three operations in batches.
class TableWork {
 public:
  explicit TableWork(const Work& work) : work_(work), table_(config(), Seed{4}) {
    for (std::size_t b = 0; b < kBatches; ++b) insert(b);
    for (const std::uint32_t slot : work.slots) updates_.push_back({keys_[slot], 0});
    for (std::size_t i = 0; i < kItems; ++i) updates_[i].priority = work.priorities[i];
  }

  void insert(std::size_t b) {
    for (std::size_t i = b * kBatch; i < (b + 1) * kBatch; ++i) {
      const auto key = table_.insert(payload_, work_.priorities[i]);
      PACML_CHECK(key.has_value(), "the item is valid");
      keys_[i] = *key;
    }
  }
  // Pre: what is updated is there: nothing was inserted since the filling, or refresh(b).
  void update(std::size_t b) {
    const auto counts = table_.update_priorities(std::span(updates_).subspan(b * kBatch, kBatch));
    PACML_CHECK(counts.applied == kBatch, "keys of items that are there");
  }
  // Names the items that took the places of those that update(b) was about.
  void refresh(std::size_t b) {
    for (std::size_t i = b * kBatch; i < (b + 1) * kBatch; ++i) {
      updates_[i].key = keys_[work_.slots[i]];
    }
  }
  void sample() { PACML_CHECK(table_.sample(drawn_) == kBatch, "the table is full"); }
  void sample_and_copy() {
    sample();
    std::byte* to = copies_.data();
    for (const auto& item : drawn_) {
      std::memcpy(to, item.payload.data(), kPayload);
      to += kPayload;
    }
  }
  [[nodiscard]] Table& table() { return table_; }

 private:
  static TableConfig config() {
    TableConfig config;
    config.capacity = kItems;
    config.priority_exponent = kAlpha;
    return config;
  }

  const Work& work_;
  Table table_;
  const Bytes payload_ = Bytes(kPayload, std::byte{1});
  std::vector<ItemKey> keys_ = std::vector<ItemKey>(kItems);
  std::vector<PriorityUpdate> updates_;
  std::vector<SampledItem> drawn_ = std::vector<SampledItem>(kBatch);
  Bytes copies_ = Bytes(kBatch * kPayload);
};

double waited_since(TimePoint start) {
  return std::chrono::duration<double>(steady().now() - start).count();
}

void measure_snapshot(TableWork& work, Figures& figures) {
  const auto mix = [&work](std::size_t b) {
    work.insert(b);
    work.sample_and_copy();
    work.refresh(b);
    work.update(b);
  };
  const double alone = rate(mix);
  const PrivateFolder scratch("pacml-bench");
  const auto path = scratch / "table";
  std::vector<double> slowdowns;
  std::vector<double> durations;
  std::vector<double> costs;
  double longest_pause = 0;
  double bytes = 0;
  std::size_t next = 0;  // goes on, so that the oldest items are always those that come next
  for (int round = 0; round < 5; ++round) {
    SnapshotWriter writer(path);
    const double start = thread_seconds();
    // As an actor feels it: with what it waits for.
    const TimePoint begun = steady().now();
    work.table().begin_snapshot({}, writer);
    longest_pause = std::max(longest_pause, waited_since(begun));
    std::size_t batches = 0;
    bool over = false;
    while (!over) {
      mix(next++ % kBatches);
      ++batches;
      const TimePoint pause = steady().now();
      over = work.table().advance_snapshot(kBatch);
      longest_pause = std::max(longest_pause, waited_since(pause));
    }
    durations.push_back(thread_seconds() - start);
    const double expected = static_cast<double>(batches * kBatch) / alone;
    slowdowns.push_back(durations.back() / expected);
    costs.push_back(durations.back() - expected);
    writer.finish();
    const auto size = writer.wait();
    PACML_CHECK(size.has_value(), "the temporary folder has room for a snapshot");
    bytes = static_cast<double>(*size);
    std::filesystem::remove(path);
  }
  figures.emplace_back("snapshot_slowdown_ratio", median_of(slowdowns));
  figures.emplace_back("snapshot_cost_seconds", median_of(costs));
  figures.emplace_back("snapshot_seconds", median_of(durations));
  figures.emplace_back("snapshot_longest_pause_seconds", longest_pause);
  figures.emplace_back("snapshot_bytes", bytes);
}

}  // namespace

Figures run_replay_bench() {
  const Work work;
  Figures figures;
  measure_structure<WideSumTree>("wide_tree", work, figures);
  measure_structure<BinarySumTree>("binary_tree", work, figures);
  measure_structure<ExponentBuckets>("exponent_buckets", work, figures);
  measure_selector(work, figures);
  TableWork table(work);
  // Updates first: the keys are those of the items that filled the table.
  const double updates = rate([&](std::size_t b) { table.update(b); });
  const double samples = rate([&](std::size_t) { table.sample(); });
  const double copied = rate([&](std::size_t) { table.sample_and_copy(); });
  figures.emplace_back("table_inserts_per_second", rate([&](std::size_t b) { table.insert(b); }));
  figures.emplace_back("table_updates_per_second", updates);
  figures.emplace_back("table_samples_per_second", samples);
  figures.emplace_back("table_copied_samples_per_second", copied);
  measure_snapshot(table, figures);
  return figures;
}

}  // namespace pacml::bench
