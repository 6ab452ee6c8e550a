#include "env/workload/job_stream.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "chi_square.h"
#include "tests/support/catch.h"

namespace pacml::env {
namespace {

std::shared_ptr<const WorkloadPlan> plan_of(const WorkloadConfig& config, int num_models) {
  return std::make_shared<const WorkloadPlan>(config, num_models);
}

WorkloadConfig small_pool(Sampling sampling, int replication_factor) {
  WorkloadConfig config;
  config.sampling = sampling;
  config.replication_factor = replication_factor;
  return config;
}

std::vector<ArrivingJob> draw(JobStream& stream, int count) {
  std::vector<ArrivingJob> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back(stream.next());
  return jobs;
}

std::vector<ArrivingJob> sorted(std::vector<ArrivingJob> jobs) {
  std::ranges::sort(jobs, {},
                    [](const ArrivingJob& job) { return std::pair(job.model, job.fraction); });
  return jobs;
}

}  // namespace

TEST_CASE("the same seed gives the same jobs and arrivals, another seed others") {
  WorkloadConfig config;
  config.interarrival = {
      .kind = DistributionKind::kUniform, .min = 500, .max = 1500, .decimals = 0};
  const auto plan = plan_of(config, 5);
  JobStream a(plan, Seed{3});
  JobStream b(plan, Seed{3});
  JobStream c(plan, Seed{4});
  int equal = 0;
  for (int i = 0; i < 500; ++i) {
    const ArrivingJob job = a.next();
    REQUIRE(b.next() == job);
    REQUIRE(b.next_interarrival(0) == a.next_interarrival(0));
    equal += c.next() == job ? 1 : 0;
  }
  CHECK(equal < 20);
}

TEST_CASE("a copied stream goes on by itself from the same place") {
  const auto plan = plan_of(small_pool(Sampling::kRemoveAndRepeat, 10), 3);
  JobStream stream(plan, Seed{9});
  draw(stream, 25);
  JobStream copy = stream;
  const auto ahead = draw(copy, 40);  // across two refills
  CHECK(draw(stream, 40) == ahead);
}

TEST_CASE("arrivals whose rate follows the day go on by the day in copies and futures") {
  WorkloadConfig config;
  config.interarrival = {
      .kind = DistributionKind::kDiurnal, .value = 10, .amplitude = 1, .period = 1000};
  const auto plan = plan_of(config, 2);
  JobStream stream(plan, Seed{5});
  JobStream copy = stream;
  JobStream future = stream;
  double now = 0;
  double then = 0;
  double by_day = 0;
  constexpr int kJobs = 20'000;
  for (int i = 0; i < kJobs; ++i) {
    stream.next();
    copy.next();
    future.next();
    REQUIRE(copy.next_interarrival(now) == stream.next_interarrival(now));
    if (i == 100) REQUIRE(future.redraw(Seed{6}, now));
    now += stream.next_interarrival(now);
    then += future.next_interarrival(then);
    by_day += std::fmod(then, 1000) < 500 ? 1 : 0;
  }
  CHECK(now != then);
  // Of the rate 1 + sin over a day, 1/2 + 1/pi is in the first half.
  CHECK(std::abs(by_day / kJobs - 0.8183) < 0.01);
}

TEST_CASE("an episode's jobs arrive as many times as often as the load it has drawn") {
  const auto kind = GENERATE(DistributionKind::kFixed, DistributionKind::kPoisson);
  WorkloadConfig config;
  config.interarrival = {.kind = kind, .value = 1000};
  const auto plain = plan_of(config, 2);
  config.loads = {0.5, 1, 2};
  const auto loaded = plan_of(config, 2);
  std::map<double, int> drawn;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    JobStream reference(plain, Seed{seed});
    JobStream stream(loaded, Seed{seed});
    const double load = loaded->load(Seed{seed});
    ++drawn[load];
    for (int i = 0; i < 5; ++i) {
      REQUIRE(stream.next() == reference.next());
      REQUIRE(stream.next_interarrival(0) == Approx(reference.next_interarrival(0) / load));
    }
  }
  REQUIRE(drawn.size() == 3);
  for (const auto& [load, count] : drawn) CHECK(count > 70);
}

TEST_CASE("the load of a future is any at first, and what it has been once that has shown") {
  const auto kind =
      GENERATE(DistributionKind::kFixed, DistributionKind::kPoisson, DistributionKind::kDiurnal);
  WorkloadConfig config;
  // Episodes begin in the morning: of a day's jobs most come in its first half.
  config.interarrival = {.kind = kind, .value = 1000, .amplitude = 1, .period = 4e5};
  const auto plain = plan_of(config, 2);
  config.loads = {0.5, 1, 2};
  const auto loaded = plan_of(config, 2);
  // The load of a future, by when another future of the same seed, at load 1, has its next job.
  const auto load_of = [&](const JobStream& future, const JobStream& reference, double now) {
    const auto to_be_expected = [&](const JobStream& stream) {
      const ArrivalProcess& arrivals = plain->interarrival();
      return arrivals.expected(now + stream.next_interarrival(now)) - arrivals.expected(now);
    };
    return to_be_expected(reference) / to_be_expected(future);
  };
  // How often the future has each load, over that of the episode.
  const auto futures_after = [&](int jobs) {
    std::map<double, int> drawn;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      JobStream stream(loaded, Seed{seed});
      JobStream reference(plain, Seed{seed});
      double now = 0;
      for (int i = 0; i < jobs; ++i) {
        if (i > 0) now += stream.next_interarrival(now);
        static_cast<void>(stream.next());
        static_cast<void>(reference.next());
      }
      REQUIRE(stream.redraw(Seed{1000 + seed}, now));
      REQUIRE(reference.redraw(Seed{1000 + seed}, now));
      const double load = load_of(stream, reference, now);
      ++drawn[std::round(load / loaded->load(Seed{seed}) * 1e6) / 1e6];
      // What it has been told does not change in a future of the future.
      JobStream copy = stream;
      static_cast<void>(copy.next());
      REQUIRE(copy.redraw(Seed{1000 + seed}, now * 100));
      REQUIRE(reference.redraw(Seed{1000 + seed}, now));
      static_cast<void>(reference.next());
      CHECK(load_of(copy, reference, now) == Approx(load));
    }
    return drawn;
  };
  const auto first = futures_after(1);
  CHECK(first.size() == 5);        // 1/4, 1/2, 1, 2 and 4 times
  CHECK(first.at(1) < 300 * 0.5);  // a third, but for chance
  CHECK(futures_after(200).at(1) > 300 * 0.95);
}

TEST_CASE("the requirement of a future is any at first, and what it has been once that has shown") {
  WorkloadConfig config;
  config.requirement.kind = DistributionKind::kList;
  config.requirement.list = {
      {"loose", {.kind = DistributionKind::kUniform, .min = 0.3, .max = 1.0}},
      {"tight", {.kind = DistributionKind::kUniform, .min = 0.1, .max = 0.6}}};
  const auto plan = plan_of(config, 2);
  const auto& loose = *plan->requirement().usual(0);
  const auto futures_after = [&](int jobs) {
    int same = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      JobStream stream(plan, Seed{seed});
      static_cast<void>(draw(stream, jobs));
      REQUIRE(stream.redraw(Seed{1000 + seed}, 0));
      double mean = 0;
      for (const auto& job : draw(stream, 200)) mean += job.fraction / 200;
      const bool is_loose = mean > 0.5;  // of means .65 and .35
      same += is_loose == (plan->requirement().for_episode(Seed{seed})->mean() == loose.mean());
    }
    return same;
  };
  const int first = futures_after(0);
  CHECK(first > 300 * 0.35);
  CHECK(first < 300 * 0.65);
  CHECK(futures_after(30) > 300 * 0.99);
}

TEST_CASE("asking for the time of the next arrival changes nothing") {
  WorkloadConfig config;
  config.interarrival = {.kind = DistributionKind::kUniform, .min = 1, .max = 1000, .decimals = 0};
  JobStream stream(plan_of(config, 2), Seed{1});
  stream.next();
  const double gap = stream.next_interarrival(0);
  CHECK(stream.next_interarrival(0) == gap);
  stream.next();
  CHECK(stream.next_interarrival(0) != gap);
}

TEST_CASE("removing gives each job of the pool once and then ends") {
  JobStream stream(plan_of(small_pool(Sampling::kRemove, 7), 3), Seed{2});
  std::map<int, int> per_model;
  for (int i = 0; i < 21; ++i) {
    REQUIRE_FALSE(stream.exhausted());
    if (i > 0) REQUIRE(stream.next_interarrival(0) == 1000);
    ++per_model[stream.next().model];
  }
  CHECK(per_model == std::map<int, int>{{0, 7}, {1, 7}, {2, 7}});
  CHECK(stream.exhausted());
  CHECK(std::isinf(stream.next_interarrival(0)));
}

TEST_CASE("a refilled pool holds the same fractions in another order") {
  JobStream stream(plan_of(small_pool(Sampling::kRemoveAndRepeat, 20), 4), Seed{8});
  const auto first = draw(stream, 80);
  CHECK_FALSE(stream.exhausted());
  const auto second = draw(stream, 80);
  CHECK(first != second);
  CHECK(sorted(first) == sorted(second));
}

TEST_CASE("drawing with replacement repeats jobs and never ends") {
  JobStream stream(plan_of(small_pool(Sampling::kReplace, 2), 2), Seed{6});
  const auto jobs = draw(stream, 4000);
  CHECK_FALSE(stream.exhausted());
  std::map<std::pair<int, double>, double> counts;
  for (const auto& job : jobs) counts[{job.model, job.fraction}] += 1;
  REQUIRE(counts.size() == 4);  // this seed's four jobs differ
  std::vector<double> observed;
  for (const auto& [job, count] : counts) observed.push_back(count);
  CHECK(chi_square(observed, std::vector<double>(4, 1000.0)) < chi_square_limit(3));
}

TEST_CASE("every order of a small pool is equally likely") {
  // Three models, one job each: the order of the models is one of six permutations.
  const auto plan = plan_of(small_pool(Sampling::kRemoveAndRepeat, 1), 3);
  std::map<std::vector<int>, double> counts;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    JobStream stream(plan, Seed{seed});
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<int> models;
      for (const auto& job : draw(stream, 3)) models.push_back(job.model);
      counts[models] += 1;
    }
  }
  REQUIRE(counts.size() == 6);
  std::vector<double> observed;
  for (const auto& [models, count] : counts) observed.push_back(count);
  CHECK(chi_square(observed, std::vector<double>(6, 1000.0)) < chi_square_limit(5));
}

TEST_CASE("the fractions of arriving jobs follow the requirement, whatever the model") {
  const WorkloadConfig config;
  const auto plan = plan_of(config, 5);
  const auto requirement = plan->requirement().for_episode(Seed{0});
  std::map<double, double> counts;
  std::map<double, double> counts_of_one_model;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    JobStream stream(plan, Seed{seed});
    for (const auto& job : draw(stream, 1000)) {
      counts[job.fraction] += 1;
      if (job.model == 3) counts_of_one_model[job.fraction] += 1;
    }
  }
  CHECK(looks_drawn_from(*requirement, counts));
  CHECK(looks_drawn_from(*requirement, counts_of_one_model));
}

TEST_CASE("interarrival times follow their distribution") {
  WorkloadConfig config;
  config.interarrival = {.kind = DistributionKind::kPmf,
                         .pmf = {{"100", 0.7}, {"1000", 0.2}, {"10000", 0.1}}};
  const auto plan = plan_of(config, 1);
  JobStream stream(plan, Seed{12});
  std::map<double, double> counts;
  for (int i = 0; i < 50'000; ++i) {
    stream.next();
    counts[stream.next_interarrival(0)] += 1;
  }
  CHECK(looks_drawn_from(make_distribution(config.interarrival), counts));
}

TEST_CASE("statistics are exact over the pool") {
  JobStream stream(plan_of(small_pool(Sampling::kRemove, 15), 3), Seed{4});
  const auto jobs = draw(stream, 45);
  REQUIRE(stream.statistics().size() == 3);
  for (int model = 0; model < 3; ++model) {
    double least = 2;
    double greatest = 0;
    for (const auto& job : jobs) {
      if (job.model != model) continue;
      least = std::min(least, job.fraction);
      greatest = std::max(greatest, job.fraction);
    }
    const auto& found = stream.statistics()[static_cast<std::size_t>(model)];
    CHECK(found.jobs == 15);
    CHECK(found.min == least);
    CHECK(found.max == greatest);
  }
}

TEST_CASE("a recorded list arrives as it was recorded") {
  JobStream stream =
      JobStream::from_list({{.model = 1, .fraction = 0.5, .interarrival_before = 0},
                            {.model = 1, .fraction = 0.25, .interarrival_before = 40},
                            {.model = 2, .fraction = 1, .interarrival_before = 7.5}},
                           4);
  CHECK(stream.next() == ArrivingJob{.model = 1, .fraction = 0.5});
  CHECK(stream.next_interarrival(0) == 40);
  CHECK(stream.next() == ArrivingJob{.model = 1, .fraction = 0.25});
  CHECK(stream.next_interarrival(0) == 7.5);
  CHECK(stream.next() == ArrivingJob{.model = 2, .fraction = 1});
  CHECK(stream.exhausted());
  CHECK(std::isinf(stream.next_interarrival(0)));

  const auto statistics = stream.statistics();
  REQUIRE(statistics.size() == 4);
  CHECK(statistics[0].jobs == 0);
  CHECK(statistics[1].jobs == 2);
  CHECK(statistics[1].min == 0.25);
  CHECK(statistics[1].max == 0.5);
  CHECK(statistics[3].jobs == 0);
}

}  // namespace pacml::env
