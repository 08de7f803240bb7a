/* SPDX-License-Identifier: MIT */
/* Lists of events as users type them, on machines that have much to choose from. */
#include "fuzz.h"

#include "../unit/made_sysfs.h"
#include "record/event_list.h"

static char server[] = "/tmp/perfile-sys-XXXXXX", hybrid[] = "/tmp/perfile-sys-XXXXXX";

static void remove_trees(void)
{
    made_remove(server);
    made_remove(hybrid);
}

static void make_trees(void)
{
    static bool made;
    if (made)
        return;
    FUZZ_REQUIRE(made_sysfs(server, made_server) && made_sysfs(hybrid, made_hybrid));
    made = true;
    atexit(remove_trees);
}

static void touch_text(const char *text)
{
    if (text)
        fuzz_touch(text, strlen(text) + 1);
}

/* What recorders rely on: names, and leaders that stand in front and lead themselves. */
static void check_event(const struct pf_event_list *chosen, size_t index)
{
    const struct pf_listed_event *event = &chosen->items[index];
    FUZZ_REQUIRE(event->name);
    FUZZ_REQUIRE(event->leader <= index && chosen->items[event->leader].leader == event->leader);
    FUZZ_REQUIRE(event->leader == index || event->leader == index - 1 ||
                 chosen->items[index - 1].leader == event->leader);
    FUZZ_REQUIRE(event->attr.precise_ip <= 3);
    FUZZ_REQUIRE(!event->period || !event->frequency);
    touch_text(event->name);
    touch_text(event->cpus);
    touch_text(event->unit);
    touch_text(event->call_graph);
    touch_text(event->branch_filter);
}

static void choose(const char *root, const char *list)
{
    struct pf_event_list chosen;
    struct perfile_error error;
    pf_event_list_open(&chosen, NULL);
    chosen.sysfs = root;
    const int result = pf_event_list_parse(&chosen, list, &error);
    FUZZ_REQUIRE(result == 0 || result == PERFILE_ERROR_ARGUMENT || result == PERFILE_ERROR_ABSENT ||
                 result == PERFILE_ERROR_UNSUPPORTED || result == PERFILE_ERROR_OPEN || result == PERFILE_ERROR_LIMIT);
    FUZZ_REQUIRE(result < 0 ? !chosen.count : chosen.count > 0);
    if (result < 0)
        touch_text(error.message);
    for (size_t i = 0; i < chosen.count; i++)
        check_event(&chosen, i);
    pf_event_list_close(&chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *list = malloc(bytes + 1);
    FUZZ_REQUIRE(list);
    make_trees();
    memcpy(list, data, bytes);
    list[bytes] = '\0';
    choose(server, list);
    choose(hybrid, list);
    free(list);
    return 0;
}
