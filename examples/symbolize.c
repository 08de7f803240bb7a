/* SPDX-License-Identifier: MIT */
/*
 * symbolize BINARY|BUILD-ID ADDRESS...: the functions and source lines of addresses, inlined functions first, as
 * addr2line -f -i -C prints them. Addresses are hexadecimal; without any they are read from standard input.
 */
#include <inttypes.h>
#include <perfile/symbolize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Forty hexadecimal digits are a build id, all else is a path. */
static void name_binary(const char *word, struct perfile_binary *binary)
{
    const size_t digits = strspn(word, "0123456789abcdef");

    if (digits != 2 * sizeof(binary->build_id) || word[digits]) {
        binary->path = word;
        return;
    }
    for (binary->build_id_bytes = 0; binary->build_id_bytes < sizeof(binary->build_id); binary->build_id_bytes++) {
        const char byte[3] = {word[2 * binary->build_id_bytes], word[2 * binary->build_id_bytes + 1], '\0'};
        binary->build_id[binary->build_id_bytes] = (uint8_t)strtoul(byte, NULL, 16);
    }
}

static int print(struct perfile_symbolizer *symbolizer, uint32_t binary, const char *word, struct perfile_error *error)
{
    struct perfile_symbol symbol = PERFILE_SYMBOL_INIT;
    const int count = perfile_symbolizer_find(symbolizer, binary, strtoull(word, NULL, 16), 0, error);

    for (size_t i = 0; perfile_symbolizer_frame(symbolizer, i, &symbol) == 0; i++) {
        printf("%s\n%s:%" PRIu32 "\n", symbol.name ? symbol.name : "??", symbol.file ? symbol.file : "??", symbol.line);
    }
    if (count == 0)
        printf("??\n??:0\n");
    return count;
}

int main(int argc, char **argv)
{
    struct perfile_symbolizer *symbolizer = NULL;
    struct perfile_binary binary = PERFILE_BINARY_INIT;
    struct perfile_error error;
    uint32_t number;
    char line[64];

    if (argc < 2) {
        fprintf(stderr, "usage: symbolize BINARY|BUILD-ID ADDRESS...\n");
        return 2;
    }
    name_binary(argv[1], &binary);
    int result = perfile_symbolizer_open(NULL, &symbolizer, &error);
    if (result == 0)
        result = perfile_symbolizer_add(symbolizer, &binary, &number, &error);
    for (int i = 2; i < argc && result >= 0; i++)
        result = print(symbolizer, number, argv[i], &error);
    while (argc == 2 && result >= 0 && fgets(line, sizeof(line), stdin))
        result = print(symbolizer, number, line, &error);
    if (result < 0)
        fprintf(stderr, "symbolize: %s\n", error.message);
    perfile_symbolizer_close(symbolizer);
    return result < 0;
}
