#include "learner/replicas/membership.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "common/check.h"
#include "common/config/diff.h"
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

// Names one process among all that ever were this replica.
std::string new_life() {
  std::random_device random;
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%08" PRIx32 "%08" PRIx32,
                static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()));
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

Leader::Leader(LocalBoard& board, const ReplicaAgreement& agreement, const MembershipConfig& config)
    : board_(&board), config_(config), life_(new_life()), lives_(config.replicas) {
  post(kAgreement, agreement.run_id + "\n" + agreement.config_text);
}

void Leader::post(const std::string& key, const std::string& value) {
  if (const auto put = board_->put(key, value); !put) {
    spdlog::error("the replicas' board takes no more: {}", put.error().detail);
  }
}

std::vector<std::string> Leader::answers() const {
  std::vector<std::string> lives(config_.replicas);
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    const auto said = board_->fresh(here(k), config_.freshness);
    if (!said) continue;
    const auto words = words_of(*said, 2);
    if (words[1] == call_) lives[k] = words[0];
  }
  return lives;
}

Result<Team> Leader::assemble(const std::stop_token& stop) {
  board_->erase_all(call_ + "/");  // addresses of the team before
  call_ = life_ + "-" + std::to_string(++calls_);
  post(kCall, call_);
  const Deadline deadline = Deadline::in(
      calls_ == 1 ? std::max(config_.first_gathering, config_.gathering) : config_.gathering);
  const auto missing = [&] { return std::ranges::count(lives_, std::string()) > 1; };
  for (lives_ = answers(); missing() && !deadline.expired(); lives_ = answers()) {
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

bool Leader::awaited() const {
  for (std::uint32_t k = 1; k < config_.replicas; ++k) {
    const auto said = board_->fresh(here(k), config_.freshness);
    if (!said) continue;
    const auto words = words_of(*said, 2);
    // Of a member, what it said before it knew that it is one may still be there.
    if (words[0] != lives_[k] || words[1] != call_) return true;
  }
  return false;
}

void Leader::end_run() { post(kOver, "over"); }

// ---- Follower ----

Follower::Follower(Board& board, std::uint32_t replica, ReplicaAgreement agreement,
                   const MembershipConfig& config)
    : board_(&board),
      replica_(replica),
      agreement_(std::move(agreement)),
      config_(config),
      life_(new_life()) {
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
  if (!over->empty()) return fail(Errc::kStopped, "the run is over");
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
