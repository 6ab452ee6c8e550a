# Sources of the workload and the model zoo, relative to env/.
set(PACML_ENV_ZOO_SOURCES
  workload/distribution.cc
  workload/job_pool.cc
  workload/job_stream.cc
  workload/requirement.cc
  workload/workload_plan.cc)
set(PACML_ENV_ZOO_HEADERS
  workload/distribution.h
  workload/job_pool.h
  workload/job_stream.h
  workload/requirement.h
  workload/word_stream.h
  workload/workload_plan.h)
