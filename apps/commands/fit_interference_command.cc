#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/files.h"
#include "apps/cli/named_choice.h"
#include "apps/cli/text_table.h"
#include "apps/commands/commands.h"
#include "common/json_text.h"
#include "common/result.h"
#include "env/gpu_cluster/interference_fit.h"
#include "env/gpu_cluster/job_speeds.h"
#include "env/gpu_cluster/speed_tables_json.h"
#include "env/text/json_member.h"

namespace pacml::apps {
namespace {

using env::InterferenceForm;

constexpr std::size_t kFolds = 5;
constexpr std::size_t kMostTypes = 200;  // of which each pair may be fitted

// What was measured on one type of GPU.
struct Measured {
  std::vector<env::MeasuredPair> pairs;
  std::size_t unfit = 0;  // those that do not fit together
  std::size_t holes = 0;
};

using Row = std::map<std::string, std::map<std::string, double>>;

Measured measured(const Row& rows, const std::vector<std::string>& types) {
  Measured out;
  for (std::size_t a = 0; a < types.size(); ++a) {
    const auto row = rows.find(types[a]);
    for (std::size_t b = 0; b < types.size(); ++b) {
      if (row == rows.end() || !row->second.contains(types[b])) {
        ++out.holes;
      } else {
        const double share = row->second.at(types[b]);
        out.pairs.push_back({a, b, share});
        if (!(share > 0)) ++out.unfit;
      }
    }
  }
  return out;
}

class FitInterferenceCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {
        "fit-interference",
        "how fast jobs run beside one another on a GPU, fitted to the pairs that were measured",
        {{"fit-interference speeds.json", "how wrong fits are about pairs that they have not seen"},
         {"fit-interference speeds.json --out filled.json",
          "the same tables, with pairs that were not measured; for env.speeds"}}};
  }
  void declare(Options& options) override {
    options.argument("SPEEDS.json", &file_, "tables of speeds (docs/gpu_cluster.md)");
    options.option(
        "--form NAME", &form_,
        "what --out is filled by: constant, effects (of both types), features (of their families "
        "and batches) or latent (both)");
    options.option("--seed S", &seed_, "of what is left out together");
    options.output("--out FILE", &out_, "the tables, with a share for every pair");
    options.option("--all", &all_,
                   "--out has what was fitted also for the pairs that were measured");
  }
  [[nodiscard]] int run() override {
    const InterferenceForm form = named_choice<InterferenceForm>("--form", form_);
    if (all_ && out_.empty()) throw UserError("--all: is about what --out has");
    if (seed_ < 0) throw UserError("--seed: must not be negative");
    nlohmann::json document = env::speed_tables_document(file_);
    const env::GpuSpeedTables tables = env::speed_tables(env::JsonMember(document, file_));
    env::check_shares(tables);
    std::vector<std::string> types;
    for (const auto& [name, type] : tables.types) types.push_back(name);
    if (tables.pairs.empty()) throw UserError(file_ + ": it has no pairs");
    if (types.size() > kMostTypes) {
      throw UserError(file_ + ": more than " + std::to_string(kMostTypes) + " types of jobs");
    }
    const env::JobTypeFeatures features(types);
    std::cout << types.size() << " types of jobs, " << features.num_families()
              << " families; mean and median error of the share of its speed that a job keeps, and "
                 "how much of all pairs is misjudged about whether they fit, held out in "
              << kFolds << " parts:\n\n";
    std::vector<std::vector<std::string>> table{{"GPU", "measured", "do not fit", "not measured",
                                                 "constant", "effects", "features", "latent"}};
    nlohmann::json filled;
    for (const auto& [gpu, rows] : tables.pairs) {
      const Measured of = measured(rows, types);
      if (of.pairs.size() - of.unfit < 4 * kFolds) {
        throw UserError(file_ + ": " + std::to_string(of.pairs.size() - of.unfit) + " pairs on " +
                        gpu + " are too few");
      }
      table.push_back(errors_of(gpu, of, features, types.size()));
      const env::InterferenceFit fit(form, features, types.size(), of.pairs);
      filled[gpu] = rows;
      for (std::size_t a = 0; a < types.size(); ++a) {
        for (std::size_t b = 0; b < types.size(); ++b) {
          const bool is_measured = rows.contains(types[a]) && rows.at(types[a]).contains(types[b]);
          if (is_measured && !all_) continue;
          filled[gpu][types[a]][types[b]] = fit.fits(a, b) ? fit.share(a, b) : 0.0;
        }
      }
    }
    std::cout << align_columns(table);
    if (out_.empty()) return 0;
    document["pairs"] = std::move(filled);
    write_user_file(out_, json_text(document, 1) + "\n");
    std::cout << "\nwrote " << out_ << "\n";
    return 0;
  }

 private:
  [[nodiscard]] std::vector<std::string> errors_of(const std::string& gpu, const Measured& of,
                                                   const env::JobTypeFeatures& features,
                                                   std::size_t types) const {
    std::vector<std::string> row{gpu, std::to_string(of.pairs.size() - of.unfit),
                                 std::to_string(of.unfit), std::to_string(of.holes)};
    for (const auto& entry : enum_names(InterferenceForm{})) {
      const auto error = env::held_out_error(entry.value, features, types, of.pairs, kFolds,
                                             Seed{static_cast<std::uint64_t>(seed_)});
      row.push_back(format_number(error.mean, 3) + " (" + format_number(error.median, 3) + ") " +
                    format_number(100 * error.misjudged, 3) + " %");
    }
    return row;
  }

  std::string file_;
  std::string form_ = "latent";
  std::int64_t seed_ = 0;
  std::string out_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_fit_interference_command() {
  return std::make_unique<FitInterferenceCommand>();
}

}  // namespace pacml::apps
