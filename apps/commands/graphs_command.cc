#include <cmath>
#include <cstddef>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/terminal.h"
#include "apps/cli/text_table.h"
#include "apps/commands/commands.h"
#include "apps/run/train_config.h"
#include "common/json_text.h"
#include "common/result.h"
#include "env/graph/job_graph.h"
#include "env/graph/profile_library.h"
#include "env/graph/zoo/zoo.h"
#include "env/ramp/ramp_config.h"
#include "env/tasks/ramp/degree_rule.h"
#include "env/tasks/ramp/task.h"

namespace pacml::apps {
namespace {

std::string gigabytes(double bytes) { return format_number(bytes / 1e9, 3); }

std::vector<std::string> row_of(const env::Profile& profile) {
  const env::JobGraph graph(profile);
  double parameters = 0;
  for (const env::ForwardOp& op : profile.ops) parameters += op.parameter_bytes;
  return {profile.model,
          std::to_string(graph.num_ops()),
          std::to_string(graph.dependencies().size()),
          format_number(graph.max_depth().value, 0),
          format_number(graph.total_compute(), 1),
          format_number(graph.max_compute().value, 1),
          gigabytes(parameters),
          gigabytes(graph.total_memory()),
          gigabytes(graph.total_dependency_bytes())};
}

// What does not fit on a server of the usual cluster, in sentences: an op that has to be cut, a
// model that needs several servers.
std::string memory_warnings(const env::Profile& profile) {
  const double server = env::RampConfig{}.worker_memory;
  double all = 0;
  const env::ForwardOp* largest = nullptr;
  const auto bytes = [](const env::ForwardOp& op) {
    return 2 * (op.activation_bytes + op.parameter_bytes) + op.optimizer_bytes;
  };
  for (const env::ForwardOp& op : profile.ops) {
    all += bytes(op);
    if (largest == nullptr || bytes(op) > bytes(*largest)) largest = &op;
  }
  std::string text;
  const auto warn = [&](const std::string& what, double size) {
    text += "warning: " + what + " takes " + gigabytes(size) + " GB, more than a server's " +
            format_number(server / 1e9, 0) + " GB; it needs at least " +
            format_number(std::ceil(size / server), 0) + " of them\n";
  };
  if (bytes(*largest) > server) {
    warn(profile.model + ": \"" + largest->description + "\" alone", bytes(*largest));
  } else if (all > server) {
    warn(profile.model, all);
  }
  return text;
}

// A model cut at one degree, on a cluster where nothing else runs.
struct CutModel {
  int degree = 0;
  int servers = 0;
  std::shared_ptr<const env::Lookahead> step;
};
struct ModelDegrees {
  std::string model;
  std::vector<CutModel> degrees;  // those at which it can be placed
};

std::vector<ModelDegrees> degrees_of(const env::RampTask& task) {
  const auto memo = task.make_memo();
  const env::ServerSet nobody(memo->topology().num_servers());
  std::vector<ModelDegrees> models;
  for (std::size_t g = 0; g < task.graphs().size(); ++g) {
    ModelDegrees& model = models.emplace_back(ModelDegrees{task.graphs()[g]->model(), {}});
    for (const int degree :
         env::degrees_with_blocks(memo->topology(), memo->setting().max_degree)) {
      const env::ExecutionPtr execution = memo->place(static_cast<int>(g), degree, nobody);
      if (!execution) continue;
      model.degrees.push_back({degree, execution->num_servers, memo->lookahead(*execution)});
    }
  }
  return models;
}

std::string text_of(const std::vector<ModelDegrees>& models) {
  std::vector<std::vector<std::string>> rows{
      {"model", "degree", "servers", "step", "computing", "communicating", "of the step"}};
  for (const ModelDegrees& model : models) {
    for (const CutModel& cut : model.degrees) {
      rows.push_back(
          {model.model, std::to_string(cut.degree), std::to_string(cut.servers),
           format_number(cut.step->step_time, 4), format_number(cut.step->computation_time, 4),
           format_number(cut.step->communication_time, 4),
           format_number(100 * cut.step->communication_time / cut.step->step_time, 1) + " %"});
    }
  }
  return align_columns(rows, columns_of_stdout());
}

nlohmann::ordered_json json_of(const std::vector<ModelDegrees>& models) {
  auto list = nlohmann::ordered_json::array();
  for (const ModelDegrees& model : models) {
    auto degrees = nlohmann::ordered_json::array();
    for (const CutModel& cut : model.degrees) {
      degrees.push_back({{"degree", cut.degree},
                         {"servers", cut.servers},
                         {"step_time", cut.step->step_time},
                         {"computation_time", cut.step->computation_time},
                         {"communication_time", cut.step->communication_time}});
    }
    list.push_back({{"model", model.model}, {"degrees", std::move(degrees)}});
  }
  return {{"models", std::move(list)}};
}

class GraphsCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"graphs",
            "the job graphs, with their statistics",
            {{"graphs", "the built-in models"},
             {"graphs --profiles my_models", "every my_models/<name>/graph.txt"},
             {"graphs --profiles my_models --model bert", "one of them: does it read well?"},
             {"graphs --degrees configs/cluster/beta_a.yaml",
              "how long a step takes, and communicates, at each degree"}}};
  }
  void declare(Options& options) override {
    options.option("--profiles DIR", &profiles_,
                   "folder of <model>/graph.txt; built-in models if not given");
    options.option("--model NAME", &models_, "only this one; may be repeated");
    options.option("--degrees CONFIG", &config_,
                   "the models of a configuration, on its cluster, where nothing else runs");
    options.option("--set KEY=VALUE", &overrides_, "with --degrees: replaces one key of CONFIG");
    options.output("--out FILE.json", &out_, "with --degrees: the same as JSON");
  }
  [[nodiscard]] int run() override {
    if (!config_.empty()) return show_degrees();
    if (!overrides_.empty() || !out_.empty()) {
      throw UserError((out_.empty() ? "--set" : "--out") + std::string(" belongs to --degrees"));
    }
    std::vector<std::vector<std::string>> rows{{"model", "ops", "dependencies", "depth", "step ms",
                                                "longest op ms", "parameters GB", "memory GB",
                                                "transfers GB"}};
    // Of the built-in models all are shown, those too that are meant only where they are named.
    const bool is_zoo = profiles_.empty() && models_.empty();
    std::string warnings;
    for (const env::Profile& profile :
         env::load_profiles(profiles_, is_zoo ? env::all_zoo_models() : models_)) {
      rows.push_back(row_of(profile));
      warnings += memory_warnings(profile);
    }
    std::cout << "One training step on one device, forward and backward pass:\n\n"
              << align_columns(rows, columns_of_stdout());
    std::cerr << warnings;
    return 0;
  }

 private:
  [[nodiscard]] int show_degrees() const {
    if (!models_.empty()) throw UserError("--model: with --degrees, CONFIG says which models");
    const auto task = load_train_config(config_, overrides_, profiles_).env.make();
    const auto* const ramp = dynamic_cast<const env::RampTask*>(task.get());
    if (ramp == nullptr) {
      throw UserError("--degrees " + config_ + ": its task cuts no jobs on a RAMP cluster");
    }
    const auto models = degrees_of(*ramp);
    std::cout << "One training step on an otherwise empty cluster, in simulated time:\n\n"
              << text_of(models);
    if (!out_.empty()) write_user_file(out_, json_text(json_of(models), 2) + "\n");
    return 0;
  }

  std::string profiles_;
  std::vector<std::string> models_;
  std::string config_;
  std::vector<std::string> overrides_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Command> make_graphs_command() { return std::make_unique<GraphsCommand>(); }

}  // namespace pacml::apps
