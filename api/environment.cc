#include <pacml/environment.h>
#include <pacml/error.h>

#include <cstddef>
#include <string>
#include <utility>

#include "api/guarded.h"
#include "api/state.h"

namespace pacml::api {

Environment::Impl::Impl(Task of, std::unique_ptr<env::Environment> made)
    : task(std::move(of)), environment(std::move(made)) {}

const Environment::Impl& Environment::Impl::of(const Environment& environment) {
  return *environment.impl_;
}

const Observations& Environment::Impl::row() const {
  check_begun();
  if (!is_observed) {
    observed = environment->spec().make_observations();
    environment->observe(observed);
    is_observed = true;
  }
  return observed;
}

void Environment::Impl::check_begun() const {
  if (!begun) throw Error("an environment is reset before anything else");
}

void Environment::Impl::check_running() const {
  check_begun();
  if (over) throw Error("the episode is over");
}

void Environment::Impl::check_action(int action) const {
  check_running();
  const auto mask = row().mask(0);
  const bool is_shown = action >= 0 && static_cast<std::size_t>(action) < mask.size() &&
                        mask[static_cast<std::size_t>(action)] != 0;
  if (!is_shown && !environment->takes(action)) {
    throw Error("action " + std::to_string(action) + " is not valid now");
  }
}

Environment::Environment(const Task& task)
    : impl_(guarded([&] {
        return std::make_unique<Impl>(task, Task::Impl::of(task).task->make_factory()());
      })) {}
Environment::Environment(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Environment::Environment(Environment&&) noexcept = default;
Environment& Environment::operator=(Environment&&) noexcept = default;
Environment::~Environment() = default;

const Task& Environment::task() const { return impl_->task; }

void Environment::reset(std::uint64_t seed) {
  impl_->forget();
  impl_->begun = false;
  impl_->over = true;
  guarded([&] { impl_->environment->reset(Seed{seed}); });
  impl_->begun = true;
  impl_->over = false;
}

Observation Environment::observe() const {
  const Observations& row = impl_->row();
  impl_->slots.clear();
  const auto& slots = row.shape().slots;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    impl_->slots.push_back({row.graph(0, s),
                            slots[s].focus ? static_cast<int>(row.focus(0, s)) : -1,
                            row.node_features(0, s)});
  }
  return {static_cast<int>(row.agent(0)), row.globals(0), row.mask(0), row.candidates(0),
          row.candidate_nodes(0),         impl_->slots};
}

CandidateRows Environment::candidates() const {
  const Observations& row = impl_->row();
  const auto& view = Task::Impl::of(impl_->task).view;
  if (!impl_->reader) {
    impl_->reader = view->make_reader();
    impl_->reader->set_graphs(impl_->environment->spec().graphs);
  }
  const std::size_t width = view->width();
  impl_->rows.resize(row.num_valid(0) * width);
  impl_->situation.resize(view->situation().size());
  const std::size_t count =
      impl_->reader->read(row, 0, impl_->rows.data(), width, impl_->situation.data());
  return {count, impl_->rows, impl_->situation};
}

Step Environment::step(int action) {
  impl_->check_action(action);
  impl_->forget();
  // What throws in the middle of a step may have moved: then only a reset goes on.
  impl_->over = true;
  const auto result = guarded([&] { return impl_->environment->step(action); });
  impl_->over = result.final();
  return {result.reward, result.terminated, result.truncated, result.elapsed};
}

bool Environment::is_over() const { return impl_->over; }

std::string Environment::describe(int action) const {
  impl_->check_action(action);
  return guarded([&] { return impl_->environment->describe(action); });
}

std::vector<double> Environment::metrics() const {
  impl_->check_begun();
  // Room for the most.
  const auto values = guarded([&] { return impl_->environment->summary().metrics; });
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(task().metrics().size())};
}

Environment Environment::clone() const {
  impl_->check_begun();
  auto copy =
      guarded([&] { return std::make_unique<Impl>(impl_->task, impl_->environment->clone()); });
  copy->begun = impl_->begun;
  copy->over = impl_->over;
  return Environment(std::move(copy));
}

bool Environment::resample_future(std::uint64_t seed) {
  impl_->check_running();
  impl_->forget();
  return guarded([&] { return impl_->environment->resample_future(Seed{seed}); });
}

}  // namespace pacml::api
