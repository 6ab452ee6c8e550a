#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "learner/replicas/board.h"

namespace pacml::learner {

// Which replicas make up a group, and where one of them stands in it. Value type.
struct Team {
  std::string call;                     // names the team; no other one is called so
  std::vector<std::uint32_t> replicas;  // by rank; the leader, replica 0, comes first
  std::size_t rank = 0;
  [[nodiscard]] std::size_t size() const { return replicas.size(); }
};

// How a replica comes to be in a team. The leader calls; whoever hears it says that it is here; the
// leader says who is in. Followers that come later wait to be taken in, and the leader may call
// anew at any time. Nothing here needs to have been told beforehand who lives:
//
//   board           written by   what
//   agreement       leader       what all replicas must agree on
//   call            leader       the newest call: "<leader's life> <number>"
//   here/<k>        follower k   "<its life> <the call that it answers>", while it is in no team
//   team            leader       "<call> <replicas by rank>", with the lives that answered
//   taken/<k>       leader       the life that is replica k's double: another one is in the team
//   over            leader       the run is over
//   bye/<k>         follower k   its life: it has read that
//
// A team may be called that never comes about: somebody answers at the board whom the others cannot
// reach. The leader goes on without whoever is new in teams that failed, and tries again later.
//
// Thread-confined to the learner thread.
class Membership {
 public:
  virtual ~Membership() = default;
  [[nodiscard]] virtual bool leads() const = 0;
  // The next team. Waits for the leader as long as it takes. kStopped: `stop`, or the run is over.
  // UserError: this replica is not of the leader's run or configuration.
  [[nodiscard]] virtual Result<Team> assemble(const std::stop_token& stop) = 0;
  // Whether the last team's members have found one another.
  virtual void came_about(bool connected) = 0;
  // The leader's: somebody waits to be taken in.
  [[nodiscard]] virtual bool awaited() = 0;
  // The leader's: whoever waits need not wait any longer. Returns when all of them know, or after
  // MembershipConfig::farewell.
  virtual void end_run() = 0;
  [[nodiscard]] virtual Board& board() = 0;
};

// What must agree among replicas: one configuration, one run.
struct ReplicaAgreement {
  std::string run_id;
  std::string config_text;
};

struct MembershipConfig {
  std::uint32_t replicas = 2;                    // how many there should be
  std::uint64_t life = 0;                        // this process, of all that ever were replicas
  std::chrono::milliseconds gathering{1'000};    // how long a call waits for answers
  std::chrono::milliseconds first_gathering{0};  // the first call, where that is longer
  std::chrono::milliseconds interval{20};        // between looks at the board
  std::chrono::milliseconds freshness{1'000};    // after so long, who is "here" may have gone
  // How long a replica that could not be reached twice is left out; doubled each time, up to:
  std::chrono::milliseconds bench{5'000};
  std::chrono::milliseconds longest_bench{300'000};
  // How long a second process of one number may wait for the first to go.
  std::chrono::milliseconds double_patience{10'000};
  std::chrono::milliseconds farewell{2'000};  // for those who wait when the run ends
};

class Leader final : public Membership {
 public:
  // Borrows the board and the clock. UserError: the board has no room for the agreement.
  Leader(LocalBoard& board, const ReplicaAgreement& agreement, const MembershipConfig& config = {},
         const Clock& clock = steady());
  [[nodiscard]] bool leads() const override { return true; }
  Result<Team> assemble(const std::stop_token& stop) override;
  void came_about(bool connected) override;
  [[nodiscard]] bool awaited() override;
  void end_run() override;
  [[nodiscard]] Board& board() override { return *board_; }

 private:
  // What a follower has on the board: its life, and the call that it answers.
  struct Presence {
    std::string life;
    std::string call;
  };
  // How it went with a life of a replica.
  struct Record {
    std::string life;
    bool reached = false;  // it was in a team that came about
    int failures = 0;      // teams in a row that it was in and that did not
    TimePoint benched_until{};
  };
  // A life that waits for the place of one that is in the team.
  struct Double {
    std::string life;
    TimePoint since{};
  };
  void post(const std::string& key, const std::string& value);
  [[nodiscard]] std::optional<Presence> presence(std::uint32_t replica) const;
  [[nodiscard]] bool is_benched(std::uint32_t replica, const std::string& life) const;
  // The lives of those who answer the call, by replica; empty: does not, or is left out.
  [[nodiscard]] std::vector<std::string> answers() const;
  // No answer, and none that is to be left out.
  [[nodiscard]] bool is_missing(std::uint32_t replica) const;
  // Refuses a double that has waited for long enough.
  void look_at_double(std::uint32_t replica, const std::string& life);

  LocalBoard* board_;
  MembershipConfig config_;
  const Clock* clock_;
  std::string life_;
  std::uint64_t calls_ = 0;
  std::string call_;
  std::vector<std::string> lives_;  // of the team, by replica; empty: not in it
  std::vector<Record> records_;     // by replica, of its last life that was in a team
  std::vector<Double> doubles_;     // by replica
};

class Follower final : public Membership {
 public:
  // Borrows the board. Pre: 1 <= replica (PACML_CHECK).
  Follower(Board& board, std::uint32_t replica, ReplicaAgreement agreement,
           const MembershipConfig& config = {});
  [[nodiscard]] bool leads() const override { return false; }
  Result<Team> assemble(const std::stop_token& stop) override;
  void came_about(bool /*connected*/) override {}
  [[nodiscard]] bool awaited() override { return false; }
  void end_run() override {}
  [[nodiscard]] Board& board() override { return *board_; }

 private:
  // One look at the board: the team, if there is one for this replica by now.
  [[nodiscard]] Result<std::optional<Team>> look();
  void check_agreement(const std::string& leaders) const;

  Board* board_;
  std::uint32_t replica_;
  ReplicaAgreement agreement_;
  MembershipConfig config_;
  std::string life_;
  std::string last_call_;  // of the last team that this replica was in
};

}  // namespace pacml::learner
