#include "replay/server.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <variant>

#include "common/check.h"
#include "common/heartbeat.h"
#include "common/json_text.h"
#include "common/spell_number.h"
#include "common/transport/curve.h"
#include "common/try_again.h"
#include "common/wire/codec.h"
#include "common/wire/frame.h"
#include "common/wire/graph_hash.h"
#include "replay/server_state.h"
#include "replay/snapshot.h"

namespace pacml::replay {
namespace {

constexpr std::chrono::milliseconds kSlice{50};  // how long a wait may ignore the stop token
constexpr std::chrono::milliseconds kSnapshotSlice{1};
constexpr std::chrono::milliseconds kSweepEvery{1'000};
constexpr std::chrono::milliseconds kAdaptEvery{50};
constexpr int kStarvedPercent =
    10;  // of the time that nothing came, the shard is not what is scarce
constexpr std::size_t kItemsPerStep = 256;  // of a snapshot, between two messages
constexpr std::size_t kMostLearners = 64;
constexpr std::size_t kMostRequests = 4096;  // of all learners
// Beyond what is drawn: enough for slow actors to have under way, and for a learner's pauses.
constexpr double kInsertBurst = 1U << 20;
constexpr std::uint32_t kMostDraws = 1U << 16;   // of one request, as far as messages hold them
constexpr std::size_t kMostEpisodes = 1U << 16;  // of one answer

// How much may be under way: as much as actors want, but what keeps the shard busy when they want
// more than it can do.
serving::WorkWindowConfig work_of(const ReplayConfig& config) {
  serving::WorkWindowConfig work;
  work.least = 1U << 15;
  work.most = std::uint64_t{1} << 40;
  work.small = 800;
  work.messages_per_actor = static_cast<std::uint64_t>(config.credits_per_actor);
  work.patience = in_seconds(config.grant_seconds);
  return work;
}

// How many draws fit into an answer: as many as are asked for at most, and as a message holds of
// the largest transitions beside the reports of episodes and the list of graphs.
std::uint32_t draws_in_answer(const ExperienceForm& form) {
  constexpr std::size_t kBeside =
      kMostEpisodes * sizeof(EpisodeRecord) + GraphStore::kMost * sizeof(GraphHash);
  constexpr std::size_t kRoom = wire::WireLimits{}.max_payload_bytes - kBeside;
  const std::size_t draw =
      packed_bytes(form.shape, form.most_nodes()) + sizeof(std::uint64_t) + sizeof(double);
  return static_cast<std::uint32_t>(std::min<std::size_t>(kMostDraws, kRoom / draw));
}

}  // namespace

Server::Server(const serving::RunIdentity& run, const ReplayConfig& config, Seed seed,
               std::uint32_t shard, std::optional<std::filesystem::path> snapshot,
               const Clock& clock)
    : clock_(&clock),
      config_(config),
      shard_(shard),
      snapshot_path_(std::move(snapshot)),
      table_(config.table, derive(seed, Purpose::kReplay, shard)),
      most_draws_(draws_in_answer(run.form)),
      allowance_(config.table.samples_per_insert > 0 ? 0 : config.inserts_per_sample, kInsertBurst),
      desk_(run,
            {.server = "replay shard",
             .option = "replay.max_actors",
             .work = work_of(config),
             .max_actors = static_cast<std::size_t>(config.max_actors),
             .silence = in_seconds(config.forget_seconds)},
            static_cast<std::size_t>(config.max_waiting_bytes),
            {.has_graph = [this](GraphHash hash) { return graphs_.contains(hash); },
             .take = [this](const transport::PeerId& peer, wire::Insert&& insert,
                            std::size_t bytes) { return take(peer, std::move(insert), bytes); },
             .status = [this] { return status(); }},
            clock),
      absence_(kSweepEvery, in_seconds(config.forget_seconds)),
      snapshot_faults_("no snapshot could be written", clock) {
  if (!snapshot_path_) return;
  if (!is_there(*snapshot_path_)) {
    spdlog::info("there is no {}: the table begins empty", snapshot_path_->string());
    return;
  }
  auto restored = restore_table(*snapshot_path_, config.table);
  auto state = decode_server_state(restored.extra);
  if (!state) throw UserError(snapshot_path_->string() + ": " + state.error().detail);
  table_ = std::move(restored.table);
  graphs_ = std::move(state->graphs);
  if (state->shape && *state->shape != desk_.sessions().run().form.shape) {
    throw UserError(snapshot_path_->string() + ": its transitions are not as wide as this run's");
  }
  desk_.restore(state->accepted);
  spdlog::info("goes on from {} with {} items", snapshot_path_->string(), table_.size());
}

Server::~Server() = default;

void Server::run(transport::FrameServer& transport, const std::stop_token& stop) {
  desk_.open(transport);
  next_sweep_ = clock_->now();
  next_snapshot_ = clock_->now() + in_seconds(config_.snapshot_seconds);
  while (!stop.stop_requested()) {
    beat();
    const TimePoint turned = clock_->now();
    auto incoming =
        transport.receive(Deadline::in(table_.snapshot_running() ? kSnapshotSlice : kSlice));
    waited_ += clock_->now() - turned;
    if (incoming) {
      dispatch(*incoming);
    } else if (incoming.error().code == Errc::kStopped) {
      break;
    }
    insert_waiting();
    desk_.give_back_dropped();
    answer_requests();
    tend_snapshot();
    adapt();
    sweep();
    tell_grants();
  }
  // A shard that ends is missed, not mourned: whoever talks to it says Hello until it is back.
  const wire::Message end = wire::Refused{wire::Refusal::kUnknownPeer, "the replay shard stops"};
  desk_.tell_actors(end);
  for (const auto& [peer, learner] : learners_) desk_.send(peer, end);
  finish_snapshot();
  // Those of the last messages that were let in, too. A snapshot has none: what a shard has told
  // before it is killed would be told again.
  counters_.episodes_dropped += std::exchange(episodes_, {}).size();
}

void Server::dispatch(const transport::Incoming& incoming) {
  const transport::PeerId& peer = incoming.peer;
  if (incoming.revoked) forget_learner(peer);
  auto message = desk_.hear(incoming);
  if (!message) return;
  if (const auto* hello = std::get_if<wire::Hello>(&*message)) return welcome(incoming, *hello);
  if (desk_.knows(peer)) {
    return dispatch_actor(peer, *std::move(message), wire::frame_bytes(incoming.frame));
  }
  if (const auto learner = learners_.find(peer); learner != learners_.end()) {
    learner->second.last_heard = clock_->now();
    return dispatch_learner(peer, *std::move(message));
  }
  desk_.refuse_stranger(peer);
}

void Server::dispatch_actor(const transport::PeerId& peer, wire::Message&& message,
                            std::size_t bytes) {
  if (auto* const insert = std::get_if<wire::Insert>(&message)) {
    desk_.receive(peer, std::move(*insert), bytes);
  } else if (auto* const graph = std::get_if<wire::Graph>(&message)) {
    learn_graph(peer, std::move(*graph));
  }
  // What only a client or a learner's server gets is ignored.
}

void Server::dispatch_learner(const transport::PeerId& peer, wire::Message&& message) {
  if (const auto* sample = std::get_if<wire::Sample>(&message)) {
    if (sample->count > most_draws_) {
      return desk_.refuse(peer, {wire::Refusal::kMalformed, "more draws than an answer holds"});
    }
    if (requests_.size() < kMostRequests) {
      requests_.push_back({peer, *sample});
    } else {
      ++counters_.unanswered;  // who waits that long asks again
    }
  } else if (const auto* updates = std::get_if<wire::PriorityUpdates>(&message)) {
    update_priorities(*updates);
  } else if (const auto* need = std::get_if<wire::NeedGraph>(&message)) {
    if (const auto* graph = graphs_.find(need->hash)) desk_.send(peer, *graph);
  } else if (const auto* ping = std::get_if<wire::Ping>(&message)) {
    desk_.send(peer, wire::Pong{ping->nonce});
  } else if (std::holds_alternative<wire::Goodbye>(message)) {
    forget_learner(peer);
  }
}

void Server::welcome(const transport::Incoming& from, const wire::Hello& hello) {
  const transport::PeerId& peer = from.peer;
  const std::string& key_name = from.key_name;
  if (hello.role == wire::Role::kReplay) {
    return desk_.refuse(
        peer, {wire::Refusal::kConfig, "this is a replay shard: it talks to actors and learners"});
  }
  if (hello.role == wire::Role::kActor) return desk_.welcome(from, hello, PolicyVersion{0});
  // Who may insert may not therefore draw, or say what is worth drawing.
  if (!key_name.empty() && key_name != transport::kServerKeyName) {
    return desk_.refuse(peer,
                        {wire::Refusal::kConfig, "the key of " + key_name +
                                                     " is an actor's: a learner shows that of " +
                                                     std::string(transport::kServerKeyName)});
  }
  welcome_learner(peer, hello);
}

void Server::welcome_learner(const transport::PeerId& peer, const wire::Hello& hello) {
  if (const auto refused = desk_.sessions().objection(hello)) return desk_.refuse(peer, *refused);
  // Whatever the clocks say, who speaks now is the present life of this learner: what an earlier
  // one asked for, be it on this connection or on one whose end was not heard of, nobody waits for.
  std::vector<transport::PeerId> former;
  for (const auto& [other, learner] : learners_) {
    if (other == peer || learner.id == hello.actor) former.push_back(other);
  }
  for (const auto& other : former) forget_learner(other);
  if (learners_.size() >= kMostLearners) {
    return desk_.refuse(peer, {wire::Refusal::kConfig, "the shard already has too many learners"});
  }
  learners_[peer] = {hello.actor, clock_->now()};
  const auto& run = desk_.sessions().run();
  desk_.send(peer, wire::Welcome{run.run_id, run.run_seed, 0, PolicyVersion{0}, run.max_policy_lag,
                                 1, hello.incarnation});
}

void Server::forget_learner(const transport::PeerId& peer) {
  learners_.erase(peer);
  std::erase_if(requests_, [&](const Request& request) { return request.peer == peer; });
}

bool Server::take(const transport::PeerId& peer, wire::Insert&& insert, std::size_t bytes) {
  // An actor that joins again has new grants while its former life's messages may still wait: the
  // bound holds all the same.
  const auto room = static_cast<std::size_t>(config_.credits_per_actor * config_.max_actors);
  if (waiting_.size() >= room) return false;
  waiting_.push_back({peer, std::move(insert.batch), bytes});
  return true;
}

void Server::insert_waiting() {
  if (waiting_.empty() || !may_insert()) return;
  while (!waiting_.empty() && may_insert()) insert_first();
  desk_.deliver();
}

void Server::insert_all_waiting() {
  while (!waiting_.empty()) {
    while (!waiting_.empty()) insert_first();
    desk_.deliver();
  }
  if (desk_.waiting_for_graphs() > 0) {
    spdlog::warn("{} messages are lost: the graphs that they name have not come",
                 desk_.waiting_for_graphs());
  }
}

void Server::insert_first() {
  desk_.let_go(waiting_.front().bytes);
  insert(waiting_.front());
  waiting_.pop_front();
}

void Server::insert(Waiting& waiting) {
  const Transitions& transitions = waiting.batch.transitions;
  std::vector<std::uint16_t> index;
  for (const GraphHash hash : transitions.observations.graphs()) {
    index.push_back(graphs_.index(hash));
  }
  for (std::size_t i = 0; i < waiting.batch.priorities.size(); ++i) {
    pack_transition(transitions, i, index, packed_);
    // A priority that is none is refused and counted by the table; the others go in.
    static_cast<void>(table_.insert(packed_, priority_of(config_, waiting.batch.priorities[i])));
  }
  auto& reports = waiting.batch.episodes;
  const std::size_t taken = std::min(reports.size(), kMostEpisodes - episodes_.size());
  episodes_.insert(episodes_.end(), reports.begin(),
                   reports.begin() + static_cast<std::ptrdiff_t>(taken));
  counters_.episodes_dropped += reports.size() - taken;
  if (bounded_by_draws()) {
    allowance_.inserted(static_cast<double>(waiting.batch.priorities.size()));
  } else {
    allowance_.forgive();
  }
  limit_work();
  desk_.give_back(waiting.peer, waiting.batch.priorities.size());
}

void Server::tell_grants() {
  for (const auto& peer : desk_.take_news()) desk_.say_credit(peer);
}

void Server::limit_work() {
  // What the rate limiter would keep waiting, somebody would have acted for too early.
  std::uint64_t room = table_.insert_room();
  if (bounded_by_draws()) {
    room = std::min(room, static_cast<std::uint64_t>(std::max(0.0, allowance_.left())));
  }
  desk_.limit(std::max<std::uint64_t>(1, room));
}

void Server::adapt() {
  limit_work();
  const TimePoint now = clock_->now();
  const Duration elapsed = now - last_adaption_;
  if (elapsed < kAdaptEvery) return;
  last_adaption_ = now;
  desk_.adapt(waited_ > elapsed * kStarvedPercent / 100);
  waited_ = Duration{0};
}

void Server::answer_requests() {
  for (; !requests_.empty() && table_.can_sample(); requests_.pop_front()) {
    answer(requests_.front());
  }
}

void Server::answer(const Request& request) {
  if (!learners_.contains(request.peer)) {
    ++counters_.unanswered;
    return;
  }
  items_.resize(request.sample.count);
  const std::span<const SampledItem> drawn(items_.data(), table_.sample(items_));
  allowance_.drawn(static_cast<double>(drawn.size()));
  wire::Message message = wire::Samples{};  // filled where it is sent from: batches are large
  auto& samples = std::get<wire::Samples>(message);
  samples.request = request.sample.request;
  Transitions& transitions = samples.transitions;
  transitions = Transitions(desk_.sessions().run().form.shape);
  transitions.observations.set_graphs(graphs_.hashes());
  transitions.observations.reserve(2 * drawn.size());
  transitions.heads.reserve(drawn.size());
  for (const SampledItem& item : drawn) {
    PACML_CHECK(append_packed(item.payload, transitions), "what was packed is read again");
    samples.keys.push_back(item.key.pack());
    samples.probabilities.push_back(item.probability);
  }
  samples.shard = {table_.size(), table_.total_priority(), table_.counters().inserted};
  samples.episodes = std::move(episodes_);
  // A learner that is gone takes no reports with it.
  const bool sent = desk_.send(request.peer, message).has_value();
  episodes_ = sent ? std::vector<EpisodeRecord>{} : std::move(samples.episodes);
}

void Server::update_priorities(const wire::PriorityUpdates& updates) {
  updates_.clear();
  for (std::size_t i = 0; i < updates.keys.size(); ++i) {
    updates_.push_back(
        {ItemKey::unpack(updates.keys[i]), priority_of(config_, updates.priorities[i])});
  }
  static_cast<void>(table_.update_priorities(updates_));  // the table counts what came of them
}

void Server::learn_graph(const transport::PeerId& peer, wire::Graph&& graph) {
  // At a run's start every actor is asked, and only the first answer is news.
  if (graphs_.contains(graph.hash) || !desk_.expects(peer, graph.hash)) return;
  if (wire::hash_graph(graph) != graph.hash) {
    return desk_.refuse(peer,
                        {wire::Refusal::kMalformed, "a graph that is not what its hash says"});
  }
  if (!graphs_.add(std::move(graph))) {
    return desk_.refuse(peer, {wire::Refusal::kConfig, "the shard has no room for more graphs"});
  }
  desk_.deliver();
}

void Server::sweep() {
  const TimePoint now = clock_->now();
  if (now < next_sweep_) return;
  next_sweep_ = now + kSweepEvery;
  if (absence_.turn(now)) {
    desk_.forget_silent();
    const TimePoint silent_since = now - in_seconds(config_.forget_seconds);
    std::erase_if(learners_,
                  [&](const auto& entry) { return entry.second.last_heard < silent_since; });
  }
  desk_.count();
  std::erase_if(requests_,
                [this](const Request& request) { return !learners_.contains(request.peer); });
  board_.publish(status(), now);
}

void Server::begin_snapshot() {
  writer_ = std::make_unique<SnapshotWriter>(*snapshot_path_);
  const Bytes extra = encode_server_state(
      {desk_.sessions().run().form.shape, graphs_, desk_.sessions().tracker().state()});
  table_.begin_snapshot(extra, *writer_);
}

void Server::tend_snapshot() {
  if (!snapshot_path_) return;
  if (writer_ == nullptr) {
    const bool due = config_.snapshot_seconds > 0 && clock_->now() >= next_snapshot_;
    if (!snapshot_requested_.exchange(false) && !due) return;
    begin_snapshot();
  }
  if (table_.snapshot_running() && table_.advance_snapshot(kItemsPerStep)) writer_->finish();
  if (table_.snapshot_running() || !writer_->done()) return;
  const auto written = writer_->wait();
  if (written) {
    ++snapshots_;
    snapshot_faults_.succeeded();
  } else {
    snapshot_faults_.failed(written.error().detail);
  }
  writer_.reset();
  next_snapshot_ = clock_->now() + in_seconds(config_.snapshot_seconds);
}

void Server::finish_snapshot() {
  if (!snapshot_path_) return;
  const Rest rest;  // the disk takes the time that it takes
  // One that is under way is of the past, and yet better than what it replaces, should we be killed
  // before the last one is there, which has what came since.
  if (writer_ != nullptr && !write_snapshot()) {
    spdlog::warn("the snapshot that was under way could not be written; trying another");
  }
  // Actors count on what has been accepted, and will not send it again.
  insert_all_waiting();
  begin_snapshot();
  const auto written = write_snapshot();
  if (!written) throw UserError("no snapshot could be written: " + written.error().detail);
}

Result<std::uint64_t> Server::write_snapshot() {
  // All at once, but for what the disk is behind with.
  while (table_.snapshot_running() && !table_.advance_snapshot(table_.size() + 1)) {
    std::this_thread::sleep_for(kSnapshotSlice);
  }
  writer_->finish();
  auto written = writer_->wait();
  writer_.reset();
  if (written) ++snapshots_;
  return written;
}

std::string Server::limiter(const TableStatus& table) const {
  const auto& work = desk_.sessions().work();
  if (!bounded_by_draws() || work.in_flight() + 1 < work.window() ||
      allowance_.left() >= kInsertBurst / 2) {
    return table.why;
  }
  return "actors wait for the learner, each of whose draws lets " +
         spell_number(config_.inserts_per_sample) + " transitions in: more of them would not help";
}

std::string Server::status() const {
  const TableStatus table = table_.status();
  const auto& counters = table.counters;
  const auto faults = snapshot_faults_.status();
  auto status = desk_.status();
  status.update({{"role", "replay"},
                 {"shard", shard_},
                 {"items", table.size},
                 {"capacity", table.capacity},
                 {"bytes", table.bytes},
                 {"max_bytes", table.max_bytes},
                 {"total_priority", table.total_priority},
                 {"limiter", limiter(table)},
                 {"inserts_waiting", waiting_.size()},
                 {"inserts_waiting_for_graphs", desk_.waiting_for_graphs()},
                 {"samples_waiting", requests_.size()},
                 {"learners", learners_.size()},
                 {"graphs", graphs_.graphs().size()},
                 {"inserted", counters.inserted},
                 {"inserts_refused", counters.refused},
                 {"sampled", counters.sampled},
                 {"evicted", counters.evicted},
                 {"used_up", counters.used_up},
                 {"updates_applied", counters.updates_applied},
                 {"updates_for_evicted_items", counters.updates_evicted},
                 {"updates_refused", counters.updates_refused},
                 {"episodes_dropped", counters_.episodes_dropped},
                 {"unanswered", counters_.unanswered},
                 {"snapshots", snapshots_},
                 {"snapshot_failures", faults.failures},
                 {"snapshot_age_seconds", faults.age_seconds},
                 {"last_fault", faults.last},
                 {"snapshot_running", table_.snapshot_running()}});
  // A run may be named by any bytes.
  return json_text(status);
}

}  // namespace pacml::replay
