/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as SVG, laid out as FlameGraph's flamegraph.pl does it: <g><title>name (n samples, x%)</title><rect/>
 * <text/></g> for each frame, the same ids (search, unzoom, details, matched). It looks as the page does, with
 * FlameGraph's palettes as flamegraph.pl's pictures. The page saves the same drawing, see viewer/save.js.
 */
#include "base/counted.h"
#include "output/flame/flame.h"

#include <perfile/analysis.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/stages.h"

enum { WIDTH = 1200, PAD = 10, FONT = 12, TOP = 3 * FONT, SUBTITLE = 2 * FONT, BOTTOM = 2 * FONT + 10 };
static const double default_min_width = 0.1; /* pixels */

struct colour {
    uint8_t red, green, blue;
};

/* Made by tools/embed.c of viewer/picture.*, which the page has, too. */
extern const char pf_embedded_style[];
extern const char pf_embedded_script[];

/* As the page has it: hue and how far a name's hash moves it, saturation and lightness in percent. */
static const struct {
    const char *name;
    uint16_t hue, range;
    uint8_t saturation, lightness;
} kinds[PF_FLAME_KINDS] = {
    [PF_FLAME_USER] = {"user", 8, 44, 84, 66},          [PF_FLAME_KERNEL] = {"kernel", 222, 34, 68, 74},
    [PF_FLAME_INLINED] = {"inlined", 168, 24, 48, 64},  [PF_FLAME_JIT] = {"JIT", 92, 34, 46, 64},
    [PF_FLAME_UNKNOWN] = {"no symbol", 34, 12, 16, 70}, [PF_FLAME_THREAD] = {"thread", 220, 10, 12, 78},
    [PF_FLAME_CPU] = {"cpu", 200, 20, 22, 76},          [PF_FLAME_TIME] = {"time", 48, 10, 22, 78},
};

/* What a palette starts from, and how far a name's hash moves it. */
struct palette {
    const char *name;
    struct colour base, range;
};
/* One palette for all frames. The names are FlameGraph's. */
static const struct {
    struct palette palette;
    const char *doc;
} palettes[] = {
    {{"kind", {0, 0, 0}, {0, 0, 0}}, "separate colours for user, kernel, inlined, JIT and unknown frames"},
    {{"hot", {205, 0, 0}, {50, 230, 55}}, "red to yellow: FlameGraph's default"},
    {{"mem", {30, 175, 70}, {40, 65, 110}}, "green: for memory"},
    {{"io", {70, 100, 185}, {60, 65, 60}}, "blue: for input and output"},
    {{"wakeup", {60, 170, 165}, {55, 50, 50}}, "aqua: for wakeups"},
    {{"red", {205, 60, 55}, {50, 75, 75}}, NULL},
    {{"green", {65, 190, 60}, {60, 60, 55}}, NULL},
    {{"blue", {85, 90, 210}, {60, 60, 45}}, NULL},
    {{"purple", {180, 95, 195}, {60, 60, 55}}, NULL},
};

const char *perfile_flame_palette_at(size_t index, const char **doc)
{
    if (index >= PF_COUNT(palettes))
        return NULL;
    if (doc)
        *doc = palettes[index].doc;
    return palettes[index].palette.name;
}

struct look {
    double row, character; /* height of a row and mean width of a character, in pixels */
    double title_x;        /* as a share of the width; 0: at the left end */
    const char *cut;       /* what stands for the rest of a name */
    const char *style;
};

struct drawing {
    const struct look *look;
    const struct pf_flame_set *set;
    const struct pf_svg_options *options;
    const char *unit;
    struct pf_flame_view view;
    struct pf_text *text;
    struct pf_text scratch; /* one name at a time */
    uint64_t *starts;       /* by node: where it begins, in weight */
    uint32_t *depths;
    uint32_t max_depth;
    double width; /* pixels */
    double height;
    double per_weight; /* pixels of a weight of one */
    double min_width;  /* the same in pixels */
    double min_weight;
    double before_scale;
    uint64_t pruned;        /* nodes not drawn ... */
    uint64_t pruned_weight; /* ... and the stacks that are therefore cut */
    uint64_t gone;          /* differential: what of `before` has no stack any more */
    double max_change;      /* differential: the largest change of a share */
};

/* --- names --- */

/*
 * XML knows neither control characters nor bytes that are no UTF-8, escaped or not; JSON's escapes stay as text. Of
 * UTF-8, U+FFFE and U+FFFF are not allowed.
 */
static void put_xml(struct pf_text *text, const char *from, const char *end)
{
    static const char marks[] = "&<>\"";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (; from < end; from++) {
        if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
            from++;
        const char *mark = strchr(marks, *from);
        if (mark && *from)
            pf_put_string(text, entities[mark - marks]);
        else if (end - from > 2 && memcmp(from, "\xef\xbf", 2) == 0 && (uint8_t)from[2] > 0xbd)
            pf_put(text, "\xef\xbf\xbd", 3), from += 2;
        else
            pf_put_char(text, *from);
    }
}

/* The name in drawing->scratch, as JSON; its end without the quotes is returned. */
static const char *scratch_name(struct drawing *drawing, const char *name)
{
    drawing->scratch.used = 0;
    pf_put_json_string(&drawing->scratch, name, strlen(name));
    return drawing->scratch.failed ? drawing->scratch.data : drawing->scratch.data + drawing->scratch.used - 1;
}

static void put_escaped(struct drawing *drawing, const char *name)
{
    const char *end = scratch_name(drawing, name);
    if (end > drawing->scratch.data)
        put_xml(drawing->text, drawing->scratch.data + 1, end);
}

static const char *next_character(const char *p, const char *end)
{
    p += *p == '\\' && (p[1] == '"' || p[1] == '\\') ? 2 : 1;
    while (p < end && ((uint8_t)*p & 0xc0) == 0x80)
        p++;
    return p;
}

/* Puts as much of the name as fits into `capacity` characters: all, or a beginning and dots, or nothing. */
static void put_label(struct drawing *drawing, const char *name, double capacity)
{
    if (capacity < 3)
        return;
    const char *end = scratch_name(drawing, name), *start = drawing->scratch.data + 1;
    const size_t dots = drawing->look->cut[0] == '.' ? 2 : 1;
    size_t fits = capacity < UINT32_MAX ? (size_t)capacity : UINT32_MAX,
           count = 0; /* weights may wrap, and widths follow */
    const char *cut = start, *p = start;
    for (; p < end && count < fits; count++) {
        p = next_character(p, end);
        if (count + 1 + dots <= fits)
            cut = p;
    }
    if (end <= start)
        return;
    put_xml(drawing->text, start, p < end ? cut : end);
    if (p < end)
        pf_put_string(drawing->text, drawing->look->cut);
}

static void put_grouped(struct pf_text *text, uint64_t value)
{
    char digits[20], *end = pf_digits(digits, value);
    for (char *p = digits; p < end; p++) {
        if (p > digits && (end - p) % 3 == 0)
            pf_put_char(text, ',');
        pf_put_char(text, *p);
    }
}

/* --- colours --- */

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    hash ^= hash >> 15;
    hash *= 0x85ebca6bu;
    return hash ^ hash >> 13;
}

static struct colour name_colour(const char *name, const struct palette *palette)
{
    uint32_t hash = hash_of(name);
    const struct colour *base = &palette->base, *range = &palette->range;
    return (struct colour){(uint8_t)(base->red + range->red * (hash >> 16 & 255) / 256),
                           (uint8_t)(base->green + range->green * (hash & 255) / 256),
                           (uint8_t)(base->blue + range->blue * (hash >> 8 & 255) / 256)};
}

static double share(uint64_t part, uint64_t total)
{
    return total ? (double)part / (double)total : 0;
}

/* By which share of everything the node grew. */
static double change_of(const struct drawing *drawing, uint32_t node)
{
    const struct pf_flame_view *view = &drawing->view;
    const bool total = drawing->options->reverse;
    double now = (double)(total ? view->tree.totals[node] : view->tree.nodes[node].self);
    double before = (double)(total ? view->before[node] : view->before_self[node]) * drawing->before_scale;
    double change = view->total ? (now - before) / (double)view->total : 0;
    return drawing->options->negated ? -change : change;
}

/* Hue in degrees, the others up to 1. */
static struct colour hsl_colour(double hue, double saturation, double lightness)
{
    const double most = saturation * fmin(lightness, 1 - lightness);
    uint8_t values[3];
    for (int i = 0; i < 3; i++) {
        const double k = fmod((int[]){0, 8, 4}[i] + hue / 30, 12);
        values[i] = (uint8_t)(255 * (lightness - most * fmax(-1, fmin(fmin(k - 3, 9 - k), 1))) + .5);
    }
    return (struct colour){values[0], values[1], values[2]};
}

/* `at` is below 1. */
static struct colour kind_colour(size_t kind, double at)
{
    return hsl_colour(round(kinds[kind].hue + kinds[kind].range * at), kinds[kind].saturation / 100.0,
                      (kinds[kind].lightness + 5 * fmod(at * 7, 1)) / 100);
}

/* Grey is as before, full red or blue the largest change of the picture. */
static struct colour change_colour(const struct drawing *drawing, double change)
{
    const double strength = drawing->max_change > 0 ? sqrt(fmin(1, fabs(change) / drawing->max_change)) : 0;
    return hsl_colour(change > 0 ? 4 : 218, .95 * strength, .9 - .22 * strength);
}

static struct colour colour_of(const struct drawing *drawing, uint32_t node)
{
    const struct pf_flame_view *view = &drawing->view;
    uint32_t name = view->tree.nodes[node].frame;
    if (view->before)
        return change_colour(drawing, node ? change_of(drawing, node) : 0);
    if (!node)
        return (struct colour){217, 220, 226};
    return drawing->options->palette ? name_colour(view->names[name], &palettes[drawing->options->palette].palette)
                                     : kind_colour(view->kinds[name], hash_of(view->names[name]) / 4294967296.0);
}

/* --- layout --- */

static bool is_drawn(const struct drawing *drawing, uint32_t node)
{
    return node == 0 ||
           (drawing->view.tree.totals[node] && (double)drawing->view.tree.totals[node] >= drawing->min_weight);
}

static void count_pruned(struct drawing *drawing, uint32_t node)
{
    const struct pf_tree *tree = &drawing->view.tree;
    drawing->pruned += tree->totals[node] != 0;
    if (is_drawn(drawing, tree->nodes[node].parent))
        drawing->pruned_weight += tree->totals[node];
}

/*
 * Parents stand before their children, so one pass is enough; most nodes are too light to be drawn, and nothing below
 * them is heavier. A node's own weight is at its left end.
 */
static void position_children(struct drawing *drawing, uint32_t node)
{
    const struct pf_flame_view *view = &drawing->view;
    uint64_t at = drawing->starts[node] + view->tree.nodes[node].self;
    for (uint32_t i = view->first[node]; i < view->first[node + 1]; i++) {
        uint32_t child = view->children[i];
        drawing->starts[child] = at;
        drawing->depths[child] = drawing->depths[node] + 1;
        at += view->tree.totals[child];
    }
    if (drawing->depths[node] > drawing->max_depth)
        drawing->max_depth = drawing->depths[node];
}

static void measure_change(struct drawing *drawing, uint32_t node)
{
    const struct pf_flame_view *view = &drawing->view;
    drawing->max_change = fmax(drawing->max_change, fabs(change_of(drawing, node)));
    if (!view->tree.totals[node])
        drawing->gone += view->before_self[node];
}

static void lay_out(struct drawing *drawing)
{
    uint32_t count = (uint32_t)drawing->view.tree.count;
    drawing->before_scale = pf_flame_view_scale(&drawing->view, &drawing->options->before);
    drawing->width = drawing->options->width > 100 ? drawing->options->width : WIDTH;
    drawing->per_weight = drawing->view.total ? (drawing->width - 2 * PAD) / (double)drawing->view.total : 0;
    drawing->min_width = drawing->options->min_width > 0 || drawing->options->min_share > 0
                             ? drawing->options->min_width
                             : default_min_width;
    drawing->min_weight = fmax(drawing->per_weight > 0 ? drawing->min_width / drawing->per_weight : 0,
                               drawing->options->min_share * (double)drawing->view.total);
    for (uint32_t node = 0; node < count; node++) {
        if (drawing->view.before)
            measure_change(drawing, node);
        if (is_drawn(drawing, node))
            position_children(drawing, node);
        else
            count_pruned(drawing, node);
    }
    drawing->height = TOP + SUBTITLE + (drawing->max_depth + 1.0) * drawing->look->row + BOTTOM;
}

/* --- writing --- */

static void put_title(struct drawing *drawing, uint32_t node, const char *name)
{
    const struct pf_flame_view *view = &drawing->view;
    uint64_t total = view->tree.totals[node];
    char one[PF_COUNTED_BYTES];
    put_escaped(drawing, name);
    pf_put_string(drawing->text, " (");
    if (total == 1) {
        put_escaped(drawing, pf_count_of(total, drawing->unit, one));
    } else {
        put_grouped(drawing->text, total);
        pf_put_char(drawing->text, ' ');
        put_escaped(drawing, drawing->unit);
    }
    if (node == 0)
        pf_put_string(drawing->text, ", 100%");
    else
        pf_put_format(drawing->text, ", %.2f%%", 100 * share(total, view->total));
    if (view->before && node)
        pf_put_format(drawing->text, "; %s%.2f%%", change_of(drawing, node) > 0 ? "+" : "",
                      100 * change_of(drawing, node));
    pf_put_char(drawing->text, ')');
}

/* Rounded before the width is made of it, so that neighbours neither overlap nor leave a gap. */
static double pixel_of(const struct drawing *drawing, uint64_t weight)
{
    return round((PAD + (double)weight * drawing->per_weight) * 10) / 10;
}

static void put_frame(struct drawing *drawing, uint32_t node)
{
    const struct pf_tree *tree = &drawing->view.tree;
    const char *name = node ? drawing->view.names[tree->nodes[node].frame] : "all";
    double x = pixel_of(drawing, drawing->starts[node]), depth = drawing->depths[node];
    double width = pixel_of(drawing, drawing->starts[node] + tree->totals[node]) - x;
    double y = drawing->options->inverted ? TOP + SUBTITLE + depth * drawing->look->row
                                          : drawing->height - BOTTOM - (depth + 1) * drawing->look->row + 1;
    struct colour colour = colour_of(drawing, node);
    pf_put_string(drawing->text, "<g><title>");
    put_title(drawing, node, name);
    pf_put_format(drawing->text,
                  "</title><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" fill=\"rgb(%u,%u,%u)\" rx=\"2\" "
                  "ry=\"2\"/><text x=\"%.2f\" y=\"%.1f\">",
                  x, y, width, drawing->look->row - 1, colour.red, colour.green, colour.blue, x + 3,
                  y + drawing->look->row - 5.5);
    put_label(drawing, name, width / drawing->look->character);
    pf_put_string(drawing->text, "</text></g>\n");
}

static const char flamegraph_style[] =
    "text { font-family: Verdana, \"DejaVu Sans\", sans-serif; font-size: 12px; fill: #000; }\n"
    "#title { font-size: 17px; text-anchor: middle; }\n"
    "#subtitle { text-anchor: middle; fill: #666; }\n"
    "#matched, #note { text-anchor: end; }\n"
    "#note, .key { font-size: 10px; fill: #555; }\n"
    "#search, #unzoom, #ignorecase { cursor: pointer; opacity: .55; }\n"
    "#search:hover, #unzoom:hover, #ignorecase.on { opacity: 1; }\n"
    "#search.on { fill: #e600e6; opacity: 1; }\n"
    "#frames > g { cursor: pointer; }\n"
    "#frames > g:hover > rect, #frames rect.chosen { stroke: #000; stroke-width: .5; }\n"
    "#frames > g > text { pointer-events: none; }\n"
    ".parent { opacity: .5; }\n"
    ".hide { display: none; }\n";

static const struct look page_look = {.row = 18, .character = 7.1, .cut = "\u2026", .style = pf_embedded_style};
static const struct look flamegraph_look = {
    .row = 16, .character = 7.08, .title_x = .5, .cut = "..", .style = flamegraph_style};

static void put_back(struct drawing *drawing)
{
    if (drawing->look == &page_look)
        pf_put_format(drawing->text, "<rect id=\"back\" x=\"0\" y=\"0\" width=\"%.0f\" height=\"%.0f\"/>\n",
                      drawing->width, drawing->height);
    else
        pf_put_format(drawing->text,
                      "<defs><linearGradient id=\"background\" y1=\"0\" y2=\"1\" x1=\"0\" x2=\"0\">"
                      "<stop stop-color=\"#eeeeee\" offset=\"5%%\"/><stop stop-color=\"#eeeeb0\" offset=\"95%%\"/>"
                      "</linearGradient></defs>\n<rect x=\"0\" y=\"0\" width=\"%.0f\" height=\"%.0f\" "
                      "fill=\"url(#background)\"/>\n",
                      drawing->width, drawing->height);
}

static void put_head(struct drawing *drawing)
{
    struct pf_text *text = drawing->text;
    const struct look *look = drawing->look;
    double width = drawing->width, height = drawing->height;
    pf_put_format(text,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
                  "<svg version=\"1.1\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                  "xmlns=\"http://www.w3.org/2000/svg\" role=\"group\" aria-labelledby=\"title subtitle\">\n"
                  "<!-- Flame graph by perfile; the layout is that of https://github.com/brendangregg/FlameGraph -->\n"
                  "<style type=\"text/css\">\n",
                  width, height, width, height);
    pf_put_string(text, look->style);
    pf_put_format(text,
                  "</style>\n<script type=\"text/ecmascript\"><![CDATA[\n\"use strict\";\n"
                  "var look = {inverted: %s, row: %.0f, character: %g, cut: \"%s\"};\n",
                  drawing->options->inverted ? "true" : "false", look->row, look->character, look->cut);
    pf_put_string(text, pf_embedded_script);
    pf_put_string(text, "]]></script>\n");
    put_back(drawing);
}

/* Puts a line for each fact, for screen readers, and for readers of the file. */
static void put_facts(struct drawing *drawing)
{
    const struct pf_flame_set *set = drawing->set;
    if (!set->fact_count)
        return;
    pf_put_string(drawing->text, "<desc>");
    for (size_t i = 0; i < set->fact_count; i++) {
        put_escaped(drawing, set->facts[i].label ? set->facts[i].label : "Note");
        pf_put_string(drawing->text, ": ");
        put_escaped(drawing, set->facts[i].value);
        pf_put_string(drawing->text, i + 1 < set->fact_count ? "\n" : "</desc>\n");
    }
}

static void put_buttons(struct drawing *drawing)
{
    const bool is_left = !drawing->look->title_x;
    const struct {
        const char *id, *class, *words, *label;
        double x;
    } buttons[] = {{"unzoom", "hide", "Reset Zoom", "Reset zoom", is_left ? drawing->width - 200 : PAD},
                   {"search", "", "Search", "Search for a regular expression", drawing->width - 110},
                   {"ignorecase", "", is_left ? "Aa" : "ic", "Ignore case", drawing->width - 26}};
    for (size_t i = 0; i < PF_COUNT(buttons); i++)
        pf_put_format(drawing->text,
                      "<text id=\"%s\" class=\"%s\" x=\"%.0f\" y=\"24\" role=\"button\" tabindex=\"0\" "
                      "aria-label=\"%s\">%s</text>\n",
                      buttons[i].id, buttons[i].class, buttons[i].x, buttons[i].label, buttons[i].words);
}

static void put_heading(struct drawing *drawing)
{
    struct pf_text *text = drawing->text;
    const double x = fmax(drawing->look->title_x * drawing->width, PAD);
    put_facts(drawing);
    pf_put_format(text, "<text id=\"title\" x=\"%.0f\" y=\"24\">", x);
    put_escaped(drawing, drawing->set->title ? drawing->set->title : "Flame Graph");
    pf_put_format(text, "</text>\n<text id=\"subtitle\" x=\"%.0f\" y=\"%d\">", x, drawing->look->title_x > 0 ? 48 : 44);
    put_escaped(drawing, drawing->set->subtitle ? drawing->set->subtitle : " ");
    pf_put_string(text, "</text>\n");
    put_buttons(drawing);
}

static void put_key(struct pf_text *text, double *x, double y, struct colour colour, const char *name)
{
    pf_put_format(text,
                  "<rect class=\"key\" x=\"%.0f\" y=\"%.0f\" width=\"9\" height=\"9\" rx=\"2\" fill=\"rgb(%u,%u,%u)\"/>"
                  "<text class=\"key\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                  *x, y - 8, colour.red, colour.green, colour.blue, *x + 12, y, name);
    *x += 26 + 6 * (double)strlen(name);
}

/* What the colours mean. */
static void put_keys(struct drawing *drawing, double y)
{
    double x = PAD;
    bool seen[PF_FLAME_KINDS] = {false};
    if (drawing->view.before) {
        const double more = drawing->options->negated ? -drawing->max_change : drawing->max_change;
        const bool total = drawing->options->reverse;
        put_key(drawing->text, &x, y, change_colour(drawing, more),
                total ? "more than before" : "itself more than before");
        put_key(drawing->text, &x, y, change_colour(drawing, -more), total ? "less" : "itself less");
        return;
    }
    for (size_t i = 0; i < drawing->view.name_count; i++)
        seen[drawing->view.kinds[i]] = true;
    for (size_t kind = 0; kind < PF_FLAME_KINDS && !drawing->options->palette; kind++)
        if (seen[kind])
            put_key(drawing->text, &x, y, kind_colour(kind, .5), kinds[kind].name);
}

/* What the picture does not show. */
static void put_note(struct drawing *drawing, double y)
{
    struct pf_text *text = drawing->text;
    char frames[PF_COUNTED_BYTES];
    pf_put_format(text, "<text id=\"note\" x=\"%.0f\" y=\"%.0f\">", drawing->width - PAD, y);
    if (drawing->gone)
        pf_put_format(text, "%.2f%% of the weight before is in stacks that no longer exist. ",
                      100 * share(drawing->gone, drawing->view.before_total));
    if (drawing->pruned)
        pf_put_string(text, pf_count_of(drawing->pruned, "frames are not drawn", frames));
    if (drawing->pruned && drawing->min_width > 0)
        pf_put_format(text, " (narrower than %g px)", drawing->min_width);
    else if (drawing->pruned)
        pf_put_format(text, " (below %g%%)", 100 * drawing->options->min_share);
    if (drawing->pruned)
        pf_put_format(text, "; %.2f%% of the stacks are cut.",
                      100 * share(drawing->pruned_weight, drawing->view.total));
    pf_put_string(text, "</text>\n");
}

/* --- frames, on several threads --- */

enum { JOB_FRAMES = 1024 };

struct job {
    struct drawing drawing; /* writes to `text` */
    struct pf_text text;
    uint32_t node, end; /* whose frames it puts */
};

struct jobs {
    const struct drawing *drawing;
    uint32_t next; /* node */
    struct job *jobs;
    unsigned count;
};

static bool choose_frames(void *context, void *item, unsigned worker)
{
    struct jobs *all = context;
    struct job *job = item;
    const size_t count = all->drawing->view.tree.count;
    (void)worker;
    job->node = all->next;
    for (unsigned frames = 0; all->next < count && frames < JOB_FRAMES; all->next++)
        frames += is_drawn(all->drawing, all->next);
    job->end = all->next;
    return all->next < count;
}

static bool put_job(void *context, void *item, unsigned worker)
{
    struct job *job = item;
    (void)context;
    (void)worker;
    job->text.used = 0;
    for (uint32_t node = job->node; node < job->end; node++)
        if (is_drawn(&job->drawing, node))
            put_frame(&job->drawing, node);
    return true;
}

static bool open_jobs(struct jobs *all, const struct drawing *drawing)
{
    const struct perfile_allocator *allocator = drawing->text->allocator;
    const unsigned count = pf_stages_items(drawing->view.threads);
    bool opened = true;
    *all = (struct jobs){.drawing = drawing, .jobs = pf_new(allocator, count * sizeof(*all->jobs))};
    all->count = all->jobs ? count : 0;
    for (unsigned i = 0; i < all->count; i++) {
        struct job *job = &all->jobs[i];
        job->drawing = *drawing;
        job->drawing.text = &job->text;
        opened = pf_text_open(&job->text, allocator, NULL, NULL) == 0 && opened;
        opened = pf_text_open(&job->drawing.scratch, allocator, NULL, NULL) == 0 && opened;
    }
    return opened && all->jobs;
}

static void close_jobs(struct jobs *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        pf_text_close(&all->jobs[i].text);
        pf_text_close(&all->jobs[i].drawing.scratch);
    }
    pf_free(all->drawing->text->allocator, all->jobs, all->count * sizeof(*all->jobs));
}

static int put_jobs(struct jobs *all)
{
    static const struct pf_stage stages[] = {{.work = choose_frames}, {.work = put_job, .parallel = true}};
    struct pf_text *text = all->drawing->text;
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = all->drawing->view.threads,
                                        .context = all,
                                        .items = all->jobs,
                                        .item_bytes = sizeof(*all->jobs),
                                        .item_count = all->count};
    struct pf_stages *running = pf_stages_open(&plan, text->allocator);
    const struct job *job;
    int result = running ? 0 : PERFILE_ERROR_MEMORY;
    while (result == 0 && (job = pf_stages_next(running)) != NULL) {
        pf_put_through(text, job->text.data, job->text.used);
        result = text->failed ? text->failed : job->text.failed | job->drawing.scratch.failed;
    }
    pf_stages_close(running);
    return result;
}

static int put_frames(const struct drawing *drawing)
{
    struct jobs all;
    const int result = open_jobs(&all, drawing) ? put_jobs(&all) : PERFILE_ERROR_MEMORY;
    close_jobs(&all);
    return result;
}

static int draw(struct drawing *drawing)
{
    struct pf_text *text = drawing->text;
    lay_out(drawing);
    put_head(drawing);
    put_heading(drawing);
    pf_put_string(text, "<g id=\"frames\" tabindex=\"0\" role=\"application\" aria-describedby=\"details\" "
                        "aria-label=\"Frames: arrow keys move, Enter zooms\">\n");
    const int result = put_frames(drawing);
    pf_put_format(text,
                  "</g>\n<text id=\"details\" role=\"status\" x=\"10\" y=\"%.0f\"> </text>\n"
                  "<text id=\"matched\" role=\"status\" x=\"%.0f\" y=\"%.0f\"> </text>\n",
                  drawing->height - 19, drawing->width - PAD, drawing->height - 19);
    put_keys(drawing, drawing->height - 5);
    put_note(drawing, drawing->height - 5);
    pf_put_string(text, "</svg>\n");
    return text->failed ? text->failed : drawing->scratch.failed ? drawing->scratch.failed : result;
}

static int open_drawing(struct drawing *drawing, uint32_t event)
{
    const struct pf_svg_options *options = drawing->options;
    const struct perfile_allocator *allocator = drawing->text->allocator;
    const struct pf_flame_view_options view_options = {.names = options->names,
                                                       .by_kind = !options->palette && !options->before.set,
                                                       .reverse = options->reverse,
                                                       .sums = true,
                                                       .before = options->before,
                                                       .means = options->means};
    int result = pf_flame_view_open(&drawing->view, allocator, drawing->set, event, &view_options);
    if (result != 0)
        return result;
    drawing->starts = pf_new(allocator, drawing->view.tree.count * sizeof(*drawing->starts));
    drawing->depths = pf_new(allocator, drawing->view.tree.count * sizeof(*drawing->depths));
    return drawing->starts && drawing->depths ? pf_text_open(&drawing->scratch, allocator, NULL, NULL)
                                              : PERFILE_ERROR_MEMORY;
}

static void close_drawing(struct drawing *drawing)
{
    const struct perfile_allocator *allocator = drawing->text->allocator;
    if (drawing->scratch.allocator)
        pf_text_close(&drawing->scratch);
    pf_free(allocator, drawing->starts, drawing->view.tree.count * sizeof(*drawing->starts));
    pf_free(allocator, drawing->depths, drawing->view.tree.count * sizeof(*drawing->depths));
    if (drawing->view.allocator)
        pf_flame_view_close(&drawing->view);
}

int pf_flame_svg(const struct pf_flame_set *set, uint32_t event, const struct pf_svg_options *options,
                 struct pf_text *text)
{
    const char *unit = set->events[event].unit ? set->events[event].unit : set->unit;
    struct drawing drawing = {.look = options->palette ? &flamegraph_look : &page_look,
                              .set = set,
                              .options = options,
                              .unit = unit,
                              .text = text};
    int result = open_drawing(&drawing, event);
    if (result == 0)
        result = draw(&drawing);
    close_drawing(&drawing);
    return result;
}
