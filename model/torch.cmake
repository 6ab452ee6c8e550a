# What needs LibTorch: the network that learns. Torch is linked here and nowhere in the headers, so
# a user of this library compiles without it.
pacml_add_library(model_torch
  SOURCES
    encoders/torch_encoder.cc
    encoders/torch_encoders.cc
    torch_candidates.cc
    torch_dense.cc
    torch_forward.cc
    torch_model.cc
    torch_network.cc
    torch_perceptron.cc
    torch_policy.cc
    torch_pool.cc
    torch_rows.cc
    torch_runtime.cc
  HEADERS
    torch_network.h
    torch_policy.h
    torch_runtime.h
  PUBLIC_DEPS pacml::model
  PRIVATE_DEPS ${TORCH_LIBRARIES} ${CMAKE_DL_LIBS}
)
