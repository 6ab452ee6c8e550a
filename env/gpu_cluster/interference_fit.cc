#include "env/gpu_cluster/interference_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "common/read_number.h"
#include "common/rng.h"
#include "env/gpu_cluster/pair_regression.h"
#include "env/numerics.h"

namespace pacml::env {
namespace {

// A pair that does not disturb one another has a loss of 0, whose z is infinite.
constexpr double kLeastLoss = 0.01;
constexpr double kRidge = 0.05;
constexpr double kOwn = 0.1;  // what is a type's own, beside families and batches, which count 1
constexpr double kLeastShare = 1e-9;  // that tables of speeds may have

struct TypeName {
  std::string family;
  double batch = 0;  // 0: the name says none
};

constexpr std::pair<std::string_view, std::string_view> kBatchSpellings[] = {
    {"-b", ""}, {" (batch size ", ")"}};

TypeName parse(const std::string& name) {
  for (const auto& [before, after] : kBatchSpellings) {
    const auto at = name.rfind(before);
    if (at == std::string::npos || at == 0 || !name.ends_with(after)) continue;
    const auto from = at + before.size();
    const auto batch =
        read_number<double>(std::string_view(name).substr(from, name.size() - after.size() - from));
    if (batch && *batch >= 1 && std::isfinite(*batch)) return {name.substr(0, at), *batch};
  }
  return {name};
}

double softplus_inverse(double loss) { return std::log(std::expm1(std::max(loss, kLeastLoss))); }
double share_of(double z) { return std::exp(-std::log1p(std::exp(z))); }

// How alike types are: x_s' x_t.
std::vector<double> alike(InterferenceForm form, const JobTypeFeatures& features,
                          std::size_t types) {
  const bool has_features =
      form == InterferenceForm::kFeatures || form == InterferenceForm::kLatent;
  const bool has_own = form == InterferenceForm::kEffects || form == InterferenceForm::kLatent;
  std::vector<double> out(types * types, 1.0);
  for (std::size_t s = 0; s < types; ++s) {
    for (std::size_t t = 0; t < types; ++t) {
      double& both = out[s * types + t];
      if (has_features) {
        const auto x = features.of(s);
        both = std::inner_product(x.begin(), x.end(), features.of(t).begin(), 0.0);
      }
      if (has_own && s == t) both += kOwn;
    }
  }
  return out;
}

}  // namespace

JobTypeFeatures::JobTypeFeatures(std::span<const std::string> types) {
  struct Family {
    std::size_t place = 0;
    double least = 0;
    double greatest = 0;
  };
  std::map<std::string, Family> families;
  std::vector<TypeName> names;
  for (const std::string& type : types) {
    const TypeName& name = names.emplace_back(parse(type));
    Family& family = families.try_emplace(name.family, Family{0, name.batch, 0}).first->second;
    family.least = std::min(family.least, name.batch);
    family.greatest = std::max(family.greatest, name.batch);
  }
  std::size_t place = 0;
  for (auto& [name, family] : families) family.place = place++;
  width_ = 2 * families.size() + 1;
  rows_.assign(types.size() * width_, 0.0);
  for (std::size_t t = 0; t < names.size(); ++t) {
    const Family& family = families.at(names[t].family);
    double* row = &rows_[t * width_];
    row[family.place] = 1;
    if (family.least > 0 && family.greatest > family.least) {
      row[families.size() + family.place] =
          std::log2(names[t].batch / family.least) / std::log2(family.greatest / family.least) -
          0.5;
    }
    row[width_ - 1] = 1;
  }
}

InterferenceFit::InterferenceFit(InterferenceForm form, const JobTypeFeatures& features,
                                 std::size_t types, std::span<const MeasuredPair> pairs)
    : types_(types) {
  std::vector<ThingPair> all;
  std::vector<ThingPair> fitting;
  std::vector<double> fits;
  std::vector<double> z;
  for (const MeasuredPair& pair : pairs) {
    all.emplace_back(pair.of, pair.beside);
    fits.push_back(pair.share > 0 ? 1 : 0);
    if (!(pair.share > 0)) continue;
    fitting.emplace_back(pair.of, pair.beside);
    z.push_back(softplus_inverse(-std::log(pair.share)));
  }
  PACML_CHECK(!fitting.empty(), "a fit needs pairs");
  const std::vector<double> alike_types = alike(form, features, types);
  z_ = ridge_of_pairs(alike_types, types, fitting, z, kRidge);
  if (fitting.size() < all.size()) {
    log_odds_ = logistic_of_pairs(alike_types, types, all, fits, kRidge);
  }
}

double InterferenceFit::share(std::size_t of, std::size_t beside) const {
  return std::max(share_of(z_[of * types_ + beside]), kLeastShare);
}

bool InterferenceFit::fits(std::size_t of, std::size_t beside) const {
  return log_odds_.empty() || log_odds_[of * types_ + beside] + log_odds_[beside * types_ + of] > 0;
}

namespace {

// The part that each unordered pair belongs to: parts have about as many of those that fit, and of
// those that do not.
std::map<ThingPair, std::size_t> parts_of(std::span<const MeasuredPair> pairs, std::size_t folds,
                                          Seed seed) {
  std::set<ThingPair> fitting;
  std::set<ThingPair> others;
  for (const MeasuredPair& pair : pairs) {
    if (pair.share > 0) fitting.insert(std::minmax(pair.of, pair.beside));
  }
  for (const MeasuredPair& pair : pairs) {
    const ThingPair unordered = std::minmax(pair.of, pair.beside);
    if (!fitting.contains(unordered)) others.insert(unordered);
  }
  Rng rng(seed);
  std::map<ThingPair, std::size_t> part;
  for (const auto* of : {&fitting, &others}) {
    std::vector<ThingPair> order(of->begin(), of->end());
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    for (std::size_t i = 0; i < order.size(); ++i) part[order[i]] = i % folds;
  }
  return part;
}

}  // namespace

HeldOutError held_out_error(InterferenceForm form, const JobTypeFeatures& features,
                            std::size_t types, std::span<const MeasuredPair> pairs,
                            std::size_t folds, Seed seed) {
  const std::map<ThingPair, std::size_t> part = parts_of(pairs, folds, seed);
  std::vector<double> errors;
  std::size_t misjudged = 0;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<MeasuredPair> seen;
    std::vector<MeasuredPair> held;
    for (const MeasuredPair& pair : pairs) {
      const bool is_held = part.at(std::minmax(pair.of, pair.beside)) == fold;
      (is_held ? held : seen).push_back(pair);
    }
    if (held.empty()) continue;
    const InterferenceFit fit(form, features, types, seen);
    for (const MeasuredPair& pair : held) {
      const bool is_fitting = pair.share > 0;
      if (fit.fits(pair.of, pair.beside) != is_fitting) ++misjudged;
      if (!is_fitting) continue;
      errors.push_back(std::abs(fit.share(pair.of, pair.beside) - pair.share) / pair.share);
    }
  }
  return {pairwise_mean(errors), median(errors),
          static_cast<double>(misjudged) / static_cast<double>(pairs.size())};
}

}  // namespace pacml::env
