#include "replay/client.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "common/heartbeat.h"
#include "common/result.h"
#include "common/scope_exit.h"
#include "common/wire/codec.h"
#include "common/wire/graph_hash.h"
#include "replay/mixture.h"

namespace pacml::replay {
namespace {

constexpr std::chrono::milliseconds kSlice{100};  // how long a wait may ignore the stop token
constexpr std::chrono::milliseconds kGlance{1};   // a wait for one of several shards
constexpr std::chrono::milliseconds kSendPatience{100};
constexpr int kFramesInTurn = 16;               // of one shard before the next one's turn
constexpr std::size_t kRememberedBatches = 64;  // whose priorities may still come
constexpr std::size_t kMostReports = 1024;
constexpr std::size_t kMostEpisodes = 1U << 16;
constexpr std::size_t kMostGraphs = 4096;  // as a message may list

}  // namespace

Client::Client(wire::Hello hello, std::size_t shards, const ClientConfig& config, Seed seed,
               const Clock& clock)
    : hello_(std::move(hello)),
      clock_(&clock),
      config_(config),
      ready_(config.prefetch),
      rng_(seed),
      shards_(shards) {
  hello_.role = wire::Role::kLearner;
  news_.totals.resize(shards);
}

Client::~Client() = default;

void Client::count_from(std::span<const std::uint64_t> totals) {
  const std::scoped_lock lock(mutex_);
  std::copy_n(totals.begin(), std::min(totals.size(), news_.totals.size()), news_.totals.begin());
}

void Client::run(std::span<transport::FrameClient* const> links,
                 const std::stop_token& stop_token) {
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    shards_[s].number = s;
    shards_[s].link = links[s];
  }
  {
    const std::scoped_lock lock(mutex_);
    wakeable_ = links.front();
  }
  // However this ends, nobody may wake a transport that is no longer there.
  const ScopeExit at_end([this] { stop(); });
  for (std::size_t turn = 0; !stop_token.stop_requested(); ++turn) {
    beat();
    // First what has come: after a pause of ours, a shard is not silent that has long answered.
    bool came = false;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      for (int i = 0; i < kFramesInTurn && receive(s, Deadline::now()); ++i) came = true;
    }
    for (Shard& shard : shards_) keep_joined(shard);
    start_batches();
    send_updates();
    hand_out_complete();
    publish_status();
    if (came) continue;
    // With several shards nobody knows which one speaks next; each is listened to in turn.
    const auto patience = shards_.size() == 1 ? kSlice : kGlance;
    static_cast<void>(receive(turn % shards_.size(), Deadline::in(patience)));
    hand_out_complete();
  }
  for (Shard& shard : shards_) send(shard, wire::Goodbye{"the learner stops"});
}

void Client::stop() {
  {
    const std::scoped_lock lock(mutex_);
    wakeable_ = nullptr;
  }
  ready_.close();
}

void Client::keep_joined(Shard& shard) {
  const TimePoint at = clock_->now();
  const Duration longest = config_.ping_interval + config_.silence;
  if (shard.joined && at - shard.last_heard > longest) lose(shard);
  if (!shard.joined) {
    if (at - shard.last_hello < config_.hello_interval) return;
    notice_trouble(shard);
    shard.last_hello = at;
    send(shard, hello_);
    return;
  }
  if (at - shard.last_heard > config_.ping_interval &&
      at - shard.last_ping > config_.ping_interval) {
    shard.last_ping = at;
    send(shard, wire::Ping{1});
  }
  notice_starving(shard);
  // A draw says how much there is. One that is still owed will say so, too, unless it was lost.
  const auto interval = shard.owed.empty() ? config_.probe_interval : config_.patience;
  if (at - shard.last_probe > interval) {
    shard.last_probe = at;
    request(shard, {0, 1, 1, at});
  }
}

void Client::notice_trouble(Shard& shard) {
  const auto trouble = shard.link->trouble();
  const std::string sentence = trouble ? "replay shard " + std::to_string(shard.number) +
                                             " cannot be joined: " + trouble->reason
                                       : "";
  if (trouble && trouble->lasting) throw UserError(sentence);
  if (std::exchange(shard.trouble, sentence) == sentence || sentence.empty()) return;
  spdlog::warn("{}", sentence);
}

void Client::lose(Shard& shard) {
  if (shard.joined) spdlog::warn("replay shard {} is gone; looking for it", shard.number);
  static_cast<void>(take_back_all(shard));
  shard.joined = shard.known = shard.starving = false;
  shard.owed.clear();
  shard.waiting.clear();
}

bool Client::is_late(const Shard& shard) const {
  if (shard.owed.empty()) return false;
  // Its requests wait for one another: it is the answers that must not stay away.
  const TimePoint since = std::max(shard.last_answer, shard.owed.begin()->second.asked);
  return clock_->now() - since >= config_.patience;
}

void Client::notice_starving(Shard& shard) {
  if (shard.starving || !is_late(shard)) return;
  const bool others = std::ranges::any_of(
      shards_, [&](const Shard& other) { return &other != &shard && other.usable(); });
  if (!others) return;  // nobody else could do it
  if (take_back_all(shard) == 0) return;
  shard.starving = true;
  spdlog::warn("replay shard {} has owed draws for too long; the others do them meanwhile",
               shard.number);
}

std::uint32_t Client::take_back(Owed& owed) {
  if (owed.ticket == 0) return 0;
  // What comes of it all the same is thrown away, but says how much there is.
  Partial& partial = partials_.at(std::exchange(owed.ticket, 0));
  owed.taken_back = true;
  partial.owed -= owed.count;
  partial.unasked += owed.count;
  return owed.count;
}

std::uint32_t Client::take_back_all(Shard& shard) {
  std::uint32_t draws = 0;
  for (auto& [number, owed] : shard.owed) draws += take_back(owed);
  const std::scoped_lock lock(mutex_);
  status_.redrawn += draws;
  return draws;
}

bool Client::receive(std::size_t shard, Deadline deadline) {
  auto frame = shards_[shard].link->receive(deadline);
  if (!frame) return false;
  shards_[shard].last_heard = clock_->now();
  auto message = wire::decode(*frame);
  if (message) {
    handle(shard, *std::move(message));
  } else if (message.error().code == Errc::kVersionMismatch) {
    throw UserError("replay shard " + std::to_string(shard) +
                    " cannot be understood: " + message.error().detail);
  } else {
    const std::scoped_lock lock(mutex_);
    if (status_.malformed++ > 0) return true;
    spdlog::warn("a frame of replay shard {} was dropped: {}", shard, message.error().detail);
  }
  return true;
}

void Client::handle(std::size_t index, wire::Message&& message) {
  Shard& shard = shards_[index];
  if (const auto* welcome = std::get_if<wire::Welcome>(&message)) {
    // The answer to a Hello that was repeated, or of a former life of ours.
    if (shard.joined || welcome->incarnation != hello_.incarnation) return;
    shard.joined = true;
    ++shard.life;
    shard.last_answer = clock_->now();
    shard.last_probe = TimePoint{};
    const std::scoped_lock lock(mutex_);
    ++status_.joins;
  } else if (const auto* refused = std::get_if<wire::Refused>(&message)) {
    const bool worth_another_hello =
        refused->why == wire::Refusal::kUnknownPeer || refused->why == wire::Refusal::kStopping;
    if (!worth_another_hello) {
      throw UserError("replay shard " + std::to_string(index) + " refuses: " + refused->reason);
    }
    lose(shard);
  } else if (auto* const samples = std::get_if<wire::Samples>(&message)) {
    take(index, std::move(*samples));
  } else if (auto* const graph = std::get_if<wire::Graph>(&message)) {
    if (wire::hash_graph(*graph) != graph->hash || graphs_.size() >= kMostGraphs) return;
    if (!graph_index_.try_emplace(graph->hash, static_cast<std::uint16_t>(graphs_.size())).second) {
      return;
    }
    graph_hashes_.push_back(graph->hash);
    graphs_.push_back(std::make_shared<const wire::Graph>(std::move(*graph)));
    for (std::size_t s = 0; s < shards_.size(); ++s) take_waiting(s);
  }
}

void Client::take_reports(std::span<const EpisodeRecord> reports) {
  const std::scoped_lock lock(mutex_);
  auto& episodes = news_.episodes;
  episodes.insert(episodes.end(), reports.begin(), reports.end());
  if (episodes.size() <= kMostEpisodes) return;
  status_.episodes_lost += episodes.size() - kMostEpisodes;
  episodes.erase(episodes.begin(), episodes.end() - kMostEpisodes);
}

void Client::take(std::size_t index, wire::Samples&& samples) {
  Shard& shard = shards_[index];
  // Whether or not anybody still waits for the draws: a report is told once.
  take_reports(samples.episodes);
  const auto same = [&](const wire::Samples& other) { return other.request == samples.request; };
  if (!shard.owed.contains(samples.request) || std::ranges::any_of(shard.waiting, same)) return;
  shard.last_answer = clock_->now();
  // A shard answers in order: whatever it was asked for before, and has not answered, is lost.
  for (auto it = shard.owed.begin(); it->first < samples.request;) {
    const auto waits = [&](const wire::Samples& other) { return other.request == it->first; };
    if (std::ranges::any_of(shard.waiting, waits)) {
      ++it;
      continue;
    }
    static_cast<void>(take_back(it->second));
    it = shard.owed.erase(it);
  }
  {
    const std::scoped_lock lock(mutex_);
    // A shard that came back from a snapshot counts from there: what it lost is not news again.
    const std::uint64_t before = std::exchange(news_.totals[index], samples.shard.inserted);
    if (samples.shard.inserted > before) news_.inserted += samples.shard.inserted - before;
  }
  shard.state = samples.shard;
  shard.known = true;
  shard.waiting.push_back(std::move(samples));
  take_waiting(index);
  // What it is asked for now would wait behind what it still owes of before.
  shard.starving = shard.starving && std::ranges::any_of(shard.owed, [](const auto& entry) {
                     return entry.second.taken_back;
                   });
}

void Client::take_waiting(std::size_t index) {
  Shard& shard = shards_[index];
  std::erase_if(shard.waiting, [&](const wire::Samples& samples) {
    const auto owed = shard.owed.find(samples.request);
    if (owed == shard.owed.end()) return true;  // nobody waits for it any more
    if (owed->second.ticket != 0) {
      bool complete = true;
      for (const GraphHash hash : samples.transitions.observations.graphs()) {
        if (graph_index_.contains(hash)) continue;
        complete = false;
        send(shard, wire::NeedGraph{hash});
      }
      if (!complete) return false;
      add_rows(index, owed->second, samples);
    }
    shard.owed.erase(owed);
    return true;
  });
}

void Client::add_rows(std::size_t index, const Owed& owed, const wire::Samples& samples) {
  Partial& partial = partials_.at(owed.ticket);
  Transitions& out = partial.batch.transitions;
  const Transitions& drawn = samples.transitions;
  partial.owed -= owed.count;
  const ObservationShape& shape = drawn.observations.shape();
  if (out.size() == 0) out = Transitions(shape);
  if (shape != out.observations.shape() || drawn.size() > owed.count) {
    spdlog::warn("replay shard {} answers with transitions that nobody asked for", index);
    partial.unasked += owed.count;
    return;
  }
  // A table that runs out of items draws fewer than it was asked for.
  partial.unasked += owed.count - static_cast<std::uint32_t>(drawn.size());
  std::vector<std::uint16_t> graph_index;
  for (const GraphHash hash : drawn.observations.graphs()) {
    graph_index.push_back(graph_index_.at(hash));
  }
  out.heads.insert(out.heads.end(), drawn.heads.begin(), drawn.heads.end());
  out.observations.append_rows(drawn.observations, 0, drawn.observations.size(), graph_index);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    partial.places.push_back(
        {static_cast<std::uint32_t>(index), shards_[index].life, samples.keys[i]});
    partial.batch.probabilities.push_back(
        std::max(owed.share * samples.probabilities[i], std::numeric_limits<double>::min()));
  }
}

void Client::start_batches() {
  const bool any = std::ranges::any_of(shards_, &Shard::usable);
  if (!any) return;
  while (partials_.size() + ready_.size() < config_.prefetch) {
    Partial partial;
    partial.batch.ticket = next_ticket_++;
    partial.unasked = config_.batch_size;
    partials_.emplace(partial.batch.ticket, std::move(partial));
  }
  for (auto& [ticket, partial] : partials_) {
    if (partial.unasked > 0) ask(partial, ticket);
  }
}

void Client::ask(Partial& partial, std::uint64_t ticket) {
  std::vector<double> totals;
  double sum = 0;
  for (const Shard& shard : shards_) {
    totals.push_back(shard.usable() ? shard.state.total_priority : 0);
    sum += totals.back();
  }
  const auto shares = share_draws(std::exchange(partial.unasked, 0), totals, rng_);
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    if (shares[s] == 0) continue;
    partial.owed += shares[s];
    request(shards_[s], {ticket, shares[s], totals[s] / sum, clock_->now()});
  }
}

void Client::request(Shard& shard, const Owed& owed) {
  const std::uint64_t number = next_request_++;
  shard.owed.emplace(number, owed);
  send(shard, wire::Sample{number, owed.count});
}

void Client::hand_out_complete() {
  for (auto it = partials_.begin(); it != partials_.end();) {
    Partial& partial = it->second;
    if (partial.owed > 0 || partial.unasked > 0) {
      ++it;
      continue;
    }
    partial.batch.transitions.observations.set_graphs(graph_hashes_);
    partial.batch.graphs = graphs_;
    handed_out_.emplace(it->first, std::move(partial.places));
    if (handed_out_.size() > kRememberedBatches + config_.prefetch)
      handed_out_.erase(handed_out_.begin());
    // There is room: partials and ready ones together are never more than `prefetch`.
    static_cast<void>(ready_.try_push(std::move(partial.batch)));
    it = partials_.erase(it);
    const std::scoped_lock lock(mutex_);
    ++status_.batches;
  }
}

void Client::send_updates() {
  std::vector<std::pair<std::uint64_t, std::vector<float>>> reports;
  {
    const std::scoped_lock lock(mutex_);
    reports.swap(reports_);
  }
  for (const auto& [ticket, priorities] : reports) {
    const auto found = handed_out_.find(ticket);
    if (priorities.empty()) {  // they stay what they are
      handed_out_.erase(ticket);
      continue;
    }
    if (found == handed_out_.end() || found->second.size() != priorities.size()) {
      count_lost(priorities.size());
      continue;
    }
    std::vector<wire::PriorityUpdates> updates(shards_.size());
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      const Place& place = found->second[i];
      // A shard that came back from a snapshot gives former keys to new items.
      if (!shards_[place.shard].joined || shards_[place.shard].life != place.life) {
        count_lost(1);
        continue;
      }
      updates[place.shard].keys.push_back(place.key);
      updates[place.shard].priorities.push_back(priorities[i]);
    }
    handed_out_.erase(found);
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      if (updates[s].keys.empty()) continue;
      if (!send(shards_[s], updates[s])) count_lost(updates[s].keys.size());
    }
  }
}

void Client::count_lost(std::size_t updates) {
  const std::scoped_lock lock(mutex_);
  status_.updates_lost += updates;
}

bool Client::send(Shard& shard, const wire::Message& message) {
  return shard.link->send(wire::encode(message), Deadline::in(kSendPatience)).has_value();
}

void Client::publish_status() {
  const std::scoped_lock lock(mutex_);
  status_.shards = 0;
  status_.items = status_.total_priority = 0;
  status_.each.assign(shards_.size(), {});
  for (std::size_t s = 0; s < shards_.size(); ++s) {
    const Shard& shard = shards_[s];
    if (!shard.joined) continue;
    const std::chrono::duration<double> silent = clock_->now() - shard.last_heard;
    status_.each[s] = {.joined = true,
                       .late = shard.starving || is_late(shard),
                       .items = shard.state.size,
                       .inserted = shard.state.inserted,
                       .owed = shard.owed.size(),
                       .silent_seconds = silent.count()};
    ++status_.shards;
    status_.items += static_cast<double>(shard.state.size);
    status_.total_priority += shard.state.total_priority;
  }
}

Result<Batch> Client::next(std::stop_token stop, Deadline deadline) {
  auto batch = ready_.pop(std::move(stop), deadline);
  const std::scoped_lock lock(mutex_);
  if (batch && wakeable_ != nullptr) wakeable_->wake();  // there is room for another
  return batch;
}

void Client::report_priorities(std::uint64_t ticket, std::vector<float> priorities) {
  const std::scoped_lock lock(mutex_);
  if (reports_.size() >= kMostReports) {
    status_.updates_lost += priorities.size();
    return;
  }
  reports_.emplace_back(ticket, std::move(priorities));
  if (wakeable_ != nullptr) wakeable_->wake();
}

News Client::take_news() {
  const std::scoped_lock lock(mutex_);
  News out = std::exchange(news_, {});
  news_.totals = out.totals;
  return out;
}

ClientStatus Client::status() const {
  const std::scoped_lock lock(mutex_);
  return status_;
}

}  // namespace pacml::replay
