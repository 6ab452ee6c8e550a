#include "learner/learner_loop.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/finite.h"
#include "common/hash.h"
#include "learner/replicas/gather_rows.h"

namespace pacml::learner {
namespace {

// Updates between comparisons of the replicas' weights.
constexpr std::uint64_t kHashPeriod = 64;

std::array<double, 2> halves(std::uint64_t hash) {
  return {static_cast<double>(hash >> 32), static_cast<double>(hash & 0xFFFFFFFFU)};
}

std::int64_t share_of(std::int64_t whole, std::size_t parts) {
  const auto n = static_cast<std::int64_t>(parts);
  return (whole + n - 1) / n;
}

}  // namespace

LearnerLoop::LearnerLoop(const Algorithm& algorithm, Updates& updates, ParametersSink& sink,
                         ReplicaGroup& replicas, std::uint64_t life)
    : algorithm_(&algorithm),
      updates_(&updates),
      sink_(&sink),
      replicas_(&replicas),
      life_(static_cast<double>(life)) {}

Result<void> LearnerLoop::step(const std::stop_token& stop, Deadline deadline) {
  const bool among_others = replicas_->size() > 1;
  if (!among_others && wishes_.regroup != 0) {
    return fail(Errc::kDisconnected, "another replica is taken in");
  }
  const std::int64_t wanted = missing_ > 0 ? updates_->collected() + missing_
                                           : share_of(updates_->needed(), replicas_->size());
  auto collected = updates_->collect(wanted, stop, deadline, among_others ? own_ : record_);
  if (!collected && collected.error().code != Errc::kTimeout) return collected;

  const auto at_hand = among_others ? agree() : Result<std::int64_t>(updates_->collected());
  if (!at_hand) return tl::unexpected(at_hand.error());
  missing_ = updates_->needed() - *at_hand;
  if (missing_ > 0) return fail(Errc::kTimeout);
  missing_ = 0;

  auto report = updates_->learn();
  if (!report) return fail(Errc::kDisconnected, report.error().detail);
  if (report->outcome == Outcome::kApplied && !publish()) report->outcome = Outcome::kDiverged;
  record_.add(*report);
  switch (report->outcome) {
    case Outcome::kNothingFresh:
      break;
    case Outcome::kApplied:
      skipped_in_a_row_ = 0;
      break;
    case Outcome::kDiverged:
      ++skipped_in_a_row_;
      break;
  }
  return {};
}

bool LearnerLoop::publish() {
  auto weights = algorithm_->snapshot();
  if (!all_finite(weights.values)) return false;
  sink_->publish(std::move(weights));
  return true;
}

void LearnerLoop::dismiss_others() {
  if (replicas_->size() == 1) return;
  wishes_.stop = 1;
  static_cast<void>(agree());  // whoever is not there any more need not be told
}

void LearnerLoop::regrouped() {
  wishes_ = {};
  missing_ = 0;
  decisions_of_replicas_.clear();
  if (replicas_->size() > 1) return;
  // Nobody asks for it any more: what came since the group last spoke.
  const Word mine = my_word();
  count(mine);
  was_heard(mine);
}

void LearnerLoop::was_heard(const Word& mine) {
  told_ = mine.tally;
  record_.statistics.policy_lag.merge(own_.statistics.policy_lag);
  own_.statistics.policy_lag.clear();
  record_.add_actions(std::exchange(own_.statistics.actions, {}));
}

Result<std::int64_t> LearnerLoop::agree() {
  const Word mine = my_word();
  const auto words = gather_rows(*replicas_, mine);
  if (!words) return fail(Errc::kDisconnected, words.error().detail);
  const Wishes& wishes = words->front().wishes;
  const auto same = check_same(mine, *words);
  // What was learned is counted, even where it is the last that is heard.
  if (!same && wishes.stop == 0) return tl::unexpected(same.error());

  const bool leads = replicas_->rank() == 0;
  double collected = 0;
  decisions_of_replicas_.clear();
  for (const Word& word : *words) {
    decisions_of_replicas_.push_back(word.tally.decisions);
    collected += word.collected;
    if (leads || word.life == life_) count(word);
  }
  was_heard(mine);
  if (wishes.stop != 0) return fail(Errc::kStopped, "the leader has ended the run");
  if (wishes.regroup != 0) return fail(Errc::kDisconnected, "another replica is taken in");
  return static_cast<std::int64_t>(collected);
}

LearnerLoop::Word LearnerLoop::my_word() const {
  Word word;
  word.wishes = wishes_;
  word.collected = static_cast<double>(updates_->collected());
  word.life = life_;
  const std::uint64_t version = algorithm_->version().get();
  word.version = static_cast<double>(version);
  if (version % kHashPeriod == 0) {
    word.hash = halves(content_hash(std::span<const float>(algorithm_->snapshot().values)));
  }
  const LearnerCounters& counters = own_.counters;
  const EpisodeSums& sums = own_.statistics.episodes;
  word.tally = {.decisions = static_cast<double>(counters.decisions),
                .misfits = static_cast<double>(counters.misfits),
                .episodes = static_cast<double>(counters.episodes),
                .return_sum = sums.return_sum,
                .metric_sum = sums.metric_sum};
  std::ranges::copy(sums.metric_count, word.tally.metric_count.begin());
  word.told = told_;
  return word;
}

Result<void> LearnerLoop::check_same(const Word& mine, const std::vector<Word>& words) const {
  for (std::size_t r = 0; r < words.size(); ++r) {
    if (words[r].version == mine.version && words[r].hash == mine.hash) continue;
    return fail(Errc::kVersionMismatch,
                "the weights of the replicas of ranks " + std::to_string(replicas_->rank()) +
                    " and " + std::to_string(r) + " differ at updates " +
                    std::to_string(algorithm_->version().get()) + " and " +
                    std::to_string(static_cast<std::uint64_t>(words[r].version)));
  }
  return {};
}

void LearnerLoop::count(const Word& word) {
  // A replica that this one never heard was perhaps heard by a leader before it, whose count is in
  // the checkpoint.
  Tally& before = heard_.try_emplace(word.life, word.told).first->second;
  const auto since = [&](double Tally::*field) { return word.tally.*field - before.*field; };
  const auto episodes = static_cast<std::int64_t>(since(&Tally::episodes));
  record_.counters.decisions += static_cast<std::int64_t>(since(&Tally::decisions));
  record_.counters.misfits += static_cast<std::int64_t>(since(&Tally::misfits));
  record_.counters.episodes += episodes;
  EpisodeSums& sums = record_.statistics.episodes;
  sums.episodes += episodes;
  sums.return_sum += since(&Tally::return_sum);
  for (std::size_t m = 0; m < kMostMetrics; ++m) {
    sums.metric_sum[m] += word.tally.metric_sum[m] - before.metric_sum[m];
    sums.metric_count[m] +=
        static_cast<std::int64_t>(word.tally.metric_count[m] - before.metric_count[m]);
  }
  before = word.tally;
}

}  // namespace pacml::learner
