#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/config/fields.h"
#include "common/ids.h"

// How fast jobs run beside one another, learned from pairs that were measured, for pairs that were
// not. The share of its speed that a keeps beside b on one GPU is modelled as
//
//   exp(-softplus(z)), which is from 0 to 1
//
// with z = x_a' W x_b, x being what is known of a type, and W fitted by ridge regression. Whether
// two jobs fit on a GPU at all is fitted to the same x, by logistic regression.

namespace pacml::env {

// What x is made of.
enum class InterferenceForm {
  kConstant,  // 1: the same for all
  kEffects,   // 1 and which type it is: effects of both, where both were seen with somebody
  kFeatures,  // its family and batch: of types that nobody has seen as well
  kLatent,    // both: what families and batches say, and what each type has of its own
};
constexpr auto enum_names(InterferenceForm /*unused*/) {
  return std::to_array<EnumName<InterferenceForm>>({{"constant", InterferenceForm::kConstant},
                                                    {"effects", InterferenceForm::kEffects},
                                                    {"features", InterferenceForm::kFeatures},
                                                    {"latent", InterferenceForm::kLatent}});
}

// What names of types say: "resnet50-b64" and "resnet50 (batch size 64)" are the family resnet50
// with batches of 64; a name that does not end so is a family of its own. x is the family, one-hot;
// how large the batch is among those of its family, log2(batch / least) / log2(greatest / least) -
// 1/2, in the family's place; 1.
class JobTypeFeatures {
 public:
  explicit JobTypeFeatures(std::span<const std::string> types);

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t num_families() const { return (width_ - 1) / 2; }
  // [width()]
  [[nodiscard]] std::span<const double> of(std::size_t type) const {
    return std::span(rows_).subspan(type * width_, width_);
  }

 private:
  std::size_t width_ = 0;
  std::vector<double> rows_;  // [types, width]
};

// What was measured: the share of its speed that `of` keeps beside `beside`; 0: they do not fit.
struct MeasuredPair {
  std::size_t of = 0;
  std::size_t beside = 0;
  double share = 1;
};

// Fitted to the pairs of one GPU type. Immutable.
class InterferenceFit {
 public:
  // Pre: some pair fits; types are below `types`, those of `features` (PACML_CHECK).
  InterferenceFit(InterferenceForm form, const JobTypeFeatures& features, std::size_t types,
                  std::span<const MeasuredPair> pairs);

  // In (0, 1), as if they fit.
  [[nodiscard]] double share(std::size_t of, std::size_t beside) const;
  // Whether it is likelier that they do than that they do not; of both orders the same.
  [[nodiscard]] bool fits(std::size_t of, std::size_t beside) const;

 private:
  std::size_t types_;
  std::vector<double> z_;         // [types, types]
  std::vector<double> log_odds_;  // [types, types], that they fit; empty: all do
};

// How wrong such fits are about pairs that they have not seen, of `folds` fits that each leave out
// a part of the pairs, both directions of a pair together. Which pairs go together is a pure
// function of the seed. Pre: some pair fits in more parts than one, so at least 2 unordered ones do
// (PACML_CHECK).
struct HeldOutError {
  // |fitted - measured| / measured, of those that fit
  double mean = 0;
  double median = 0;
  double misjudged = 0;  // share of all pairs about which it is wrong whether they fit
};
[[nodiscard]] HeldOutError held_out_error(InterferenceForm form, const JobTypeFeatures& features,
                                          std::size_t types, std::span<const MeasuredPair> pairs,
                                          std::size_t folds, Seed seed);

}  // namespace pacml::env
