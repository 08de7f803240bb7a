/* SPDX-License-Identifier: MIT */
#include "symbol/find/debuginfod.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <sys/socket.h>
#include <time.h>

#include "made_elf.h"

#define HEX "abababababababababababababababababababab"

static uint8_t id[20];
static unsigned slow;

static void count_slow(void *context)
{
    (void)context;
    slow++;
}

static int open_world(void **state)
{
    static char cache[128];
    if (made_directory_open(state) != 0)
        return -1;
    snprintf(cache, sizeof(cache), "%s/cache", made_directory);
    setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
    setenv("no_proxy", "*", 1);
    memset(id, 0xab, sizeof(id));
    slow = 0;
    return 0;
}

static void skip_without_library(void)
{
    if (!dlopen("libdebuginfod.so.1", RTLD_LAZY))
        skip();
}

static char *find(struct pf_debuginfod *debuginfod, bool wants_debug, int64_t limit_ms)
{
    return pf_debuginfod_find(debuginfod, &(struct pf_debuginfod_question){.build_id = id,
                                                                           .build_id_bytes = sizeof(id),
                                                                           .wants_debug = wants_debug,
                                                                           .limit_ms = limit_ms,
                                                                           .slow = count_slow});
}

/* When the library is missing, that is reported. */
static void test_library(void **state)
{
    (void)state;
    struct pf_debuginfod debuginfod = {.left_ms = 10000, .left_bytes = UINT64_MAX, .file_bytes = UINT64_MAX};
    setenv("DEBUGINFOD_URLS", "file:///dev/null", 1);
    assert_null(find(&debuginfod, false, 5000));
    assert_int_equal(debuginfod.is_missing, dlopen("libdebuginfod.so.1", RTLD_LAZY) == NULL);
}

static void test_found(void **state)
{
    (void)state;
    char url[128];
    struct pf_debuginfod debuginfod = {.left_ms = 60000, .left_bytes = UINT64_MAX, .file_bytes = UINT64_MAX};
    skip_without_library();
    made_file("buildid/" HEX "/executable", "binary", 6);
    snprintf(url, sizeof(url), "file://%s", made_directory);
    setenv("DEBUGINFOD_URLS", url, 1);
    char *path = find(&debuginfod, false, 30000);
    assert_non_null(path);
    assert_int_equal(access(path, R_OK), 0);
    pf_text_free(pf_allocator_or_default(NULL), path);
    assert_null(find(&debuginfod, true, 30000));
    assert_int_equal(debuginfod.asked, 2);
    assert_int_equal(debuginfod.absent + debuginfod.failed, 1);
    assert_int_equal(debuginfod.late + debuginfod.skipped, 0);
}

/* A container may have no network, not even that of the machine itself. */
static void skip_without_network(const struct sockaddr_in *server)
{
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    const int result = connect(client, (const struct sockaddr *)server, sizeof(*server));
    close(client);
    if (result < 0)
        skip();
}

/* A server that accepts the question and does not answer: the caller goes on after its time limit. */
static void test_silent_server(void **state)
{
    (void)state;
    char url[64];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    struct pf_debuginfod debuginfod = {.left_ms = 1500, .left_bytes = UINT64_MAX, .file_bytes = UINT64_MAX};
    struct timespec start, end;
    skip_without_library();
    int server = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(server, 8), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&address, &bytes), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("DEBUGINFOD_URLS", url, 1);
    skip_without_network(&address);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_null(find(&debuginfod, false, 1200));
    assert_int_equal(debuginfod.late, 1);
    assert_int_equal(slow, 1);
    assert_true(debuginfod.left_ms <= 300);
    assert_null(find(&debuginfod, true, 1200));
    assert_null(find(&debuginfod, true, 1200));
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - start.tv_sec < 60); /* the library itself waits for 90; 2 on an idle machine */
    assert_int_equal(debuginfod.asked, debuginfod.late);
    assert_int_equal(debuginfod.asked + debuginfod.skipped, 3);
    assert_true(debuginfod.skipped >= 1);
    close(server);
}

/* The thread that was stopped may still make files in the cache. */
static int close_when_quiet(void **state)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    int result = -1;
    for (int i = 0; i < 50 && (result = made_directory_close(state)) < 0; i++)
        nanosleep(&pause, NULL);
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_library, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_found, open_world, made_directory_close),
        cmocka_unit_test_setup_teardown(test_silent_server, open_world, close_when_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
