#pragma once
/* The variables of Hocket, in the order in which docs/commands.md describes them. One row is all that a variable takes,
 * but for its use and its description there: the runtime reads it into the Settings, wrong values are told, ranks that
 * differ are found, Python knows it.
 *
 *   TEXT(field, NAME, must_match, meaning)                           anything; whoever opens the file judges it
 *   NUMBER(field, NAME, fallback, least, most, must_match, meaning)  a whole number
 *   WORD(field, Type, NAME, must_match, meaning, words...)           in the order of the enumeration; first if empty
 *   ELSEWHERE(NAME, meaning)                                         no setting: the shim or Python reads it
 *
 * `must_match`: the ranks of a communicator decide by it, so it must be the same on all of them. */
#define HOCKET_VARIABLES(TEXT, NUMBER, WORD, ELSEWHERE)                                                               \
  WORD(disable, bool, "HOCKET_DISABLE", false,                                                                        \
       "1 passes every call to the MPI library, whatever else is set; it must be the same on all ranks", "0", "1")    \
  TEXT(plans, "HOCKET_PLAN", false, "plan files, separated by ':'")                                                   \
  ELSEWHERE("HOCKET_NETWORK", "network of the commands that are given none")                                          \
  TEXT(placement, "HOCKET_PLACEMENT", false,                                                                          \
       "how ranks find their hosts: empty (processor names), slurm, order, or a file of host names")                  \
  TEXT(switch_links, "HOCKET_SWITCH_LINKS", true,                                                                     \
       "where measured rates of uplinks are kept; empty: they are known and not measured")                            \
  WORD(flow_control, Flow, "HOCKET_FLOW_CONTROL", true, "flow control", "token", "barrier", "free")                   \
  WORD(choose, Choose, "HOCKET_CHOOSE", true,                                                                         \
       "how a candidate is selected: learn (timings), predict (model), off (thresholds); or the one for all calls",   \
       "learn", "predict", "off")                                                                                     \
  TEXT(choices, "HOCKET_CHOICES", false, "directory where learned timings are kept; empty: nothing is kept")          \
  NUMBER(min_bytes, "HOCKET_MIN_BYTES", 0, 0, most_set_bytes, true,                                                   \
         "smallest message, block, or mean contribution of a call that is scheduled; 0: HOCKET_CHOOSE decides")       \
  WORD(sums, Sums, "HOCKET_SUMS", true,                                                                               \
       "floating-point sums: placement (one candidate a size for the whole job), rank-order (by the MPI library, in " \
       "the order of ranks), free (chosen like all other calls)",                                                     \
       "placement", "rank-order", "free")                                                                             \
  WORD(reorder, bool, "HOCKET_REORDER", true,                                                                         \
       "1: topologies made with reorder put ranks where messages between neighbours load the links least", "0", "1")  \
  TEXT(algorithm, "HOCKET_ALGORITHM", true,                                                                           \
       "irregular calls are planned for their sizes by this algorithm, auto: one for each; empty: where it may gain") \
  NUMBER(segment, "HOCKET_SEGMENT", usual_segment, 1024, most_segment, true, "bytes per MPI message")                 \
  NUMBER(host_buffers, "HOCKET_HOST_BUFFERS", 0, 0, 1, true,                                                          \
         "1: all buffers are in host memory, although a GPU runtime is loaded")                                       \
  NUMBER(host_memory, "HOCKET_HOST_MEMORY", 64 << 20, 0, 1 << 30, true,                                               \
         "bytes that the ranks of a host share for a communicator, for two-level aggregation; 0: none")               \
  NUMBER(log, "HOCKET_LOG", 0, 0, 2, false, "1: log what each communicator does; 2: also log each call site")         \
  TEXT(trace, "HOCKET_TRACE", false, "where each rank writes a trace, for debugging")                                 \
  TEXT(report, "HOCKET_REPORT", false, "directory where each rank reports on its calls")                              \
  ELSEWHERE("HOCKET_RUNTIME", "MPI and path of the compiled runtime")                                                 \
  TEXT(record, "HOCKET_RECORD", false, "directory where each rank records what its calls send")                       \
  TEXT(paths, "HOCKET_PATHS", false,                                                                                  \
       "source ports: hold, spread (calls stay with the MPI library) or off; for ranks with ':' and a table of them") \
  ELSEWHERE("HOCKET_MEMORY", "memory profile, made by 'hocket calibrate memory'")                                     \
  TEXT(lab, "HOCKET_LAB", false, "directory of the lab that this process is in; waiting ranks sleep at once")         \
  ELSEWHERE("HOCKET_CXXFLAGS", "more flags for the compiler that builds the runtime")
