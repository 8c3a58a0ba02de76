/* The category of a block: the first rule that its stack and its life fit. */
#include "analyse/categories/categories_parts.h"
#include "analyse/categories/glob.h"

static bool in_phase(const struct categories_own *own, const struct rule_condition *condition,
		     uint32_t phase)
{
	for (; phase; phase = own->phases.parents[phase - 1]) {
		if (pattern_any_fits(condition->patterns, own->trace->phases[phase - 1].name))
			return true;
	}
	return false;
}

static bool number_fits(const struct rule_condition *condition, uint64_t number)
{
	switch (condition->test) {
	case TEST_IS:
		return number == condition->number;
	case TEST_IS_NOT:
		return number != condition->number;
	case TEST_LESS:
		return number < condition->number;
	case TEST_MOST:
		return number <= condition->number;
	case TEST_LEAST:
		return number >= condition->number;
	default:
		return number > condition->number;
	}
}

/* Of a condition that is not about the stack: a candidate fits those. */
static bool fits_condition(const struct categories_own *own, const struct rule_condition *condition,
			   const struct life *life)
{
	switch (rule_keys[condition->key].kind) {
	case RULE_KIND_BLOCK:
		return condition->key == RULE_PHASE
			       ? in_phase(own, condition, life->phase)
			       : pattern_any_fits(condition->patterns,
						  life->of[condition->key].text);
	case RULE_KIND_WORD:
		return condition->words >> life->of[condition->key].number & 1;
	default:
		return number_fits(condition, life->of[condition->key].number);
	}
}

static bool rule_holds(const struct categories_own *own, const struct rule *rule,
		       const struct life *life)
{
	for (size_t i = 0; i < rule->conditions_n; i++) {
		const struct rule_condition *condition = &rule->conditions[i];
		unsigned kind = rule_keys[condition->key].kind;

		if (kind <= RULE_KIND_STACK)
			continue;
		/* What is no number is asked the other way round; those know != themselves. */
		if (fits_condition(own, condition, life) ==
		    (kind != RULE_KIND_NUMBER && condition->test == TEST_IS_NOT))
			return false;
	}
	return true;
}

uint8_t life_category(const struct categories *categories, struct life *life)
{
	const struct categories_own *own = categories->own;
	const struct stack_view *view = &own->views.list[life->stack];

	life->of[RULE_CALLED].number = view->called;
	for (uint32_t i = 0; i < view->count; i++) {
		const struct rule *rule =
			&categories->rules->list[own->views.candidates[view->first + i]];

		if (rule_holds(own, rule, life))
			return rule->category;
	}
	return CATEGORY_OTHER;
}
