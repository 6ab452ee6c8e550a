#include <spdlog/spdlog.h>

#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "apps/bench/bench_report.h"
#include "apps/cli/files.h"
#include "apps/commands/commands.h"
#include "apps/commands/http_options.h"
#include "apps/decide/decide_bench.h"
#include "apps/decide/decision_service.h"
#include "apps/decide/http_decisions.h"
#include "apps/decide/line_server.h"
#include "apps/decide/service_events.h"
#include "apps/http/http_server.h"
#include "common/log.h"
#include "common/result.h"
#include "planning/search_config.h"

namespace pacml::apps {
namespace {

std::unique_ptr<DecisionModel> load(const DecisionModelOptions& options) {
  auto model = std::make_unique<DecisionModel>(options);
  if (!model->warning().empty()) spdlog::warn("{}", model->warning());
  model->warm_up();
  return model;
}

class DecideCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"decide",
            "a trained policy decides about jobs of a cluster that you run (docs/decide.md)",
            {{"decide runs/a",
              "answers JSON lines, from standard input to standard output; SIGHUP: reads it anew"},
             {"decide policy.safetensors --socket /run/pacml/decide",
              "an exported policy, over a Unix socket"},
             {"decide runs/a --http 9200",
              "over HTTP: curl -H 'Content-Type: application/json' -d '{\"type\": \"describe\"}' "
              "http://localhost:9200/v1/decisions"},
             {"decide runs/a --search K=64,H=12", "looks ahead before it decides"},
             {"decide runs/a --bench 100000 --out bench.json", "how fast it answers"}}};
  }
  void declare(Options& options) override {
    options.argument("MODEL", &options_.path,
                     "run folder, or a policy that `pacml export --format safetensors` wrote");
    options.option("--socket PATH", &socket_, "serve a Unix socket there instead");
    options.option(
        "--http [HOST:]PORT", &http_.address,
        "serve POST /v1/decisions there instead; a port alone is for this machine, 0 any "
        "free port");
    options.option("--http-token-file FILE", &http_.token_file,
                   "whoever asks over HTTP has to show this token");
    options.option("--search K=..,H=..", &options_.search,
                   "look ahead, as in `pacml eval --policy RUN+search:...`");
    options.option("--profiles DIR", &options_.profiles,
                   "folder of <model>/graph.txt, where it is no longer where the run found it");
    options.option("--set KEY=VALUE", &options_.changes,
                   "a setting of your cluster that differs from the training's, such as "
                   "env.ramp.topology=[8,8,8]; may be repeated");
    options.option("--bench N", &bench_, "measure N arrivals of the policy's workload instead");
    options.output("--out FILE", &out_, "with --bench: the figures as JSON");
  }
  [[nodiscard]] int run() override {
    if (bench_ && (*bench_ < 1 || *bench_ > 1'000'000'000)) {
      throw UserError("--bench: must be in 1..1000000000");
    }
    if (out_ && !bench_) throw UserError("--out: is of --bench");
    if (bench_ && (socket_ || http_.address)) {
      throw UserError("--bench: serves no --socket and no --http");
    }
    if (socket_ && http_.address) throw UserError("--http: not beside --socket");
    const auto pages = http_.load();
    if (pages) check_listenable(*pages);
    LogSetup logging;
    logging.role = "decide";
    set_up_logging(logging);
    if (bench_) {
      measure();
    } else {
      serve(pages);
    }
    return 0;
  }

 private:
  void measure() {
    DecisionService service(load(options_));
    const DecideFigures figures = measure_decisions(service, *bench_);
    const BenchReport report = {{"decide",
                                 {{"decisions_per_second", figures.decisions_per_second},
                                  {"decision_p50_seconds", figures.p50_seconds},
                                  {"decision_p99_seconds", figures.p99_seconds},
                                  {"decision_most_seconds", figures.most_seconds},
                                  {"decisions", static_cast<double>(figures.arrivals)},
                                  {"accepted_share", figures.accepted_share}}}};
    std::cout << format_report(report);
    if (out_) write_user_file(*out_, report_to_json(report, ""));
  }

  void serve(const std::optional<HttpSettings>& pages) {
    std::optional<DecisionService> service;
    std::unique_ptr<DecisionModel> next;  // made by one thread, then taken by the other
    LineCallbacks callbacks{
        .answer = [&](std::string_view line) { return service->answer(line); },
        .too_long =
            [] {
              return std::string(R"({"type":"error","error":"a line has at most )") +
                     std::to_string(kLongestLine) + R"( bytes"})";
            },
        .prepare =
            [&] {
              try {
                next = load(options_);
              } catch (const std::exception& error) {
                spdlog::error("keeps the former policy: {}", error.what());
              }
            },
        .take_over =
            [&] {
              if (!next) return;
              try {
                service->take_over(std::exchange(next, nullptr));
                spdlog::info("decides by {} of update {}", service->model().file(),
                             service->model().version());
              } catch (const UserError& error) {
                spdlog::error("keeps the former policy: {}", error.what());
              }
            }};
    // Signals are the server's before there is a thread.
    const auto begin = [&] {
      std::unique_ptr<DecisionModel> first;
      prepare_first([&] { first = load(options_); });
      service.emplace(std::move(first));
      spdlog::info("decides by {} of update {}", service->model().file(),
                   service->model().version());
    };
    if (pages) {
      HttpDecisions server(std::move(callbacks));
      begin();
      return server.serve(*pages, [](const std::string& address) {
        spdlog::info("serving http://{}/v1/decisions", address);
      });
    }
    LineServer server(std::move(callbacks));
    begin();
    if (socket_) {
      server.serve_socket(*socket_);
    } else {
      server.serve_standard();
    }
  }

  DecisionModelOptions options_;
  std::optional<std::string> socket_;
  HttpOptions http_;
  std::optional<std::int64_t> bench_;
  std::optional<std::string> out_;
};

}  // namespace

std::unique_ptr<Command> make_decide_command() { return std::make_unique<DecideCommand>(); }

}  // namespace pacml::apps
