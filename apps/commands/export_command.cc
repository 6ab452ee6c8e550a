#include "apps/commands/export_command.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "apps/cli/files.h"
#include "apps/evaluation/trained_run.h"
#include "apps/run/resume.h"
#include "apps/run/run_directory.h"
#include "common/config/dump.h"
#include "common/config/reader.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/try_again.h"
#include "learner/export/onnx.h"
#include "learner/export/policy_safetensors.h"
#include "learner/export/torchscript.h"

namespace pacml::apps {
namespace {

using Write = Result<void> (*)(const learner::PolicyExport&, const std::filesystem::path&);

constexpr auto kFormats =
    std::to_array<std::pair<std::string_view, Write>>({{"torchscript", learner::export_torchscript},
                                                       {"safetensors", learner::export_safetensors},
                                                       {"onnx", learner::export_onnx}});

// What a policy's outputs say, for whoever uses the file.
constexpr const char* outputs_of(model::ValueHeads heads) {
  switch (heads) {
    case model::ValueHeads::kValue:
      return "logits: of the probabilities of a decision's candidates (softmax over them); "
             "values: of the state";
    case model::ValueHeads::kDuelling:
      return "logits: advantages, the greatest is the best candidate; Q of a candidate is the "
             "value plus its logit less the mean of the decision's logits";
    case model::ValueHeads::kActions:
      return "logits: action values less a constant, the greatest is the best candidate; Q of a "
             "candidate is the value plus its logit";
  }
  return "";
}

// Where the features are written down.
constexpr const char* kFeatures =
    "\"inputs\" names the columns and their units. What partitioning decisions show, and how it is "
    "normalised, is in docs/simulator.md; other tasks' in the document of the task.";

class ExportCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"export",
            "a trained policy as a file for other programs",
            {{"export runs/a --format torchscript --out policy.pt",
              "loads in Python with torch.jit.load, without this program"},
             {"export runs/a --format safetensors --out policy.safetensors",
              "weights by name, with the reference inputs and outputs beside them"},
             {"export runs/a --format onnx --out policy.onnx",
              "runs in ONNX Runtime, and whatever else reads ONNX"}}};
  }
  void declare(Options& options) override {
    options.argument("RUN_DIR", &run_directory_, "folder of a training run");
    options.required_option("--format FORMAT", &format_, "torchscript, safetensors or onnx");
    options.required_output("--out FILE", &out_, "file to write");
    options.option("--profiles DIR", &profiles_,
                   "folder of <model>/graph.txt, where it is no longer where the run found it");
  }
  [[nodiscard]] int run() override {
    const auto* const format =
        std::ranges::find(kFormats, format_, &decltype(kFormats)::value_type::first);
    if (format == kFormats.end()) {
      throw UserError("--format: must be torchscript, safetensors or onnx, found \"" + format_ +
                      "\"");
    }
    if (format_ == "safetensors") check_room_for_reference();
    const auto directory = RunDirectory::open(run_directory_);
    auto config = read_config<TrainConfig>(ConfigSource::from_file(directory.config_file()));
    if (!profiles_.empty()) config.env.set_profiles(profiles_);
    const env::TaskPtr task = config.env.make();
    const auto trained = load_trained_run(run_directory_, task->spec());
    std::cerr << trained.warning;
    learner::PolicyExport policy;
    policy.shape = trained.shape;
    policy.parameters = trained.valued.value_or(trained.parameters);
    policy.graphs = task->spec().graphs;
    policy.globals = task->spec().observation.globals;
    policy.notes = {{"config", dump_config(as_recorded(config))},
                    {"features", kFeatures},
                    {"outputs", outputs_of(trained.heads)},
                    {"task", task->spec().task},
                    {"run_id", directory.name()},
                    {"checkpoint", trained.file.filename().string()}};
    if (trained.valued) policy.notes[learner::kValueUnit] = learner::kRewards;
    if (trained.reward_rate != 0) {
      policy.notes[learner::kRewardRate] = json_text(nlohmann::json(trained.reward_rate));
    }
    const auto written = format->second(policy, out_);
    if (!written) throw_error(written.error());
    std::cout << "wrote " << out_ << ": the policy of " << trained.file.string() << " at update "
              << trained.parameters.version.get() << "\n";
    return 0;
  }

 private:
  // Safetensors hold no texts, so that the reference goes beside them.
  void check_room_for_reference() const {
    std::error_code none;
    if (std::filesystem::exists(out_, none) && !std::filesystem::is_regular_file(out_, none)) {
      throw UserError("--out " + out_ +
                      ": safetensors needs a plain file, as the reference goes beside it");
    }
    check_writable(learner::reference_file_of(out_));
  }

  std::string run_directory_;
  std::string format_;
  std::string out_;
  std::string profiles_;
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace pacml::apps
