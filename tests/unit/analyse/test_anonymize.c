/* Other names for what is in a trace; under the sanitizers (make check-san) it tells most. */
#include "check.h"

#include "analyse/anonymize/anonymize.h"
#include "analyse/lifetimes/history.h"
#include "analyse/trace/trace.h"

TEST(a_history_without_texts)
{
	struct anonymizer anonymizer = { 0 };
	struct trace trace = { .path = "t.json" };
	struct history history = { .events_n = 0 };

	anonymize_history(&anonymizer, &trace, &history);
	anonymizer_clear(&anonymizer);
}
