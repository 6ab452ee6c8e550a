# Every library that we use, with the Debian 12 package that brings it.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED)                  # libboost-dev: Asio, Beast, Process (headers)
find_package(spdlog REQUIRED)                      # libspdlog-dev; link spdlog::spdlog (compiled)
find_package(cppzmq REQUIRED)                      # cppzmq-dev, libzmq3-dev
find_package(msgpack REQUIRED NAMES msgpack msgpackc-cxx msgpack-cxx)  # libmsgpack-cxx-dev
find_package(yaml-cpp REQUIRED)                    # libyaml-cpp-dev
find_package(nlohmann_json REQUIRED)               # nlohmann-json3-dev
find_package(CLI11 REQUIRED)                       # libcli11-dev
find_package(prometheus-cpp CONFIG REQUIRED)       # prometheus-cpp-dev: the text format of metrics
find_package(tl-expected REQUIRED)                 # libexpected-dev
find_package(Protobuf REQUIRED)                    # libprotobuf-dev, protobuf-compiler: TensorBoard's events, and ...
find_path(PACML_METIS_INCLUDE metis.h REQUIRED)    # libmetis-dev: graph partitioning
find_library(PACML_METIS metis REQUIRED)
find_package(ONNX CONFIG REQUIRED)                 # libonnx-dev: ... the messages of an ONNX model
# libjs-chart.js, or any Chart.js 3.9 or later 3.x: the curves of the dashboard, put into its page.
find_file(PACML_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js
          DOC "Chart.js 3, as one file")
if(NOT PACML_CHART_JS)
  message(FATAL_ERROR "chart.min.js (Debian's libjs-chart.js) is missing; -DPACML_CHART_JS=FILE names it")
endif()
if(PACML_WITH_TORCH)
  find_package(Torch REQUIRED)                     # libtorch-dev, libgloo-dev, libopenblas0-pthread
endif()
if(PACML_BUILD_TESTS)
  find_package(Catch2 2 REQUIRED)                  # catch2
endif()
# One name for MessagePack, whichever the packaging calls it.
if(TARGET msgpack-cxx)
  set(PACML_MSGPACK msgpack-cxx)
else()
  set(PACML_MSGPACK msgpackc-cxx)
endif()
