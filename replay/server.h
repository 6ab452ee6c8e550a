#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/experience/transitions.h"
#include "common/fault_counter.h"
#include "common/serving/actor_desk.h"
#include "common/serving/own_absence.h"
#include "common/serving/sessions.h"
#include "common/serving/status_board.h"
#include "common/transport/channel.h"
#include "common/wire/messages.h"
#include "replay/graph_store.h"
#include "replay/insert_allowance.h"
#include "replay/replay_config.h"
#include "replay/snapshot_writer.h"
#include "replay/table.h"

namespace pacml::replay {

// One shard's end of the protocol (docs/protocol.md): takes actors' transitions exactly once,
// hands out work as the table takes it in, answers learners' draws as the rate limiter allows,
// applies priority updates, and snapshots all of it without making anybody wait. Memory is bounded:
// the table, and what actors were granted. Thread-confined, but for request_snapshot and
// board: thread-safe.
class Server {
 public:
  // `snapshot`: the file that snapshots go to; where it is there, the shard goes on from it.
  // `shard`: its number, which names its random streams. UserError: the file is damaged, or of a
  // table with other settings or of another task. Borrows the clock.
  Server(const serving::RunIdentity& run, const ReplayConfig& config, Seed seed,
         std::uint32_t shard, std::optional<std::filesystem::path> snapshot,
         const Clock& clock = steady());
  ~Server();

  // Serves until `stop`, then leaves a last snapshot; actors and learners are told to look for the
  // shard again. Borrows the transport for the call. UserError: the last snapshot could not be
  // written; earlier ones that could not are logged.
  void run(transport::FrameServer& transport, const std::stop_token& stop);

  // Asks for a snapshot at the next opportunity.
  void request_snapshot() { snapshot_requested_ = true; }

  [[nodiscard]] const Table& table() const { return table_; }
  // A JSON object for people and programs: what is stored, who is there, who waits for whom.
  [[nodiscard]] std::string status() const;
  // The same as of about a second ago.
  [[nodiscard]] const serving::StatusBoard& board() const { return board_; }

 private:
  struct Waiting {
    transport::PeerId peer;
    PrioritizedTransitions batch;
    std::size_t bytes = 0;  // of its frame
  };
  struct Request {
    transport::PeerId peer;
    wire::Sample sample;
  };
  struct Learner {
    ActorId id;  // among the run's learners
    TimePoint last_heard;
  };
  struct Counters {
    std::uint64_t episodes_dropped = 0;  // reports that no learner came for, also at our end
    std::uint64_t unanswered = 0;        // requests whose learner had gone, or of too many
  };

  void dispatch(const transport::Incoming& incoming);
  void dispatch_actor(const transport::PeerId& peer, wire::Message&& message, std::size_t bytes);
  void dispatch_learner(const transport::PeerId& peer, wire::Message&& message);
  void welcome(const transport::Incoming& from, const wire::Hello& hello);
  void welcome_learner(const transport::PeerId& peer, const wire::Hello& hello);
  void forget_learner(const transport::PeerId& peer);
  // A message into the queue for the rate limiter; false: it is full.
  bool take(const transport::PeerId& peer, wire::Insert&& insert, std::size_t bytes);
  // What waits, as far as the rate limiter lets it in.
  void insert_waiting();
  // All that waits, whether or not it is time: for the last snapshot.
  void insert_all_waiting();
  void insert_first();
  // Tells who may act.
  void tell_grants();
  // Whether what comes in is bounded by what learners draw: they are there, and could draw.
  [[nodiscard]] bool bounded_by_draws() const {
    return allowance_.bounded() && !learners_.empty() && table_.can_sample();
  }
  [[nodiscard]] bool may_insert() const {
    return table_.can_insert() && (!bounded_by_draws() || allowance_.left() >= 1);
  }
  // What may be under way follows what the shard and its rate limiter can take, and learners use.
  void limit_work();
  // Who waits for whom; a clause.
  [[nodiscard]] std::string limiter(const TableStatus& table) const;
  void adapt();
  void insert(Waiting& waiting);
  void answer_requests();
  void answer(const Request& request);
  void update_priorities(const wire::PriorityUpdates& updates);
  void learn_graph(const transport::PeerId& peer, wire::Graph&& graph);
  // What is due each second: silent peers are forgotten, the status is published.
  void sweep();
  void begin_snapshot();
  void tend_snapshot();
  // What a shard that ends leaves behind.
  void finish_snapshot();
  // Waits until the one that is under way is there.
  [[nodiscard]] Result<std::uint64_t> write_snapshot();

  const Clock* clock_;
  ReplayConfig config_;
  std::uint32_t shard_;
  std::optional<std::filesystem::path> snapshot_path_;

  Table table_;
  GraphStore graphs_;
  std::uint32_t most_draws_;  // that an answer holds
  InsertAllowance allowance_;
  serving::ActorDesk<wire::Insert> desk_;
  std::deque<Waiting> waiting_;   // for the rate limiter
  std::deque<Request> requests_;  // as well
  std::map<transport::PeerId, Learner> learners_;
  std::vector<EpisodeRecord> episodes_;  // for the next answer
  Counters counters_;
  serving::StatusBoard board_;

  serving::OwnAbsence absence_;
  std::unique_ptr<SnapshotWriter> writer_;  // of the snapshot that is running
  TimePoint next_snapshot_;
  TimePoint next_sweep_;
  TimePoint last_adaption_;
  Duration waited_{0};  // for messages, since then
  std::uint64_t snapshots_ = 0;
  FaultCounter snapshot_faults_;
  std::atomic<bool> snapshot_requested_{false};

  std::vector<SampledItem> items_;       // scratch
  Bytes packed_;                         // scratch
  std::vector<PriorityUpdate> updates_;  // scratch
};

}  // namespace pacml::replay
