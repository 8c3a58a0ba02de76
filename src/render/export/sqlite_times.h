/* What the export `sqlite` tells of stretches of time: phases, and what CUPTI saw run. */
#ifndef RENDER_EXPORT_SQLITE_TIMES_H
#define RENDER_EXPORT_SQLITE_TIMES_H

struct sqlite_file;
struct trace;

/* Write their rows; the file keeps what failed. */
void sqlite_phases(struct sqlite_file *file, const struct trace *trace);
void sqlite_spans(struct sqlite_file *file, const struct trace *trace);

#endif
