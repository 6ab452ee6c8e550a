#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/commands/commands.h"
#include "apps/commands/http_options.h"
#include "apps/dashboard/dashboard.h"
#include "apps/http/http_server.h"
#include "apps/run/run_directory.h"
#include "common/asio.h"
#include "common/json_text.h"
#include "common/result.h"
#include "common/signals.h"

namespace pacml::apps {
namespace {

constexpr const char* kDefaultAddress = "9180";
constexpr std::size_t kMostRuns = 16;  // as many as a chart can tell apart, and some

class DashboardCommand final : public Command {
 public:
  [[nodiscard]] CommandText text() const override {
    return {"dashboard",
            "a page in the browser: curves, processes, and the cluster decision by decision",
            {{"dashboard runs/first", "a run, while it trains or afterwards"},
             {"dashboard runs/a runs/b --http 9000", "two runs side by side, at another port"}}};
  }
  void declare(Options& options) override {
    options.argument("RUN", &runs_, "folder of a run; further ones are shown beside it");
    options.option("--http [HOST:]PORT", &http_.address,
                   "where it is served (default: 9180 of this machine; 0: any free port)");
    options.option("--http-token-file FILE", &http_.token_file,
                   "whoever looks has to know this token");
  }
  [[nodiscard]] int run() override {
    if (runs_.size() > kMostRuns) {
      throw UserError("a dashboard shows at most " + std::to_string(kMostRuns) + " runs, not " +
                      std::to_string(runs_.size()));
    }
    look_for_runs();
    if (!http_.address) http_.address = kDefaultAddress;
    const HttpSettings settings = *http_.load();
    Dashboard dashboard({runs_.begin(), runs_.end()});
    const StatusPages pages(
        [this] {
          const nlohmann::json status = {{"role", "dashboard"}, {"runs", runs_.size()}};
          return RoleReport{json_text(status), true, {}};
        },
        settings.token, dashboard.pages());
    asio::io_context io;
    const Signals signals(io, {.stop = [&io](int) { io.stop(); }, .checkpoint = {}});
    const HttpServer server(io, settings,
                            [&pages](const HttpRequest& request, const HttpCounters& counters) {
                              return pages.answer(request, counters);
                            });
    std::cout << "http://" << server.address() << "/\n" << std::flush;
    io.run();
    return 0;
  }

 private:
  // A folder that is no run is said to be none, and shown so beside those that are.
  void look_for_runs() const {
    std::vector<std::string> faults;
    for (const auto& run : runs_) {
      try {
        static_cast<void>(RunDirectory::open(run));
      } catch (const UserError& error) {
        faults.emplace_back(error.what());
      }
    }
    if (faults.size() == runs_.size()) throw UserError(faults.front());
    for (const std::string& fault : faults) std::cerr << "pacml: " << fault << "\n";
  }

  std::vector<std::string> runs_;
  HttpOptions http_;
};

}  // namespace

std::unique_ptr<Command> make_dashboard_command() { return std::make_unique<DashboardCommand>(); }

}  // namespace pacml::apps
