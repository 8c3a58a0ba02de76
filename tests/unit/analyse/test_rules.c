/* Rules: what a file may say, and what is wrong with one that says it wrongly. */
#include "check.h"

#include "analyse/categories/glob.h"
#include "analyse/categories/rules.h"
#include "analyse/input/error.h"

static struct rules rules;

static int read_rules(const char *text)
{
	rules_clear(&rules);
	return rules_read_text(&rules, text, "my.rules");
}

static void refuses(const char *text, const char *why)
{
	OK(read_rules(text));
	if (!strstr(err_text(), why))
		STR(err_text(), why);
}

TEST(the_built_in_rules_are_rules)
{
	EQ(read_rules(NULL), 0);
	OK(rules.count > 30);
	EQ(rules.categories, CATEGORIES);
	for (size_t i = 0; i < rules.count; i++) {
		OK(rules.list[i].conditions_n);
		OK(rules.list[i].category < CATEGORIES);
	}
	/* Each category has one, but for what none fits. */
	for (size_t k = 0; k < CATEGORIES; k++) {
		bool any = false;

		for (size_t i = 0; i < rules.count; i++)
			any = any || (rules.list[i].stage == STAGES && rules.list[i].category == k);
		EQ(any, k != CATEGORY_OTHER);
	}
}

TEST(a_file_comes_first_and_adds_categories)
{
	const struct rule *rule;

	EQ(read_rules("# mine\n"
		      "\n"
		      "  embeddings: function=Embedding.*|embed size>=1MiB  # large ones\n"
		      "gradients: frame=\"f (*/my file.py)\" stage=backward freed!=soon "
		      "lifetime<20ms\n"
		      "stage optimizer: file=*/lion.py function!=__init__\n"),
	   0);
	EQ(rules.categories, CATEGORIES + 1);
	STR(rules.names[CATEGORIES], "embeddings");
	EQ(rules_category(&rules, "embeddings"), CATEGORIES);
	EQ(rules_category(&rules, "gradients"), CATEGORY_GRADIENTS);
	EQ(rules_category(&rules, "grads"), -1);
	rule = &rules.list[0];
	EQ(rule->category, CATEGORIES);
	EQ(rule->conditions_n, 2);
	STR(rule->conditions[0].patterns, "Embedding.*|embed");
	EQ(rule->conditions[1].key, RULE_SIZE);
	EQ(rule->conditions[1].test, TEST_LEAST);
	EQ(rule->conditions[1].number, 1 << 20);
	rule = &rules.list[1];
	STR(rule->conditions[0].patterns, "f (*/my file.py)");
	EQ(rule->conditions[1].words, 1u << STAGE_BACKWARD);
	EQ(rule->conditions[2].words, 1u << FREED_SOON);
	EQ(rule->conditions[2].test, TEST_IS_NOT);
	EQ(rule->conditions[3].number, 20000000);
	EQ(rules.list[2].stage, STAGE_OPTIMIZER);
	EQ(rules.list[2].conditions[1].test, TEST_IS_NOT);
	/* Behind it the built-in ones, of which the first tells a stage. */
	EQ(rules.list[3].stage, STAGE_BACKWARD);
}

TEST(what_is_wrong_is_said_with_its_line)
{
	refuses("\n\nweights function=f\n", "my.rules: line 3: no colon");
	refuses("weights:\n", "line 1: a rule needs at least one condition");
	refuses("weights: # function=f\n", "line 1: a rule needs at least one condition");
	refuses(": function=f", "line 1: not a category name");
	refuses("my weights: function=f", "line 1: not a category name");
	refuses("w/x: function=f", "line 1: not a category name");
	refuses("w: functions=f",
		"line 1: functions=f: a condition is KEY=VALUE, where KEY is one of function");
	refuses("w: function", "line 1: function: a condition is KEY=VALUE");
	refuses("w: function=", "line 1: missing value");
	refuses("w: function<f", "line 1: only numbers can be compared with < or >");
	refuses("w: stage=birth", "line 1: unknown value birth; expected forward, recompute");
	refuses("w: stage=soon", "line 1: unknown value soon");
	refuses("w: gradient=maybe", "line 1: unknown value maybe");
	refuses("w: size>1XB", "line 1: not a size such as 4096 or 1MiB: 1XB");
	refuses("w: lifetime>1", "line 1: not a time such as 20ms or 1.5s: 1");
	refuses("w: passes>-1", "line 1: not a number: -1");
	refuses("w: passes>99999999999999999999", "line 1: not a number");
	refuses("stage recompute: function=f", "line 1: a stage is forward, backward or optimizer");
	refuses("stage eval: function=f", "line 1: a stage is forward");
	refuses("stage forward: size>1", "line 1: a stage rule takes only conditions on frames");
	OK(rules_read(&rules, "/nowhere/my.rules"));
	OK(strstr(err_text(), "/nowhere/my.rules: No such file"));
	EQ(rules.count, 0);
}

TEST(more_categories_than_there_is_room_for)
{
	char text[4096] = "";

	for (int i = CATEGORIES; i < CATEGORIES_MOST + 1; i++) {
		char line[40];

		snprintf(line, sizeof(line), "c%d: size>%d\n", i, i);
		strcat(text, line);
	}
	refuses(text, "line 54: more than 64 categories: c64");
}

TEST(patterns)
{
	OK(pattern_any_fits("*", ""));
	OK(pattern_any_fits("a", "a"));
	OK(!pattern_any_fits("a", "ab"));
	OK(pattern_any_fits("a*|b", "ab"));
	OK(pattern_any_fits("x|b", "b"));
	OK(!pattern_any_fits("x|y", "x|y"));
	OK(pattern_any_fits("*call*", "void at::call<float>()"));
	OK(pattern_any_fits("l?b*.so*", "libtorch.so.2"));
	OK(!pattern_any_fits("l?b*.so", "libtorch.so.2"));
	OK(pattern_any_fits("a*b*c", "a_b_b_c"));
	OK(!pattern_any_fits("a*b*c", "a_b_b_d"));
	OK(!pattern_any_fits("*", NULL));
	OK(!pattern_any_fits(NULL, "a"));
	OK(!pattern_any_fits("", "a"));
}
