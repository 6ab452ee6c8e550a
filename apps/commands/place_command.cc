#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/text_table.h"
#include "apps/cli/work_progress.h"
#include "apps/commands/commands.h"
#include "apps/evaluation/timeline_text.h"
#include "apps/placement/placement_contest.h"
#include "apps/placement/placement_timeline.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/text.h"
#include "env/placement/device_presets.h"
#include "env/placement/op_graph_json.h"

namespace pacml::apps {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostSimulations = 100'000'000;
constexpr int kColumns = 60;  // of the timeline

env::PlacementProblemPtr read_problem(const std::string& graph, const std::string& devices,
                                      double penalty) {
  const auto spec = env::read_op_graph(graph);
  const auto set = std::make_shared<const env::DeviceSet>(env::devices_config(devices));
  try {
    auto problem = std::make_shared<const env::PlacementProblem>(
        std::make_shared<const env::OpGraph>(spec), set, env::MemoryPenalty{.s_per_gb = penalty});
    if (const auto reason = problem->never_fits()) throw UserError(*reason);
    return problem;
  } catch (const UserError& error) {
    throw UserError(graph + ": " + error.what());
  }
}

std::string milliseconds(double seconds) { return format_number(1000 * seconds, 3); }

std::string table_of(const PlacementContest& contest) {
  const auto single = std::ranges::find(contest.entries(), "single", &PlacementEntry::name);
  std::vector<std::vector<std::string>> rows{
      {"placement", "runtime ms", "of one device", "over memory GB", "simulations"}};
  for (const PlacementEntry& entry : contest.entries()) {
    rows.push_back({entry.name, milliseconds(entry.runtime_s),
                    format_number(entry.runtime_s / single->runtime_s, 3),
                    entry.over_gb > 0 ? format_number(entry.over_gb, 3) : "-",
                    std::to_string(entry.simulations)});
  }
  return align_columns(rows);
}

json placement_by_name(const env::PlacementProblem& problem, const PlacementEntry& entry) {
  json names = json::object();
  for (std::size_t v = 0; v < problem.graph->num_ops(); ++v) {
    const auto group = static_cast<std::size_t>(problem.graph->group_of()[v]);
    const auto device = static_cast<std::size_t>(entry.device_of_group[group]);
    names[problem.graph->name(v)] = problem.devices->name(device);
  }
  return names;
}

json figures_of(const PlacementEntry& entry) {
  return {{"name", entry.name},
          {"runtime_s", entry.runtime_s},
          {"penalised_runtime_s", entry.penalised_s},
          {"over_memory_gb", entry.over_gb},
          {"simulations", entry.simulations}};
}

using Improvements = std::vector<env::FoundPlacement::Improvement>;

json document_of(const env::PlacementProblem& problem, PlacementContest& contest,
                 const Improvements& improvements) {
  json out = figures_of(contest.best());
  out["format"] = "pacml-placed/1";
  out["semantics"] = name_of(problem.devices->semantics());
  out["placement"] = placement_by_name(problem, contest.best());
  env::PlacementSimulator& run = contest.simulate(contest.best());
  for (std::size_t d = 0; d < problem.num_devices(); ++d) {
    json device = {{"name", problem.devices->name(d)}, {"peak_bytes", run.peak_bytes()[d]}};
    if (std::isfinite(problem.limit_bytes(d))) device["memory_bytes"] = problem.limit_bytes(d);
    out["devices"].push_back(std::move(device));
  }
  for (const PlacementEntry& entry : contest.entries()) {
    out["compared"].push_back(figures_of(entry));
  }
  for (const auto& improvement : improvements) {
    out["search"].push_back({improvement.simulations, improvement.runtime_s});
  }
  return out;
}

std::string anytime_text(const Improvements& improvements) {
  constexpr std::size_t kMost = 8;
  std::string text = "search, best ms after so many simulations:";
  const std::size_t step = (improvements.size() + kMost - 1) / kMost;
  for (std::size_t i = 0; i < improvements.size(); ++i) {
    if (i % step != 0 && i + 1 != improvements.size()) continue;
    text += "  " + milliseconds(improvements[i].runtime_s) + " (" +
            std::to_string(improvements[i].simulations) + ")";
  }
  return text + "\n";
}

class PlaceCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"place",
            "place a graph of operations on devices",
            {{"place model.json --devices a100x4 --out placement.json",
              "by every rule; the best one by name (docs/placement.md has the formats)"},
             {"place my_models/bert/graph.txt --devices devices.yaml --search 20000 --out p.json",
              "a training step of a profile, and 20 000 simulations from the best rule on"},
             {"place model.json --devices a100x8 --policy runs/placing --search 500 --out p.json",
              "a trained policy as well, and 500 simulations from its placement on"},
             {"place model.json --devices a100x8 --trace trace.json --out p.json",
              "the execution as well, for ui.perfetto.dev"}}};
  }
  void declare(Options& options) override {
    options.argument("GRAPH", &graph_, "operations as JSON, or a graph.txt in PipeDream's format");
    options.required_option("--devices NAME|FILE", &devices_,
                            join(env::device_presets()) + ", or a file (YAML)");
    options.option("--policy RUN_DIR", &policies_,
                   "a trained policy of the task device_placement; may be repeated");
    options.option("--search N", &search_,
                   "at most so many simulations more, from the best of the policies on; without "
                   "one, from the best of all");
    options.option("--seed S", &seed_, "of what the search draws");
    options.option("--penalty S", &penalty_, "seconds that a GB over a device's memory counts as");
    options.required_output("--out PLACEMENT.json", &out_,
                            "the best placement, and the figures of all");
    options.output("--trace TRACE.json", &trace_, "its execution in Chrome's trace event format");
  }
  [[nodiscard]] int run() override {
    if (search_ < 0 || search_ > kMostSimulations) {
      throw UserError("--search: must be in 0.." + std::to_string(kMostSimulations));
    }
    if (!(penalty_ > 0 && penalty_ <= 1e6)) throw UserError("--penalty: must be in (0, 1e6]");
    if (seed_ < 0) throw UserError("--seed: must be 0 or more");
    const auto problem = read_problem(graph_, devices_, penalty_);
    PlacementContest contest(problem);
    contest.add_baselines();
    for (const std::string& policy : policies_) {
      WorkProgress progress("decisions of " + policy);
      contest.add_policy(policy, graph_, devices_, progress.teller());
    }
    Improvements improvements;
    if (search_ > 0) improvements = contest.search(search_, static_cast<std::uint64_t>(seed_));
    report(*problem, contest, improvements);
    write_user_file(out_, json_text(document_of(*problem, contest, improvements), 1) + "\n");
    if (!trace_.empty()) {
      write_user_file(
          trace_, json_text(chrome_trace(timeline_of(contest.simulate(contest.best())))) + "\n");
    }
    return 0;
  }

 private:
  static void report(const env::PlacementProblem& problem, PlacementContest& contest,
                     const Improvements& improvements) {
    std::cout << problem.graph->num_ops() << " operations in " << problem.num_groups()
              << " groups on " << problem.num_devices() << " devices, semantics "
              << name_of(problem.devices->semantics()) << "\n\n"
              << table_of(contest);
    if (!contest.left_out().empty()) {
      std::cout << "left out, as they take too long on such a graph: " << join(contest.left_out())
                << "\n";
    }
    if (!improvements.empty()) std::cout << "\n" << anytime_text(improvements);
    std::cout << "\n"
              << contest.best().name << ", over " << milliseconds(contest.best().runtime_s)
              << " ms:\n"
              << timeline_text(contest.simulate(contest.best()), kColumns);
    env::PlacementSimulator& run = contest.simulate(contest.best());
    for (std::size_t d = 0; d < problem.num_devices(); ++d) {
      const double over = run.peak_bytes()[d] - problem.limit_bytes(d);
      if (over > 0) {
        std::cerr << "warning: " << problem.devices->name(d) << " needs "
                  << format_number(over / 1e9, 3) << " GB more memory than it has\n";
      }
    }
  }

  std::string graph_;
  std::string devices_;
  std::vector<std::string> policies_;
  std::int64_t search_ = 0;
  std::int64_t seed_ = 1;
  double penalty_ = 2;
  std::string out_;
  std::string trace_;
};

}  // namespace

std::unique_ptr<Command> make_place_command() { return std::make_unique<PlaceCommand>(); }

}  // namespace pacml::apps
