#include "env/workload/job_stream.h"

#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "common/check.h"
#include "common/rng.h"
#include "env/workload/word_stream.h"

namespace pacml::env {
namespace {

// Names of the streams; that of the fractions of an episode's pool is in job_pool.cc.
constexpr std::uint64_t kOrderStream = 0x6f72646572;       // "order"
constexpr std::uint64_t kPickStream = 0x7069636b;          // "pick"
constexpr std::uint64_t kFutureStream = 0x66757475726573;  // "futures"
constexpr std::uint64_t kBeliefStream = 0x62656c696566;    // "belief"
constexpr std::uint64_t kBeginStream = 0x626567696e;       // "begin"
constexpr std::uint64_t kIntervalStream = 0x696e74657276;  // "interv"

// A uniformly random order of 0 .. size - 1 (Fisher and Yates).
std::shared_ptr<const std::vector<std::uint32_t>> random_order(std::size_t size, Seed episode,
                                                               std::uint64_t pass) {
  auto order = std::make_shared<std::vector<std::uint32_t>>(size);
  std::iota(order->begin(), order->end(), 0U);
  const WordStream words(episode, hash_combine(kOrderStream, pass));
  for (std::size_t i = 0; i + 1 < size; ++i) {
    std::swap((*order)[i], (*order)[i + index_of(words.word(i), size - i)]);
  }
  return order;
}

}  // namespace

// What copies of a stream share.
struct JobStream::Episode {
  std::shared_ptr<const WorkloadPlan> plan;  // null: a list
  Seed seed;
  std::optional<JobPool> own_pool;  // none: the record's
  WordStream picks;
  WordStream intervals;
  std::vector<RecordedJob> list;  // empty unless a list
  std::size_t begin = 0;          // of a record's part, the job that the episode begins with
  double load = 1;

  Episode(std::shared_ptr<const WorkloadPlan> p, Seed s)
      : plan(std::move(p)),
        seed(s),
        picks(s, kPickStream),
        intervals(s, kIntervalStream),
        load(plan->load(s)) {
    if (const RecordedJobs* recorded = plan->recorded()) {
      begin = index_of(WordStream(s, kBeginStream).word(0), recorded->played().count);
    } else {
      own_pool.emplace(*plan, s);
    }
  }
  Episode(std::vector<RecordedJob> jobs, int num_models)
      : own_pool(JobPool(jobs, num_models, jobs.size())),
        picks(seed, kPickStream),
        intervals(seed, kIntervalStream),
        list(std::move(jobs)) {}

  // Null: they are none of a record.
  [[nodiscard]] const RecordedJobs* recorded() const { return plan ? plan->recorded() : nullptr; }
  [[nodiscard]] const JobPool& pool() const { return own_pool ? *own_pool : recorded()->pool(); }
  // The job of the record that is number `n` of the episode.
  [[nodiscard]] std::size_t of_record(std::uint64_t n) const {
    const auto [first, count] = recorded()->played();
    return first + (begin + n) % count;
  }
  [[nodiscard]] bool shuffles() const {
    return plan && !recorded() && plan->sampling() != Sampling::kReplace;
  }
  [[nodiscard]] bool ends() const { return !plan || plan->sampling() == Sampling::kRemove; }
  // Of an episode that ends.
  [[nodiscard]] std::size_t num_jobs() const {
    return recorded() ? recorded()->played().count : pool().size();
  }
};

JobStream::JobStream(std::shared_ptr<const WorkloadPlan> plan, Seed episode)
    : JobStream(std::make_shared<const Episode>(std::move(plan), episode)) {}

JobStream::JobStream(std::shared_ptr<const Episode> episode) : episode_(std::move(episode)) {
  if (episode_->plan) belief_.emplace(*episode_->plan);
  if (episode_->shuffles()) order_ = random_order(episode_->pool().size(), episode_->seed, 0);
}

bool JobStream::redraw(Seed seed, double arrived) {
  if (!episode_->plan) return false;
  const WorkloadPlan& plan = *episode_->plan;
  if (!redrawn_) seen_ = {drawn_, arrived};
  const WordStream beliefs(seed, kBeliefStream);
  redrawn_ = Draws{plan.num_models(),
                   plan.recorded() ? nullptr : belief_->requirement(plan, beliefs.word(0)),
                   WordStream(seed, kPickStream),
                   WordStream(seed, kFutureStream),
                   WordStream(seed, kIntervalStream),
                   WorkloadBelief::load(plan, seen_.jobs, seen_.time, beliefs.word(1))};
  return true;
}

JobStream JobStream::from_list(std::vector<RecordedJob> jobs, int num_models) {
  return JobStream(std::make_shared<const Episode>(std::move(jobs), num_models));
}

bool JobStream::exhausted() const { return episode_->ends() && drawn_ == episode_->num_jobs(); }

ArrivingJob JobStream::next() {
  const ArrivingJob job = draw();
  if (belief_ && !redrawn_) belief_->see(*episode_->plan, job.fraction);
  return job;
}

ArrivingJob JobStream::draw() {
  PACML_CHECK(!exhausted(), "an exhausted stream has no next job");
  const JobPool& pool = episode_->pool();
  const RecordedJobs* recorded = episode_->recorded();
  const std::uint64_t number = drawn_++;
  if (redrawn_ && recorded) {
    const auto [first, count] = recorded->known();
    return pool.job(first + index_of(redrawn_->models.word(number), count));
  }
  if (redrawn_) {
    const auto models = static_cast<std::size_t>(redrawn_->num_models);
    return {.model = static_cast<int>(index_of(redrawn_->models.word(number), models)),
            .fraction = redrawn_->requirement->value_of(redrawn_->fractions.word(number))};
  }
  if (recorded) return pool.job(episode_->of_record(number));
  if (!episode_->shuffles()) {
    return pool.job(episode_->plan ? index_of(episode_->picks.word(number), pool.size()) : number);
  }
  const std::uint64_t place = number % pool.size();
  if (place == 0 && number > 0) {
    order_ = random_order(pool.size(), episode_->seed, number / pool.size());
  }
  // Of many environments that are stepped in turns, pools do not stay in the nearer caches.
  if (place + 1 < pool.size()) __builtin_prefetch(&pool.job((*order_)[place + 1]));
  return pool.job((*order_)[place]);
}

double JobStream::next_interarrival(double arrived) const {
  if (exhausted()) return std::numeric_limits<double>::infinity();
  if (!episode_->plan) return episode_->list[drawn_].interarrival_before;
  const double load = redrawn_ ? redrawn_->load : episode_->load;
  if (const RecordedJobs* recorded = episode_->recorded()) {
    if (!redrawn_) return recorded->gap_before(episode_->of_record(drawn_)) / load;
    const auto [first, count] = recorded->known();
    return recorded->gap_before(first + index_of(redrawn_->intervals.word(drawn_), count)) / load;
  }
  const WordStream& words = redrawn_ ? redrawn_->intervals : episode_->intervals;
  return episode_->plan->interarrival().until_next(arrived, words.word(drawn_), load);
}

std::span<const ModelFractions> JobStream::statistics() const {
  return episode_->pool().statistics();
}

}  // namespace pacml::env
