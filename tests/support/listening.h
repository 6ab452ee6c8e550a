#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <string>

namespace pacml::testing {

// Hears what is logged. Thread-safe.
class Ear final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  [[nodiscard]] std::string heard() {
    const std::scoped_lock lock(mutex_);
    return heard_;
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    heard_.append(message.payload.data(), message.payload.size());
  }
  void flush_() override {}

  std::string heard_;
};

// Everything that is logged goes to an ear for as long as this exists.
class Listening {
 public:
  Listening() { spdlog::set_default_logger(std::make_shared<spdlog::logger>("heard", ear_)); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { spdlog::set_default_logger(before_); }
  [[nodiscard]] std::string heard() const { return ear_->heard(); }

 private:
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  const std::shared_ptr<Ear> ear_ = std::make_shared<Ear>();
};

}  // namespace pacml::testing
