#pragma once

#include <pacml/api.h>
#include <pacml/policy.h>

#include <memory>
#include <string>
#include <string_view>

namespace pacml::api {

// What `pacml decide` is, inside another program: jobs of a cluster that somebody else runs come
// as lines of JSON, decisions go back, and the cluster's state is kept in between. docs/decide.md
// has the schema of both. One caller at a time, on any thread.
class PACML_API DecisionService {
 public:
  // A policy about jobs on the RAMP cluster. Error: as Policy::open, or one about other decisions.
  explicit DecisionService(const std::string& path, const PolicyOptions& options = {});
  DecisionService(DecisionService&&) noexcept;
  DecisionService& operator=(DecisionService&&) noexcept;
  ~DecisionService();

  // The answer to a line, without a newline. Any bytes are safe to pass; those that are no request
  // are answered with an error, and change nothing.
  [[nodiscard]] std::string answer(std::string_view line);
  // Another policy decides from now on; what runs goes on. Error: as above, or one of a cluster of
  // another shape; then the former one goes on.
  void take_over(const std::string& path, const PolicyOptions& options = {});

  // As Policy::warning, of the policy that decides now.
  [[nodiscard]] const std::string& warning() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace pacml::api
