#include "learner/replicas/membership.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "common/check.h"
#include "common/config/diff.h"
#include "common/heartbeat.h"
#include "common/text.h"

namespace pacml::learner {
namespace {

constexpr const char* kAgreement = "agreement";
constexpr const char* kCall = "call";
constexpr const char* kTeam = "team";
constexpr const char* kOver = "over";
// Between two complaints about a leader that cannot be reached.
constexpr std::chrono::seconds kComplaints{10};

std::string here(std::uint32_t replica) { return "here/" + std::to_string(replica); }
std::string taken(std::uint32_t replica) { return "taken/" + std::to_string(replica); }
std::string bye(std::uint32_t replica) { return "bye/" + std::to_string(replica); }

std::string spell_life(std::uint64_t life) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, life);
  return text.data();
}

// The words of a text, which are many enough or none.
std::vector<std::string> words_of(const std::string& text, std::size_t at_least) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words.size() >= at_least ? words : std::vector<std::string>(at_least);
}

}  // namespace

// ---- Leader ----

Leader::Leader(LocalBoard& board, const ReplicaAgreement& agreement, const MembershipConfig& config,
               const Clock& clock)
    : board_(&board),
      config_(config),
      clock_(&clock),
      life_(spell_life(config.life)),
      lives_(config.replicas),
      records_(config.replicas),
      doubles_(config.replicas) {
  // Followers would wait for it, and be told nothing.
  if (!board.put(kAgreement, agreement.run_id + "\n" + agreement.config_text)) {
    throw UserError(
        "what several learners have to agree on does not fit their board, as with thousands of "
        "graphs: learner.replicas must be 1");
  }
}

void Leader::post(const std::string& key, const std::string& value) {
  if (const auto put = board_->put(key, value); !put) {
    spdlog::error("the replicas' board takes no more: {}", put.error().detail);
  }
}

std::optional<Leader::Presence> Leader::presence(std::uint32_t replica) const {
  const auto said = board_->fresh(here(replica), config_.freshness);
  if (!said) return std::nullopt;
  const auto words = words_of(*said, 2);
  return Presence{words[0], words[1]};
}

bool Leader::is_benched(std::uint32_t replica, const std::string& life) const {
  const Record& record = records_[replica];
  return record.life == life && clock_->now() < record.benched_until;
}

std::vector<std::string> Leader::answers() const {
  std::vector<std::string> lives(config_.replicas);
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    const auto present = presence(k);
    if (present && present->call == call_ && !is_benched(k, present->life)) {
      lives[k] = present->life;
    }
  }
  return lives;
}

bool Leader::is_missing(std::uint32_t replica) const {
  if (!lives_[replica].empty()) return false;
  const auto present = presence(replica);
  return !present || !is_benched(replica, present->life);
}

Result<Team> Leader::assemble(const std::stop_token& stop) {
  board_->erase_all(call_ + "/");  // addresses of the team before
  call_ = life_ + "-" + std::to_string(++calls_);
  post(kCall, call_);
  const Deadline deadline = Deadline::in(
      calls_ == 1 ? std::max(config_.first_gathering, config_.gathering) : config_.gathering);
  const auto missing = [&] {
    for (std::uint32_t k = 1; k < config_.replicas; ++k) {
      if (is_missing(k)) return true;
    }
    return false;
  };
  for (lives_ = answers(); missing() && !deadline.expired(); lives_ = answers()) {
    beat();
    if (stop.stop_requested()) return fail(Errc::kStopped);
    std::this_thread::sleep_for(config_.interval);
  }
  Team team{call_, {0}, 0};
  std::string announced = call_ + " 0 " + life_;
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    if (lives_[k].empty()) continue;
    team.replicas.push_back(k);
    announced += " " + std::to_string(k) + " " + lives_[k];
  }
  post(kTeam, announced);
  return team;
}

void Leader::came_about(bool connected) {
  const auto is_new = [this](std::uint32_t k) {
    return records_[k].life != lives_[k] || !records_[k].reached;
  };
  bool any_new = false;
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    any_new = any_new || (!lives_[k].empty() && is_new(k));
  }
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    if (lives_[k].empty()) continue;
    Record& record = records_[k];
    if (record.life != lives_[k]) record = {.life = lives_[k]};
    if (connected) {
      record.reached = true;
      record.failures = 0;
      continue;
    }
    // Those who were reached before are not suspected while somebody else is.
    if (any_new && record.reached) continue;
    if (++record.failures < 2) continue;  // once may be an accident
    auto bench = config_.bench;
    for (int n = 2; n < record.failures && bench < config_.longest_bench; ++n) bench *= 2;
    bench = std::min(bench, config_.longest_bench);
    record.benched_until = clock_->now() + bench;
    spdlog::warn(
        "replica {} cannot be reached for the all-reduce, though it reaches the leader: learning "
        "goes on without it for {} s (does a firewall keep the replicas' hosts apart?)",
        k, std::chrono::duration<double>(bench).count());
  }
}

void Leader::look_at_double(std::uint32_t replica, const std::string& life) {
  Double& waiting = doubles_[replica];
  if (waiting.life != life) {
    waiting = {life, clock_->now()};
  } else if (clock_->now() - waiting.since >= config_.double_patience) {
    post(taken(replica), life);
  }
}

bool Leader::awaited() {
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    const auto present = presence(k);
    if (!present || is_benched(k, present->life)) continue;
    if (lives_[k].empty()) return true;
    if (present->life == lives_[k]) {
      // Of a member, what it said before it knew that it is one may still be there.
      if (present->call != call_) return true;
    } else {
      // Of one number there is one: the next may come when the first is gone, which ends the group.
      look_at_double(k, present->life);
    }
  }
  return false;
}

void Leader::end_run() {
  post(kOver, "over");
  const auto waits = [this](std::uint32_t k) {
    const auto present = presence(k);
    if (!present || (present->life == lives_[k] && present->call == call_)) return false;
    const auto said = board_->get(bye(k));
    return !said || *said != present->life;
  };
  const Deadline deadline = Deadline::in(config_.farewell);
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    while (waits(k) && !deadline.expired()) std::this_thread::sleep_for(config_.interval);
  }
}

// ---- Follower ----

Follower::Follower(Board& board, std::uint32_t replica, ReplicaAgreement agreement,
                   const MembershipConfig& config)
    : board_(&board),
      replica_(replica),
      agreement_(std::move(agreement)),
      config_(config),
      life_(spell_life(config.life)) {
  PACML_CHECK(replica >= 1, "replica 0 leads");
}

void Follower::check_agreement(const std::string& leaders) const {
  const auto line = leaders.find('\n');
  const std::string run = leaders.substr(0, line);
  const std::string config = line == std::string::npos ? std::string() : leaders.substr(line + 1);
  if (run != agreement_.run_id) {
    throw UserError("replica " + std::to_string(replica_) + " belongs to run " + agreement_.run_id +
                    ", its leader to run " + run + ": give both a --run folder of the same name");
  }
  if (config != agreement_.config_text) {
    throw UserError("replica " + std::to_string(replica_) +
                    "'s configuration differs from its leader's (here: the replica's): " +
                    join(config_differences(agreement_.config_text, config), "; "));
  }
}

Result<std::optional<Team>> Follower::look() {
  const auto value = [this](const char* key) -> Result<std::string> {
    auto found = board_->get(key);
    if (!found) return tl::unexpected(found.error());
    return found->value_or("");
  };
  const auto over = value(kOver);
  if (!over) return tl::unexpected(over.error());
  if (!over->empty()) {
    static_cast<void>(board_->put(bye(replica_), life_));  // unheard, the leader waits a little
    return fail(Errc::kStopped, "the run is over");
  }
  const auto doubles = value(taken(replica_).c_str());
  if (!doubles) return tl::unexpected(doubles.error());
  if (*doubles == life_) {
    throw UserError("replica " + std::to_string(replica_) +
                    " is another process already: give each learner a --replica of its own");
  }
  const auto leaders = value(kAgreement);
  if (!leaders) return tl::unexpected(leaders.error());
  if (leaders->empty()) return std::optional<Team>();  // a leader that is about to begin
  check_agreement(*leaders);
  const auto call = value(kCall);
  if (!call) return tl::unexpected(call.error());
  // The call of the team that this replica has lost is no news: it waits for the next one.
  const bool is_new = !call->empty() && *call != last_call_;
  const std::string answer = is_new ? *call : "none";
  if (auto put = board_->put(here(replica_), life_ + " " + answer); !put) {
    return tl::unexpected(put.error());
  }
  if (!is_new) return std::optional<Team>();
  const auto announced = value(kTeam);
  if (!announced) return tl::unexpected(announced.error());
  const auto words = words_of(*announced, 1);
  if (words[0] != *call) return std::optional<Team>();
  Team team{*call, {}, 0};
  for (std::size_t w = 1; w + 1 < words.size(); w += 2) {
    if (words[w] == std::to_string(replica_) && words[w + 1] == life_) {
      team.rank = team.replicas.size();
    }
    team.replicas.push_back(
        static_cast<std::uint32_t>(std::strtoul(words[w].c_str(), nullptr, 10)));
  }
  // A call that was over before this replica came: its next one will have it.
  if (team.rank == 0) return std::optional<Team>();
  last_call_ = *call;
  return std::optional(std::move(team));
}

Result<Team> Follower::assemble(const std::stop_token& stop) {
  Deadline complaint = Deadline::in(kComplaints);
  while (!stop.stop_requested()) {
    beat();
    auto team = look();
    if (team && *team) return **std::move(team);
    if (!team && team.error().code == Errc::kStopped) return tl::unexpected(team.error());
    if (complaint.expired()) {
      spdlog::warn("replica {} waits for its leader{}", replica_,
                   team ? std::string() : ": " + team.error().detail);
      complaint = Deadline::in(kComplaints);
    }
    std::this_thread::sleep_for(config_.interval);
  }
  return fail(Errc::kStopped);
}

}  // namespace pacml::learner
