#pragma once
/* The variables of Hocket, in the order in which docs/running.md describes them. One row is all that a variable takes,
 * but for its use and its description there: the runtime reads it into the Settings, wrong values are told, ranks that
 * differ are found, Python knows it.
 *
 *   TEXT(field, NAME, must_match, meaning)                           anything; whoever opens the file judges it
 *   NUMBER(field, NAME, fallback, least, most, must_match, meaning)  a whole number
 *   WORD(field, Type, NAME, must_match, meaning, words...)           in the order of the enumeration; first if empty
 *   ELSEWHERE(NAME, meaning)                                         no setting: the shim or Python reads it
 *   FORMER(OLD, NAME)                                                an old name, which counts for one version
 *   REPLACED(OLD, NAME)                                              an old name that counts no more
 *
 * `must_match`: the ranks of a communicator decide by it, so it must be the same on all of them. */
#define HOCKET_VARIABLES(TEXT, NUMBER, WORD, ELSEWHERE, FORMER, REPLACED)                                           \
  WORD(disable, bool, "HOCKET_DISABLE", false,                                                                      \
       "1: every call goes to the MPI library, whatever else is set; on all ranks or on none", "0", "1")            \
  TEXT(plans, "HOCKET_PLAN", false, "the plan files, separated by ':'")                                             \
  TEXT(placement, "HOCKET_PLACEMENT", false, "empty: processor names; slurm; order; or a file of host names")       \
  TEXT(switch_links, "HOCKET_SWITCH_LINKS", true,                                                                   \
       "where measured widths of uplinks are kept; empty: they are known, nothing is measured")                     \
  NUMBER(switch_links_ms, "HOCKET_SWITCH_LINKS_MS", 3000, 100, 600000, true,                                        \
         "how long measuring uplinks may take, milliseconds")                                                       \
  WORD(flow_control, Flow, "HOCKET_FLOW_CONTROL", true, "flow control", "token", "barrier", "free")                 \
  WORD(choose, Choose, "HOCKET_CHOOSE", true,                                                                       \
       "who serves a call: what has proven faster; what is predicted to be; or the schedule above fixed sizes",     \
       "learn", "predict", "off")                                                                                   \
  TEXT(candidate, "HOCKET_CANDIDATE", true,                                                                         \
       "for measurements: the candidate that serves calls of known sizes; empty: chosen")                           \
  TEXT(choices, "HOCKET_CHOICES", false, "the directory in which is kept what was learned; empty: nothing is kept") \
  NUMBER(min_bytes, "HOCKET_MIN_BYTES", 0, 0, most_set_bytes, true,                                                 \
         "all-to-alls are scheduled from this size of a message on, smaller ones never; 0: by HOCKET_CHOOSE")       \
  NUMBER(min_gather_bytes, "HOCKET_MIN_GATHER_BYTES", 0, 0, most_set_bytes, true,                                   \
         "all-gathers are scheduled from this mean contribution on, smaller ones never; 0: by HOCKET_CHOOSE")       \
  WORD(sums, Sums, "HOCKET_SUMS", true,                                                                             \
       "floating-point sums: of each size by one candidate for the whole job; in the order of ranks, by the MPI "   \
       "library; or chosen like all other calls",                                                                   \
       "placement", "rank-order", "free")                                                                           \
  NUMBER(min_vector_bytes, "HOCKET_MIN_VECTOR_BYTES", WorthLimits{}.message_bytes, 1, most_set_bytes, true,         \
         "irregular exchanges of smaller messages, on average, go to the MPI library")                              \
  NUMBER(min_flows, "HOCKET_MIN_FLOWS", WorthLimits{}.flows, 1, most_set_bytes, true,                               \
         "messages that share the most loaded channel, for an irregular exchange to be scheduled")                  \
  NUMBER(min_senders, "HOCKET_MIN_SENDERS", WorthLimits{}.senders, 1, most_set_bytes, true,                         \
         "or that go into one host")                                                                                \
  TEXT(algorithm, "HOCKET_ALGORITHM", true, "the algorithm of irregular exchanges; empty: chosen for each")         \
  NUMBER(seed, "HOCKET_SEED", 1, 0, most_set_bytes, true, "the seed of the first rank")                             \
  NUMBER(segment, "HOCKET_SEGMENT", usual_segment, 1024, most_segment, true, "bytes per MPI message")               \
  NUMBER(release_threshold, "HOCKET_RELEASE_THRESHOLD", 0, 0, most_segment, true,                                   \
         "bytes still missing when the next sender is released")                                                    \
  NUMBER(host_buffers, "HOCKET_HOST_BUFFERS", 0, 0, 1, true,                                                        \
         "1: the program hands MPI no buffers in a GPU's memory, though a GPU runtime is loaded")                   \
  NUMBER(max_outstanding_segments, "HOCKET_MAX_OUTSTANDING_SEGMENTS", 32, 1, 1024, false,                           \
         "segments handed to MPI before one completes")                                                             \
  NUMBER(spin_us, "HOCKET_SPIN_US", 20, 0, 1000000, false,                                                          \
         "how long a waiting rank polls before it sleeps, microseconds")                                            \
  NUMBER(sleep_us, "HOCKET_SLEEP_US", 200, 0, 100000, false, "longest sleep of a waiting rank, microseconds")       \
  NUMBER(host_memory, "HOCKET_HOST_MEMORY", 64 << 20, 0, 1 << 30, true,                                             \
         "bytes that the ranks of a host share for a communicator, to aggregate their messages; 0: none")           \
  NUMBER(shared_ranks, "HOCKET_SHARED_RANKS", 0, 0, 1 << 20, false,                                                 \
         "most ranks that share memory to permute and sort; 0: all of a host")                                      \
  NUMBER(log, "HOCKET_LOG", 0, 0, 2, false,                                                                         \
         "1: say what each communicator does; 2: and what becomes of each call site")                               \
  TEXT(trace, "HOCKET_TRACE", false, "what each rank does, for debugging: where it is written")                     \
  TEXT(report, "HOCKET_REPORT", false, "the directory in which each rank puts its account of the calls")            \
  ELSEWHERE("HOCKET_RUNTIME", "the compiled runtime")                                                               \
  ELSEWHERE("HOCKET_RUNTIME_MPI", "the MPI that it belongs to")                                                     \
  TEXT(record, "HOCKET_RECORD", false, "the directory in which each rank puts what its calls send")                 \
  ELSEWHERE("HOCKET_MEMORY", "a memory profile, made by 'hocket calibrate'")                                        \
  ELSEWHERE("HOCKET_LAB", "the directory of a lab")                                                                 \
  ELSEWHERE("HOCKET_CXXFLAGS", "more flags for the compiler that builds the runtime")                               \
  FORMER("HOCKET_FLOW", "HOCKET_FLOW_CONTROL")                                                                      \
  FORMER("HOCKET_EARLY", "HOCKET_RELEASE_THRESHOLD")                                                                \
  FORMER("HOCKET_AHEAD", "HOCKET_MAX_OUTSTANDING_SEGMENTS")                                                         \
  REPLACED("HOCKET_ARM", "HOCKET_CANDIDATE")                                                                        \
  REPLACED("HOCKET_REPRODUCIBLE", "HOCKET_SUMS")
