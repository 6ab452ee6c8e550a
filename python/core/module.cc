// pacml._core: what the Python package is made of. The package checks and names things; here is
// only what has to be in C++. Whatever takes time releases the GIL.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/cli/version.h"
#include "apps/evaluation/eval_json.h"
#include "apps/evaluation/evaluation.h"
#include "apps/evaluation/policy_list.h"
#include "apps/run/train_config.h"
#include "common/check.h"
#include "common/config/reader.h"
#include "common/experience/episode.h"
#include "common/result.h"
#include "common/rng.h"
#include "env/environment.h"
#include "env/task_config.h"
#include "model/action_distribution.h"
#include "python/core/env_batch.h"
#include "python/core/observation_layout.h"
#include "python/core/policy_batch.h"

namespace py = pybind11;

namespace pacml::python {
namespace {

using Strings = std::vector<std::string>;
template <class T>
using Array = py::array_t<T, py::array::c_style | py::array::forcecast>;

// A configuration and the task that it describes.
struct TaskHandle {
  env::TaskPtr task;
  Seed seed;  // of the run: what evaluations derive theirs from
};

// What environments are of a training's configuration: they have no network, for instance, that
// could not read what they show.
struct EnvironmentConfig {
  std::int64_t seed = 0;
  env::TaskConfig env;
};
template <class Config, class Visitor>
requires std::same_as<std::remove_const_t<Config>, EnvironmentConfig>
void visit_fields(Config& c, Visitor&& v) {
  v("seed", c.seed);
  v("env", c.env);
}
std::vector<std::string> validate(const EnvironmentConfig& config) {
  std::vector<std::string> problems;
  if (config.seed < 0) problems.emplace_back("seed: must be >= 0");
  return problems;
}

TaskHandle make_task(const ConfigSource& source, const std::string& profiles) {
  // What else a training has is left unread; what it does not have is somebody's mistake.
  std::vector<std::string_view> of_training;
  const apps::TrainConfig training;
  visit_fields(training, [&](std::string_view name, const auto&) {
    if (name != "seed" && name != "env") of_training.push_back(name);
  });
  auto config = read_config<EnvironmentConfig>(source.without(of_training));
  if (!profiles.empty()) config.env.set_profiles(profiles);
  return {config.env.make(), Seed{static_cast<std::uint64_t>(config.seed)}};
}

template <class T>
void require_length(const Array<T>& array, std::size_t length, const char* what) {
  if (array.ndim() == 1 && static_cast<std::size_t>(array.size()) == length) return;
  throw UserError(std::string(what) + ": must have " + std::to_string(length) +
                  " entries, one for each environment");
}

// Numbers that a cast would round, or text that it would read, are somebody's mistake.
std::vector<std::int64_t> actions_of(const py::object& given, std::size_t size) {
  if (!Array<std::int64_t>::check_(given)) {
    const py::dtype type = py::array(given).dtype();
    if (type.kind() != 'i' && type.kind() != 'u' && type.kind() != 'b') {
      throw UserError("actions: must be integers, not " + std::string(py::str(type)));
    }
  }
  const Array<std::int64_t> whole(given);
  require_length(whole, size, "actions");
  // A copy: other threads may write into theirs meanwhile.
  return {whole.data(), whole.data() + whole.size()};
}

py::dtype dtype_of(ColumnType type) {
  switch (type) {
    case ColumnType::kFloat32:
      return py::dtype::of<float>();
    case ColumnType::kInt64:
      return py::dtype::of<std::int64_t>();
    case ColumnType::kInt8:
      return py::dtype::of<std::int8_t>();
  }
  return py::dtype::of<std::int8_t>();
}

py::list describe(const ObservationLayout& layout) {
  py::list columns;
  for (const ColumnSpec& column : layout.columns()) {
    py::dict described;
    described["name"] = column.name;
    described["dtype"] = dtype_of(column.type);
    described["shape"] = py::tuple(py::cast(column.shape));
    described["features"] = column.features;
    described["low"] = column.low;
    described["high"] = column.high;
    described["values"] = column.values;
    columns.append(described);
  }
  return columns;
}

// Arrays that lie in the batch's own memory, and keep it alive.
py::dict view_columns(const py::object& owner, const ObservationLayout& layout, std::size_t rows,
                      const std::vector<std::vector<std::byte>>& columns) {
  py::dict views;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const ColumnSpec& column = layout.columns()[c];
    std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(rows)};
    for (const std::size_t length : column.shape) shape.push_back(static_cast<py::ssize_t>(length));
    views[py::str(column.name)] = py::array(dtype_of(column.type), shape, columns[c].data(), owner);
  }
  return views;
}

template <class T>
py::array view(const py::object& owner, std::span<const T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data(), owner);
}

py::array view_flags(const py::object& owner, std::span<const std::uint8_t> flags) {
  return py::array(py::dtype::of<bool>(), static_cast<py::ssize_t>(flags.size()), flags.data(),
                   owner);
}

// Metrics of episodes that ended, by name, and their returns and lengths.
py::dict episodes_of(const EnvBatch& batch) {
  const auto size = static_cast<py::ssize_t>(batch.size());
  py::dict named;
  const auto column = [&](const std::string& name, auto value_of) {
    py::array_t<double> values(size);
    auto at = values.mutable_unchecked<1>();
    for (py::ssize_t i = 0; i < size; ++i) {
      const auto row = static_cast<std::size_t>(i);
      at(i) = batch.over()[row] != 0 ? value_of(batch.episodes()[row]) : 0.0;
    }
    named[py::str(name)] = std::move(values);
  };
  column("r", [](const EpisodeRecord& e) { return e.episode_return; });
  column("l", [](const EpisodeRecord& e) { return static_cast<double>(e.decisions); });
  for (std::size_t m = 0; m < batch.spec().metrics.size(); ++m) {
    column(batch.spec().metrics[m].name, [m](const EpisodeRecord& e) { return e.metrics[m]; });
  }
  return named;
}

py::list graphs_of(const env::EnvironmentSpec& spec) {
  py::list graphs;
  for (std::size_t g = 0; g < spec.graphs.size(); ++g) {
    const env::GraphFeatures& graph = *spec.graphs[g];
    const auto matrix = [](const std::vector<float>& values, int rows, int width) {
      py::array_t<float> out({static_cast<py::ssize_t>(rows), static_cast<py::ssize_t>(width)});
      std::ranges::copy(values, out.mutable_data());
      return out;
    };
    py::array_t<std::int32_t> edges({py::ssize_t{2}, static_cast<py::ssize_t>(graph.num_edges)});
    std::ranges::copy(graph.edge_src, edges.mutable_data());
    std::ranges::copy(graph.edge_dst, edges.mutable_data() + graph.num_edges);
    py::dict named;
    named["name"] = spec.graph_names[g];
    named["nodes"] = matrix(graph.node_features, graph.num_nodes, graph.node_width);
    named["edges"] = std::move(edges);
    named["edge_features"] = matrix(graph.edge_features, graph.num_edges, graph.edge_width);
    graphs.append(named);
  }
  return graphs;
}

// The columns that a policy reads, out of a dictionary of arrays with the rows in front.
struct Batch {
  std::vector<py::array> arrays;  // kept alive
  std::vector<const std::byte*> columns;
  std::size_t rows = 0;
};
Batch batch_of(const ObservationLayout& layout, const py::dict& observations) {
  Batch batch;
  for (std::size_t c = 0; c < layout.num_sent(); ++c) {
    const ColumnSpec& column = layout.columns()[c];
    if (!observations.contains(column.name)) {
      throw UserError("the observations have no \"" + column.name + "\"");
    }
    const py::object given = observations[py::str(column.name)];
    const py::array array = column.type == ColumnType::kFloat32 ? py::array(Array<float>(given))
                            : column.type == ColumnType::kInt64
                                ? py::array(Array<std::int64_t>(given))
                                : py::array(Array<std::int8_t>(given));
    bool fits = static_cast<std::size_t>(array.ndim()) == column.shape.size() + 1;
    for (std::size_t d = 0; fits && d < column.shape.size(); ++d) {
      fits =
          static_cast<std::size_t>(array.shape(static_cast<py::ssize_t>(d + 1))) == column.shape[d];
    }
    const auto rows = fits ? static_cast<std::size_t>(array.shape(0)) : 0;
    if (!fits || (c > 0 && rows != batch.rows)) {
      throw UserError("\"" + column.name +
                      "\" of the observations has another shape than the task's");
    }
    batch.rows = rows;
    batch.columns.push_back(static_cast<const std::byte*>(array.data()));
    batch.arrays.push_back(array);
  }
  return batch;
}

py::array_t<float> matrix_of(const std::vector<float>& values, std::size_t rows) {
  const auto count = static_cast<py::ssize_t>(rows);
  const auto width = rows == 0 ? py::ssize_t{0} : static_cast<py::ssize_t>(values.size() / rows);
  py::array_t<float> out({count, width});
  std::ranges::copy(values, out.mutable_data());
  return out;
}

// Work that Ctrl-C ends.
template <class Work>
auto interruptible(Work work) {
  std::stop_source stop;
  auto result = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  for (;;) {
    {
      py::gil_scoped_release release;
      if (result.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() == 0) continue;
    stop.request_stop();
    py::gil_scoped_release release;
    result.wait();
    break;
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return result.get();
}

void require_episodes(std::int64_t seeds, std::int64_t first_seed) {
  if (seeds < 1 || seeds > 1'000'000) throw UserError("seeds: must be in 1..1000000");
  if (first_seed < 0 || first_seed > std::int64_t{1} << 53) {
    throw UserError("first_seed: must be in 0..2^53");
  }
}

std::vector<std::uint64_t> held_out_seeds(const TaskHandle& handle, std::int64_t seeds,
                                          std::int64_t first_seed) {
  require_episodes(seeds, first_seed);
  std::vector<std::uint64_t> out;
  for (const Seed seed : apps::evaluation_seeds(handle.seed, seeds, first_seed)) {
    out.push_back(seed.get());
  }
  return out;
}

// What a function of Python came to in the held-out episodes: its name, and (return, decisions,
// metrics) of each episode.
using Played =
    std::pair<std::string, std::vector<std::tuple<double, std::int64_t, std::vector<double>>>>;

apps::PolicyResult result_of(const Played& played, const std::vector<Seed>& seeds) {
  apps::PolicyResult policy{.name = played.first, .seeds = {}, .learned = true};
  PACML_CHECK(played.second.size() == seeds.size(), "every episode was played");
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const auto& [total, decisions, metrics] = played.second[i];
    PACML_CHECK(metrics.size() <= kMostMetrics, "metrics of the task");
    EpisodeRecord episode{total, decisions, {}};
    std::ranges::copy(metrics, episode.metrics.begin());
    policy.seeds.push_back({.seed = seeds[i].get(), .episode = episode});
  }
  return policy;
}

// Policies by their names, to be compared on the same episodes.
class Comparison {
 public:
  Comparison(const TaskHandle& handle, const Strings& names, int threads) : handle_(handle) {
    if (threads < 0 || threads > 1024) {
      throw UserError("threads: must be in 0..1024 (0: one per core)");
    }
    threads_ = apps::threads_or_cores(threads);
    policies_ = interruptible([&](const std::stop_token& stop) {
      return apps::list_policies(names, handle_.task, handle_.seed, threads_, {stop, {}});
    });
  }
  [[nodiscard]] Strings names() const {
    Strings names;
    for (const apps::NamedPolicy& policy : policies_) names.push_back(policy.name);
    return names;
  }
  // Those that `played` come behind them.
  [[nodiscard]] std::string evaluate(std::int64_t seeds, std::int64_t first_seed,
                                     const std::vector<Played>& played) const {
    require_episodes(seeds, first_seed);
    return interruptible([&](const std::stop_token& stop) -> std::string {
      const auto episodes = apps::evaluation_seeds(handle_.seed, seeds, first_seed);
      auto result = apps::evaluate(*handle_.task, policies_, episodes, threads_, {stop, {}});
      if (stop.stop_requested()) return {};
      for (const Played& one : played) result.policies.push_back(result_of(one, episodes));
      return apps::to_json(result);
    });
  }

 private:
  TaskHandle handle_;
  int threads_ = 1;
  std::vector<apps::NamedPolicy> policies_;
};

void bind_environments(py::module_& module) {
  py::enum_<Autoreset>(module, "Autoreset")
      .value("NEXT_STEP", Autoreset::kNextStep)
      .value("SAME_STEP", Autoreset::kSameStep)
      .value("DISABLED", Autoreset::kDisabled);

  py::class_<EnvBatch>(module, "EnvBatch")
      .def(py::init([](const TaskHandle& handle, std::size_t size, Autoreset autoreset,
                       bool derived, bool strict) {
             return std::make_unique<EnvBatch>(handle.task, size, autoreset, derived, strict);
           }),
           py::arg("task"), py::arg("size"), py::arg("autoreset"), py::arg("derived"),
           py::arg("strict"), py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("layout", [](const EnvBatch& b) { return describe(b.layout()); })
      .def("seed",
           [](EnvBatch& b, std::size_t environment, std::uint64_t seed) {
             if (environment >= b.size()) throw UserError("there is no such environment");
             b.seed(environment, Seed{seed});
           })
      .def("set_episode",
           [](EnvBatch& b, std::size_t environment, std::uint64_t episode) {
             if (environment >= b.size()) throw UserError("there is no such environment");
             b.set_episode(environment, Seed{episode});
           })
      .def("reset",
           [](EnvBatch& b, const Array<bool>& which) {
             require_length(which, b.size(), "reset_mask");
             const std::vector<std::uint8_t> flags(which.data(), which.data() + which.size());
             py::gil_scoped_release release;
             b.reset(flags);
           })
      .def("step",
           [](EnvBatch& b, const py::object& actions) {
             const auto given = actions_of(actions, b.size());
             py::gil_scoped_release release;
             b.step(given);
             return b.any_over();
           })
      .def("sample_actions",
           [](const EnvBatch& b, Rng& rng) {
             py::array_t<std::int64_t> actions(static_cast<py::ssize_t>(b.size()));
             b.sample_actions(rng, {actions.mutable_data(), b.size()});
             return actions;
           })
      .def("observations",
           [](const py::object& self) {
             const auto& b = self.cast<const EnvBatch&>();
             return view_columns(self, b.layout(), b.size(), b.columns());
           })
      .def("final_observations",
           [](const py::object& self) {
             const auto& b = self.cast<const EnvBatch&>();
             return view_columns(self, b.layout(), b.size(), b.final_columns());
           })
      .def("results",
           [](const py::object& self) {
             const auto& b = self.cast<const EnvBatch&>();
             return py::make_tuple(view(self, b.rewards()), view_flags(self, b.terminated()),
                                   view_flags(self, b.truncated()), view(self, b.elapsed()),
                                   view_flags(self, b.replaced()), view_flags(self, b.over()));
           })
      .def("episodes", &episodes_of);

  py::class_<Rng>(module, "Rng").def(py::init([](std::uint64_t seed) { return Rng(Seed{seed}); }));
}

// What `read` takes out of the network's answer, computed without the GIL.
std::vector<float> ask(
    PolicyBatch& policy, const Batch& batch, bool valued,
    const std::function<void(const model::PolicyOutput&, std::vector<float>&)>& read) {
  std::vector<float> taken;
  const py::gil_scoped_release release;
  policy.evaluate(batch.columns, batch.rows, valued,
                  [&](const model::PolicyOutput& said) { read(said, taken); });
  return taken;
}

void bind_policies(py::module_& module) {
  py::class_<PolicyBatch>(module, "PolicyBatch")
      .def(py::init([](const TaskHandle& handle, const std::string& run) {
             return std::make_unique<PolicyBatch>(handle.task, run);
           }),
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("layout", [](const PolicyBatch& p) { return describe(p.layout()); })
      .def_property_readonly("learns_values", &PolicyBatch::learns_values)
      .def_property_readonly("has_values", &PolicyBatch::has_values)
      .def_property_readonly(
          "values_actions",
          [](const PolicyBatch& p) { return p.heads() != model::ValueHeads::kValue; })
      .def_property_readonly("file", &PolicyBatch::file)
      .def_property_readonly("warning", &PolicyBatch::warning)
      .def("act",
           [](PolicyBatch& p, const py::dict& observations, Rng* rng) {
             const Batch batch = batch_of(p.layout(), observations);
             py::array_t<std::int64_t> actions(static_cast<py::ssize_t>(batch.rows));
             const std::span out(actions.mutable_data(), batch.rows);
             py::gil_scoped_release release;
             p.evaluate(batch.columns, batch.rows, false, [&](const model::PolicyOutput& said) {
               const std::size_t width = p.layout().num_actions();
               for (std::size_t b = 0; b < batch.rows; ++b) {
                 const auto row = std::span(said.logits).subspan(b * width, width);
                 out[b] = rng == nullptr ? model::best_action(row)
                                         : model::sample_action(row, *rng).action;
               }
             });
             return actions;
           })
      .def("log_probabilities",
           [](PolicyBatch& p, const py::dict& observations) {
             const auto read = [&p](const model::PolicyOutput& said, std::vector<float>& logs) {
               logs.resize(said.logits.size());
               const std::size_t width = p.layout().num_actions();
               for (std::size_t at = 0; at < logs.size(); at += width) {
                 model::log_probabilities(std::span(said.logits).subspan(at, width),
                                          std::span(logs).subspan(at, width));
               }
             };
             const Batch batch = batch_of(p.layout(), observations);
             return matrix_of(ask(p, batch, false, read), batch.rows);
           })
      .def("action_values",
           [](PolicyBatch& p, const py::dict& observations) {
             const auto read = [&p](const model::PolicyOutput& said, std::vector<float>& values) {
               std::vector<std::uint8_t> mask;
               for (const float logit : said.logits) {
                 mask.push_back(logit > model::kMaskedLogit ? 1 : 0);
               }
               values.resize(said.logits.size());
               model::action_values(p.heads(), said.logits, said.values, mask,
                                    p.layout().num_actions(), values);
               for (std::size_t a = 0; a < values.size(); ++a) {
                 if (mask[a] == 0) values[a] = std::nanf("");
               }
             };
             const Batch batch = batch_of(p.layout(), observations);
             return matrix_of(ask(p, batch, true, read), batch.rows);
           })
      .def("values", [](PolicyBatch& p, const py::dict& observations) {
        const auto read = [](const model::PolicyOutput& said, std::vector<float>& values) {
          values = said.values;
        };
        const auto values = ask(p, batch_of(p.layout(), observations), true, read);
        return py::array_t<float>(static_cast<py::ssize_t>(values.size()), values.data());
      });
}

PYBIND11_MODULE(_core, module) {
  py::register_exception<UserError>(module, "UserError", PyExc_ValueError);
  module.attr("version") = apps::version();
  module.def("tasks", [] {
    std::vector<std::pair<std::string, std::string>> kinds;
    for (const auto& kind : env::task_kinds()) kinds.emplace_back(kind.name, kind.description);
    return kinds;
  });

  py::class_<TaskHandle>(module, "Task")
      .def_static(
          "from_file",
          [](const std::string& file, const Strings& overrides, const std::string& profiles) {
            return make_task(ConfigSource::from_file(file, overrides), profiles);
          },
          py::call_guard<py::gil_scoped_release>())
      .def_static(
          "from_text",
          [](const std::string& text, const Strings& overrides, const std::string& profiles) {
            return make_task(ConfigSource::from_text("config", text, overrides), profiles);
          },
          py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("name", [](const TaskHandle& t) { return t.task->spec().task; })
      .def_property_readonly("num_actions",
                             [](const TaskHandle& t) { return t.task->spec().num_actions(); })
      .def_property_readonly("graphs",
                             [](const TaskHandle& t) { return graphs_of(t.task->spec()); })
      .def_property_readonly("metrics", [](const TaskHandle& t) {
        Strings names;
        for (const auto& metric : t.task->spec().metrics) names.push_back(metric.name);
        return names;
      });
  py::class_<Comparison>(module, "Comparison")
      .def(py::init<const TaskHandle&, const Strings&, int>())
      .def_property_readonly("names", &Comparison::names)
      .def("evaluate", &Comparison::evaluate);
  module.def("held_out_seeds", &held_out_seeds);
  bind_environments(module);
  bind_policies(module);
}

}  // namespace
}  // namespace pacml::python
