/* SPDX-License-Identifier: MIT */
#include "analysis/expression.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/locale.h"

enum action { NUMBER, NAME, NEGATE, ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, LESS, MORE, MIN, MAX, RATIO, CHOOSE };

struct pf_expression_step {
    enum action action;
    uint32_t name;
    double number;
};

struct parser {
    struct pf_expression *expression;
    const char *text, *at;
    pf_expression_name *name;
    const void *context;
    unsigned depth;  /* of what is being parsed */
    unsigned values; /* that wait for an operator */
    struct perfile_error *error;
};

static int refuse(const struct parser *parser, const char *why)
{
    return pf_about(parser->error, parser->text, strlen(parser->text),
                    pf_fail(parser->error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "expression",
                            "'%.60s': %s at '%.20s'", parser->text, why, parser->at));
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* How many values an action takes; it leaves one. */
static unsigned consumed_by(enum action action)
{
    return action <= NAME ? 0 : action == NEGATE ? 1 : action == CHOOSE ? 3 : 2;
}

static int add(struct parser *parser, struct pf_expression_step step)
{
    struct pf_expression *expression = parser->expression;
    parser->values += 1 - consumed_by(step.action);
    if (parser->values > PF_EXPRESSION_DEPTH)
        return refuse(parser, "too many conditions in a row");
    if (!PF_APPEND(expression->allocator, expression->steps, expression->count, expression->capacity, step))
        return pf_fail_memory(parser->error, "expression");
    return 0;
}

static int add_action(struct parser *parser, enum action action)
{
    return add(parser, (struct pf_expression_step){.action = action});
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " \t");
}

static bool accept(struct parser *parser, const char *word)
{
    const size_t bytes = strlen(word);
    skip_blanks(parser);
    if (strncmp(parser->at, word, bytes) != 0)
        return false;
    const char after = parser->at[bytes];
    const bool is_letter = *word >= 'a' && *word <= 'z';
    if (is_letter && ((after >= 'a' && after <= 'z') || (after >= '0' && after <= '9') || after == '_'))
        return false;
    parser->at += bytes;
    return true;
}

static int expect(struct parser *parser, const char *word, const char *why)
{
    return accept(parser, word) ? 0 : refuse(parser, why);
}

/* ---- the grammar ------------------------------------------------------------------------------------------------- */

static int parse_choice(struct parser *parser);

static int parse_call(struct parser *parser, enum action action)
{
    int result = expect(parser, "(", "( is missing");
    if (result == 0)
        result = parse_choice(parser);
    if (result == 0)
        result = expect(parser, ",", "a comma is missing");
    if (result == 0)
        result = parse_choice(parser);
    if (result == 0)
        result = expect(parser, ")", ") is missing");
    return result == 0 ? add_action(parser, action) : result;
}

static int parse_number(struct parser *parser)
{
    char *end;
    struct pf_expression_step step = {.action = NUMBER};
    if (!strchr(".0123456789", *parser->at) || !*parser->at)
        return refuse(parser, *parser->at ? "neither a number nor an event of the recording" : "an operand is missing");
    step.number = pf_parse_double(parser->at, &end);
    if (end == parser->at)
        return refuse(parser, "not a number");
    parser->at = end;
    return add(parser, step);
}

static int parse_operand(struct parser *parser)
{
    static const struct {
        const char *name;
        enum action action;
    } calls[] = {{"min", MIN}, {"max", MAX}, {"d_ratio", RATIO}};
    struct pf_expression_step step = {.action = NAME};
    if (accept(parser, "(")) {
        const int result = parse_choice(parser);
        return result < 0 ? result : expect(parser, ")", ") is missing");
    }
    if (accept(parser, "-")) {
        if (++parser->depth > PF_EXPRESSION_DEPTH)
            return refuse(parser, "too deep");
        const int result = parse_operand(parser);
        parser->depth--;
        return result < 0 ? result : add_action(parser, NEGATE);
    }
    skip_blanks(parser);
    const size_t bytes = parser->name(parser->context, parser->at, &step.name);
    if (bytes) {
        parser->at += bytes;
        return add(parser, step);
    }
    for (size_t i = 0; i < PF_COUNT(calls); i++)
        if (accept(parser, calls[i].name))
            return parse_call(parser, calls[i].action);
    return parse_number(parser);
}

/* Operators by how strongly they bind. */
enum { COMPARISONS, SUMS, PRODUCTS, LEVELS };

static bool accept_operator(struct parser *parser, unsigned level, enum action *action)
{
    static const struct {
        char sign[2];
        uint8_t level, action;
    } operators[] = {{"<", COMPARISONS, LESS},  {">", COMPARISONS, MORE},  {"+", SUMS, ADD},
                     {"-", SUMS, SUBTRACT},     {"*", PRODUCTS, MULTIPLY}, {"/", PRODUCTS, DIVIDE},
                     {"%", PRODUCTS, REMAINDER}};
    for (size_t i = 0; i < PF_COUNT(operators); i++)
        if (operators[i].level == level && accept(parser, operators[i].sign)) {
            *action = (enum action)operators[i].action;
            return true;
        }
    return false;
}

static int parse_level(struct parser *parser, unsigned level)
{
    enum action action;
    int result = level == LEVELS ? parse_operand(parser) : parse_level(parser, level + 1);
    while (result == 0 && level < LEVELS && accept_operator(parser, level, &action)) {
        result = parse_level(parser, level + 1);
        if (result == 0)
            result = add_action(parser, action);
    }
    return result;
}

/* "value if condition else other": the values stand in this order, too. */
static int parse_choice(struct parser *parser)
{
    if (++parser->depth > PF_EXPRESSION_DEPTH)
        return refuse(parser, "too deep");
    int result = parse_level(parser, COMPARISONS);
    if (result == 0 && accept(parser, "if")) {
        result = parse_level(parser, COMPARISONS);
        if (result == 0)
            result = expect(parser, "else", "else is missing");
        if (result == 0)
            result = parse_choice(parser);
        if (result == 0)
            result = add_action(parser, CHOOSE);
    }
    parser->depth--;
    return result;
}

int pf_expression_open(struct pf_expression *expression, const char *text, pf_expression_name *name,
                       const void *context, const struct perfile_allocator *allocator, struct perfile_error *error)
{
    struct parser parser = {
        .expression = expression, .text = text, .at = text, .name = name, .context = context, .error = error};
    *expression = (struct pf_expression){.allocator = allocator};
    const int result = parse_choice(&parser);
    skip_blanks(&parser);
    return result < 0 ? result : *parser.at ? refuse(&parser, "an operator is missing") : 0;
}

void pf_expression_close(struct pf_expression *expression)
{
    if (expression->steps)
        pf_free(expression->allocator, expression->steps, expression->capacity * sizeof(*expression->steps));
    *expression = (struct pf_expression){0};
}

/* ---- its value --------------------------------------------------------------------------------------------------- */

/* fmin and fmax would take the other value for one that is not known. */
static double result_of(enum action action, const double *values)
{
    const double a = values[0], b = values[1];
    const bool known = !isnan(a) && !isnan(b);
    switch (action) {
    case ADD:
        return a + b;
    case SUBTRACT:
        return a - b;
    case MULTIPLY:
        return a * b;
    case DIVIDE:
        return b != 0 ? a / b : NAN;
    case REMAINDER:
        return b != 0 ? fmod(a, b) : NAN;
    case LESS:
        return known ? a < b : NAN;
    case MORE:
        return known ? a > b : NAN;
    case MIN:
        return known ? fmin(a, b) : NAN;
    case MAX:
        return known ? fmax(a, b) : NAN;
    case RATIO:
        return !known ? NAN : b != 0 ? a / b : 0;
    default:
        return NAN;
    }
}

double pf_expression_of(const struct pf_expression *expression, pf_expression_value *value, const void *context)
{
    double values[PF_EXPRESSION_DEPTH + 1];
    size_t used = 0;
    for (size_t i = 0; i < expression->count; i++) {
        const struct pf_expression_step *step = &expression->steps[i];
        const size_t first = used - consumed_by(step->action);
        double *at = &values[first];
        if (step->action == NUMBER || step->action == NAME)
            *at = step->action == NUMBER ? step->number : value(context, step->name);
        else if (step->action == NEGATE)
            *at = -at[0];
        else if (step->action == CHOOSE)
            *at = isnan(at[1]) ? NAN : at[1] != 0 ? at[0] : at[2];
        else
            *at = result_of(step->action, at);
        used = first + 1;
    }
    return used ? values[0] : NAN;
}
