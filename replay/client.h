#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/bounded_queue.h"
#include "common/clock.h"
#include "common/experience/transitions.h"
#include "common/rng.h"
#include "common/transport/channel.h"
#include "common/transport/patience_config.h"
#include "common/wire/messages.h"
#include "replay/replay_config.h"

namespace pacml::replay {

struct ClientConfig {
  using Patience = transport::PatienceConfig;
  std::uint32_t batch_size = 512;  // draws
  // Batches drawn or being drawn ahead of the learner.
  std::size_t prefetch = static_cast<std::size_t>(ReplayConfig{}.prefetch);
  Duration hello_interval = in_seconds(Patience{}.hello_seconds);
  Duration ping_interval =
      in_seconds(Patience{}.ping_seconds);  // of silence, before we ask a shard
  Duration silence =
      in_seconds(Patience{}.silence_seconds);         // after that, before it counts as gone
  Duration probe_interval = std::chrono::seconds(1);  // between looks at how much a shard holds
  // For draws that a shard owes, before others do them.
  Duration patience = in_seconds(ReplayConfig{}.patience_seconds);
};

using GraphPtr = std::shared_ptr<const wire::Graph>;

// One batch, drawn from all shards together.
struct Batch {
  std::uint64_t ticket = 0;           // names it when priorities are reported
  Transitions transitions;            // [N]
  std::vector<double> probabilities;  // [N], of each draw among everything that is stored
  std::vector<GraphPtr> graphs;       // in the order of transitions.observations.graphs()
};

// What a learner hears of besides its batches, since it last asked.
struct News {
  std::uint64_t inserted = 0;  // items
  std::vector<EpisodeRecord> episodes;
  std::vector<std::uint64_t> totals;  // items that each shard had taken in by then, since it began
};

// One shard, as its client sees it now.
struct ShardFigures {
  bool joined = false;         // welcomed and not gone
  bool late = false;           // has answered no draw for longer than the client's patience
  std::uint64_t items = 0;     // stored, as its last answer had it
  std::uint64_t inserted = 0;  // since its table began
  std::uint64_t owed = 0;      // requests for draws that it has not answered
  double silent_seconds = 0;   // since it was heard of last; where it is joined
};

// Counters since construction, and the shards now.
struct ClientStatus {
  std::uint64_t shards = 0;         // welcomed and not gone
  std::uint64_t joins = 0;          // 1 for each shard, and 1 each time that one came back
  std::uint64_t redrawn = 0;        // draws that a lost or starving shard owed
  std::uint64_t updates_lost = 0;   // priorities for items of a shard that was gone or did not read
  std::uint64_t episodes_lost = 0;  // reports that nobody took in time
  std::uint64_t batches = 0;        // complete
  std::uint64_t malformed = 0;      // frames that did not decode, dropped
  double items = 0;                 // stored in all shards
  double total_priority = 0;
  std::vector<ShardFigures> each{};  // by the number of the shard
};

// The learner's end of the conversation with replay shards (docs/protocol.md). It draws from each
// shard in proportion to what it holds, so that batches are as from one table; keeps `prefetch`
// batches ahead; passes priorities on to where the items are. A shard that is lost costs its items
// only: what it owed is drawn from the others. run() is confined to one thread, which also owns the
// transports; everything else is thread-safe.
class Client {
 public:
  // `hello`: who we are, role learner. `shards`: how many there are. `seed`: of the shares.
  // Borrows the clock.
  Client(wire::Hello hello, std::size_t shards, const ClientConfig& config, Seed seed,
         const Clock& clock = steady());
  ~Client();

  // What each shard had taken in when the run was last written down: what came since is news, also
  // what came while no learner was there. Without it, everything is. Before run().
  void count_from(std::span<const std::uint64_t> totals);
  // Talks to the shards until `stop`. Borrows the transports, one for each shard, for the call.
  // UserError: a shard refuses us for good (another configuration, another run, another protocol, a
  // key that it does not know).
  void run(std::span<transport::FrameClient* const> shards, const std::stop_token& stop);

  // The next batch. As BoundedQueue::pop.
  [[nodiscard]] Result<Batch> next(std::stop_token stop, Deadline deadline);
  // What the learner found out about a batch: the magnitudes of its temporal-difference errors,
  // [N]. Never waits. A ticket is good once, and until 64 later batches were handed out.
  void report_priorities(std::uint64_t ticket, std::vector<float> priorities);
  [[nodiscard]] News take_news();
  [[nodiscard]] ClientStatus status() const;
  [[nodiscard]] std::size_t queue_depth() const { return ready_.size(); }

 private:
  // Draws that a shard was asked for.
  struct Owed {
    std::uint64_t ticket = 0;  // 0: a probe, whose rows are thrown away, or taken back
    std::uint32_t count = 0;
    double share = 1;  // probability that a draw of the batch went to this shard
    TimePoint asked;
    bool taken_back = false;  // its rows are thrown away as well: others were asked for them
  };
  struct Shard {
    std::uint32_t life = 0;  // how often it was joined: keys of an earlier life name nothing
    std::size_t number = 0;
    transport::FrameClient* link = nullptr;
    bool joined = false;
    bool known = false;     // `state` was heard since the shard was joined
    bool starving = false;  // has owed draws for too long; asked again once it owes none of them
    wire::ShardState state;
    std::map<std::uint64_t, Owed> owed;  // by request
    std::vector<wire::Samples> waiting;  // for graphs
    std::string trouble;                 // why it cannot be joined, as the log was told
    TimePoint last_heard, last_answer, last_hello, last_ping, last_probe;

    [[nodiscard]] bool usable() const {
      return joined && known && !starving && state.size > 0 && state.total_priority > 0;
    }
  };
  // Where an item is.
  struct Place {
    std::uint32_t shard = 0;
    std::uint32_t life = 0;
    std::uint64_t key = 0;
  };
  // A batch of which draws are still owed, or not yet asked for.
  struct Partial {
    Batch batch;
    std::vector<Place> places;  // [N]
    std::uint32_t unasked = 0;  // draws
    std::uint32_t owed = 0;     // draws
  };

  void stop();
  void keep_joined(Shard& shard);
  // Tells the log why there is no connection. UserError: there will be none.
  void notice_trouble(Shard& shard);
  void lose(Shard& shard);
  [[nodiscard]] bool is_late(const Shard& shard) const;
  void notice_starving(Shard& shard);
  // What the request would have brought is to be asked for again. How many draws.
  std::uint32_t take_back(Owed& owed);
  // All that the shard owes; counted.
  std::uint32_t take_back_all(Shard& shard);
  // True: something came.
  bool receive(std::size_t shard, Deadline deadline);
  void handle(std::size_t index, wire::Message&& message);
  void take_reports(std::span<const EpisodeRecord> reports);
  void take(std::size_t index, wire::Samples&& samples);
  void take_waiting(std::size_t index);
  void add_rows(std::size_t index, const Owed& owed, const wire::Samples& samples);
  void start_batches();
  void ask(Partial& partial, std::uint64_t ticket);
  void request(Shard& shard, const Owed& owed);
  void hand_out_complete();
  void send_updates();
  void count_lost(std::size_t updates);
  // False: there was no room for it in time. Whatever is not said again is to be counted; a shard
  // that does not read is asked again, or found to be silent.
  bool send(Shard& shard, const wire::Message& message);
  void publish_status();

  wire::Hello hello_;
  const Clock* clock_;
  ClientConfig config_;
  BoundedQueue<Batch> ready_;

  // Confined to run().
  Rng rng_;
  std::vector<Shard> shards_;
  std::map<std::uint64_t, Partial> partials_;               // by ticket
  std::map<std::uint64_t, std::vector<Place>> handed_out_;  // by ticket: where priorities go
  std::unordered_map<GraphHash, std::uint16_t> graph_index_;
  std::vector<GraphHash> graph_hashes_;
  std::vector<GraphPtr> graphs_;
  std::uint64_t next_ticket_ = 1;
  std::uint64_t next_request_ = 1;

  // Between the learner thread and run().
  mutable std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::vector<float>>> reports_;  // under mutex_
  News news_;                                                          // under mutex_
  ClientStatus status_;                                                // under mutex_
  transport::FrameClient* wakeable_ = nullptr;  // under mutex_; while run() runs
};

}  // namespace pacml::replay
