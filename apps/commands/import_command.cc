#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/text_table.h"
#include "apps/commands/commands.h"
#include "common/json_text.h"
#include "common/read_number.h"
#include "common/result.h"
#include "common/text.h"
#include "env/chakra/read_chakra_trace.h"
#include "env/cost_graph/read_cost_graph.h"
#include "env/graph/job_graph.h"
#include "env/graph/profile_writer.h"
#include "env/graph/zoo/cost_model.h"
#include "env/onnx/import_onnx.h"
#include "env/placement/op_graph.h"
#include "env/placement/op_graph_json.h"
#include "env/text/open_file.h"

namespace pacml::apps {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostExtent = INT64_C(1) << 30;
// Where none is said.
constexpr const char* kDevice = "a100";
constexpr const char* kOptimizer = "sgd";

env::Optimizer optimizer_by_name(const std::string& name) {
  if (name == "sgd") return env::Optimizer::kSgd;
  if (name == "momentum") return env::Optimizer::kMomentum;
  if (name == "adam") return env::Optimizer::kAdam;
  throw UserError("--optimizer: must be sgd, momentum or adam, found \"" + name + "\"");
}

// "NAME=N"
std::pair<std::string, std::int64_t> parse_extent(const std::string& text) {
  const auto equals = text.rfind('=');
  std::optional<std::int64_t> extent;
  if (equals != std::string::npos && equals > 0) {
    extent = read_number<std::int64_t>(std::string_view(text).substr(equals + 1));
  }
  if (!extent || *extent < 1 || *extent > kMostExtent) {
    throw UserError("--dim " + text + ": must be NAME=N, with N in 1.." +
                    std::to_string(kMostExtent));
  }
  return {text.substr(0, equals), *extent};
}

env::ImportedModel read_model(const std::string& file, const env::OnnxImport& setting) {
  std::error_code error;
  if (fs::is_directory(file, error)) throw UserError(file + ": it is a folder, no ONNX model");
  std::ifstream in = env::open_file(file);
  return env::import_onnx(in, file, setting);
}

// All operations of one operator.
struct Kind {
  std::string costed_as;
  int ops = 0;
  double multiply_adds = 0;
  double parameters = 0;
  double forward_ms = 0;
  double backward_ms = 0;
};

std::string table_of(const std::vector<env::ImportedOp>& ops, const env::zoo::Device& device) {
  std::map<std::string, Kind> kinds;
  for (const env::ImportedOp& op : ops) {
    Kind& kind = kinds[op.type];
    kind.costed_as = op.costed_as;
    ++kind.ops;
    kind.multiply_adds += op.multiply_adds;
    kind.parameters += op.parameters;
    kind.forward_ms += env::zoo::time_ms(op.work.forward, device);
    kind.backward_ms += env::zoo::time_ms(op.work.backward, device);
  }
  std::vector<std::pair<std::string, Kind>> sorted(kinds.begin(), kinds.end());
  std::ranges::stable_sort(sorted, std::greater<>(),
                           [](const auto& entry) { return entry.second.forward_ms; });
  std::vector<std::vector<std::string>> rows{{"operator", "ops", "G multiply-adds", "M parameters",
                                              "forward ms", "backward ms", "costed as"}};
  for (const auto& [type, kind] : sorted) {
    rows.push_back({type, std::to_string(kind.ops), format_number(kind.multiply_adds / 1e9, 3),
                    format_number(kind.parameters / 1e6, 3), format_number(kind.forward_ms, 3),
                    format_number(kind.backward_ms, 3), kind.costed_as});
  }
  return align_columns(rows);
}

std::string table_of(const std::vector<env::ChakraKind>& kinds) {
  std::vector<std::vector<std::string>> rows{{"nodes", "count", "timed", "ms", "MB put out"}};
  for (const env::ChakraKind& kind : kinds) {
    rows.push_back({kind.name, std::to_string(kind.nodes), std::to_string(kind.timed_nodes),
                    format_number(kind.cost_us / 1e3, 3),
                    format_number(kind.output_bytes / 1e6, 3)});
  }
  return align_columns(rows);
}

class ImportCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"import",
            "a model of ONNX as a job graph, with modelled costs; a graph that TensorFlow has run, "
            "or an execution trace of Chakra, to be placed",
            {{"import resnet50.onnx --batch 64 --out my_models/resnet50/graph.txt",
              "then: train CONFIG --profiles my_models"},
             {"import bert.onnx --dim sequence=128 --device h100 --optimizer adam --fuse --out "
              "my_models",
              "as my_models/bert/graph.txt; small operators together with those in front of them"},
             {"import net.onnx --device my_device.yaml --out graph.txt",
              "timed for a device of one's own (docs/import.md)"},
             {"import cost_graph.pbtxt --out graph.json",
              "operations with measured costs; then: place graph.json"},
             {"import trace.0.et --out graph.json",
              "what one rank has run, as MLCommons' Chakra records it"}}};
  }
  void declare(Options& options) override {
    options.argument(
        "MODEL", &model_,
        "MODEL.onnx, whose files of weights need not be there; a CostGraphDef as text, NAME.pbtxt, "
        "which none of the options below but --out is for; or an execution trace of Chakra, "
        "NAME.et, which --device is for, too: it times what has no duration");
    options.required_output("--out FILE|DIR", &out_,
                            "a file that ends in .txt, or a folder, for DIR/NAME/graph.txt; of a "
                            ".pbtxt or .et, a file for JSON",
                            Writes::kFileOrFolder);
    options.option("--name NAME", &name_, "of the model; the file's if not given");
    options.option("--device NAME|FILE", &device_,
                   join(env::zoo::device_names()) + ", or a file (YAML); a100 if not given");
    options.option("--batch N", &batch_,
                   "samples of a mini-batch; as the file fixes it, or else 32, if not given");
    options.option("--dim NAME=N", &extents_, "an axis that the file leaves open; may be repeated");
    options.option("--optimizer NAME", &optimizer_,
                   "sgd, momentum or adam: what it keeps takes memory; sgd if not given");
    options.option("--fuse", &fuse_,
                   "activations, norms, sums and the like become part of what comes before them");
  }
  [[nodiscard]] int run() override {
    if (batch_ && (*batch_ < 1 || *batch_ > kMostExtent)) {
      throw UserError("--batch: must be in 1.." + std::to_string(kMostExtent));
    }
    if (fs::path(model_).extension() == ".pbtxt") return import_cost_graph();
    if (fs::path(model_).extension() == ".et") return import_chakra_trace();
    const env::Optimizer optimizer = optimizer_by_name(optimizer_.value_or(kOptimizer));
    const env::zoo::Device device = device_of();
    env::OnnxImport setting{.batch = batch_.value_or(0), .extents = {}};
    for (const std::string& extent : extents_) {
      const auto [said, is_new] = setting.extents.insert(parse_extent(extent));
      if (!is_new) throw UserError("--dim " + said->first + ": it is said twice");
    }
    const fs::path file = output_file();

    env::ImportedModel model = read_model(model_, setting);
    std::cout << table_of(model.ops, device) << "\n";
    if (fuse_) model.ops = env::fuse_small_ops(std::move(model.ops));
    model.ops.front().description += "; " + origin_of(model, device);
    const env::Profile profile = env::profile_of(model.ops, name_, device, optimizer);
    if (std::ranges::all_of(profile.ops, [](const env::ForwardOp& op) {
          return op.forward_time == 0 && op.backward_time == 0;
        })) {
      throw UserError(model_ + ": no operation of it takes any time");
    }
    report(model, profile, device);
    make_folders_of(file);
    write_user_file(file, env::to_graph_txt(profile));
    std::cout << "wrote " << file.string() << "\n";
    return 0;
  }

 private:
  // Whether there is an option beside --out and --device.
  [[nodiscard]] bool is_option_of_models_said() const {
    return batch_ || fuse_ || optimizer_ || !name_.empty() || !extents_.empty();
  }

  [[nodiscard]] int import_cost_graph() const {
    if (is_option_of_models_said() || device_) {
      throw UserError(model_ +
                      ": costs that were measured go as they are, without options but --out");
    }
    check_writable(out_);
    std::ifstream in = env::open_file(model_);
    return write_op_graph(env::read_cost_graph(in, model_));
  }

  [[nodiscard]] int import_chakra_trace() const {
    if (is_option_of_models_said()) {
      throw UserError(model_ + ": a trace goes as it is, without options but --out and --device");
    }
    const env::zoo::Device device = device_of();
    check_writable(out_);
    std::ifstream in = env::open_file(model_);
    const env::ChakraTrace trace = env::read_chakra_trace(in, model_, device);
    std::cout << table_of(trace.kinds) << "\n";
    const auto is_modelled = [](const env::ChakraKind& kind) {
      return kind.timed_nodes < kind.nodes && kind.cost_us > 0;
    };
    if (std::ranges::any_of(trace.kinds, is_modelled)) {
      std::cout << "what has no duration is timed for " << device.name
                << ", communication excepted\n";
    }
    return write_op_graph(trace.graph);
  }

  [[nodiscard]] int write_op_graph(const env::OpGraphSpec& spec) const {
    try {
      static_cast<void>(env::OpGraph(spec));
    } catch (const UserError& error) {
      throw UserError(model_ + ": " + error.what());
    }
    double cost_us = 0;
    for (const env::OpSpec& op : spec.ops) cost_us += op.cost_us;
    if (cost_us == 0) throw UserError(model_ + ": no operation of it takes any time");
    // Names need not be UTF-8 where they come from, but here.
    const std::string json = json_text(env::op_graph_to_json(spec));
    write_user_file(out_, json + "\n");
    std::cout << spec.ops.size() << " operations, " << spec.edges.size() << " edges, "
              << format_number(cost_us / 1e3, 3) << " ms one after the other\nwrote " << out_
              << "\n";
    return 0;
  }

  [[nodiscard]] env::zoo::Device device_of() const {
    try {
      return env::zoo::device_of_name_or_file(device_.value_or(kDevice));
    } catch (const UserError& error) {
      throw UserError("--device: " + std::string(error.what()));
    }
  }

  // Where the profile goes; asked, as far as its folder is there, whether it can be written.
  fs::path output_file() {
    fs::path file(out_);
    const bool is_file = file.extension() == ".txt";
    if (is_file && !name_.empty()) {
      throw UserError("--name: the folder that --out " + out_ + " is in is the model's name");
    }
    if (name_.empty()) name_ = fs::path(model_).stem().string();
    if (name_.empty() || name_ == "." || name_ == ".." || name_.find('/') != std::string::npos) {
      throw UserError("--name: \"" + name_ + "\" cannot be the name of a folder");
    }
    if (!is_file) file = file / name_ / "graph.txt";
    std::error_code none;
    if (!file.has_parent_path() || fs::exists(file.parent_path(), none)) check_writable(file);
    return file;
  }

  void make_folders_of(const fs::path& file) const {
    std::error_code error;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), error);
    if (error) throw UserError("--out " + out_ + ": " + error.message());
  }

  // Where the figures come from: nothing that changes from one import to the next.
  [[nodiscard]] std::string origin_of(const env::ImportedModel& model,
                                      const env::zoo::Device& device) const {
    return "costs modelled by pacml import for " + device.name + ", " +
           std::to_string(model.batch) + " samples, " + optimizer_.value_or(kOptimizer) +
           (fuse_ ? ", fused" : "") + "; from " + fs::path(model_).filename().string() + ", " +
           model.origin;
  }

  void report(const env::ImportedModel& model, const env::Profile& profile,
              const env::zoo::Device& device) const {
    const env::JobGraph graph(profile);
    double optimizer_bytes = 0;
    for (const env::ForwardOp& op : profile.ops) optimizer_bytes += op.optimizer_bytes;
    const double gigabytes = (graph.total_memory() + optimizer_bytes) / 1e9;
    std::cout << align_columns(
                     {{"samples", samples_of(model)},
                      {"parameters, M", format_number(model.parameters() / 1e6, 3)},
                      {"multiply-adds a sample, G", format_number(model.multiply_adds() / 1e9, 3)},
                      {"operations", std::to_string(profile.ops.size())},
                      {"training step on one " + device.name + ", ms",
                       format_number(graph.total_compute(), 1)},
                      {"memory, GB", format_number(gigabytes, 3)}})
              << "\n";
    if (gigabytes * 1e9 > device.memory_bytes) {
      std::cerr << "warning: training it takes more memory than one " << device.name << " has ("
                << format_number(device.memory_bytes / 1e9, 0) << " GB)\n";
    }
    warn_of_unknown(model);
  }

  // With the axes that were taken for the mini-batch.
  static std::string samples_of(const env::ImportedModel& model) {
    std::string text = std::to_string(model.batch);
    return model.batch_axes.empty() ? text : text + " (" + join(model.batch_axes) + ")";
  }

  static void warn_of_unknown(const env::ImportedModel& model) {
    constexpr std::size_t kMostNames = 8;
    std::map<std::string, int> unknown;
    int ops = 0;
    for (const env::ImportedOp& op : model.ops) {
      if (op.costed_as != env::kUnknownCost) continue;
      ++unknown[op.type];
      ++ops;
    }
    if (unknown.empty()) return;
    std::vector<std::string> names;
    for (const auto& [type, count] : unknown) {
      if (names.size() < kMostNames) names.push_back(type + ": " + std::to_string(count));
    }
    if (names.size() < unknown.size()) names.emplace_back("...");
    std::cerr << "warning: " << ops << (ops == 1 ? " operation is" : " operations are")
              << " of operators that are not known (" << join(names)
              << "): their arithmetic counts nothing, only the memory that they read and write\n";
  }

  std::string model_;
  std::string out_;
  std::string name_;
  std::optional<std::string> device_;
  std::optional<std::int64_t> batch_;
  std::vector<std::string> extents_;
  std::optional<std::string> optimizer_;
  bool fuse_ = false;
};

}  // namespace

std::unique_ptr<Command> make_import_command() { return std::make_unique<ImportCommand>(); }

}  // namespace pacml::apps
